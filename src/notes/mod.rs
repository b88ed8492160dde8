//! The notes store: plain Markdown files that outlive a context window.
//!
//! The folder is shared with other programs of the same layout, so a file is read as it is and changed only where a
//! change was asked for. Nothing here knows of a client's events.

mod address;
mod disk;
mod home;
mod note;
mod parallel;
mod project;
mod scan;
mod shelves;
mod text;
mod time;

use std::path::PathBuf;

pub use address::{Address, slugify};
pub use home::{Home, Homes};
pub use shelves::{Checkpoint, Fresh, Map, Shelf, Shelves};

/// Who takes notes, and where: everything the store must be told.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The folder of all notes ([`crate::paths::notes_home`]). It is made by the first write.
    pub root: PathBuf,
    /// The conversation's id; without a legal one there is no session home.
    pub session_id: String,
    /// The working folder, from which the project is found.
    pub cwd: PathBuf,
    /// The agent's name; empty means `claude`.
    pub agent: String,
    /// The live model's name; `None` or empty means `claude`.
    pub model: Option<String>,
    /// A project key of the person's own choice (`notes.project`), in place of the one found from `cwd`.
    pub project: Option<String>,
    /// Where side files go (access counts): [`crate::paths::state_dir`]. `None` keeps none.
    pub state_dir: Option<PathBuf>,
}

/// An open notes store. Opening reads at most the project's `.git`, and makes nothing.
#[derive(Debug, Clone)]
pub struct Notes {
    homes: Homes,
}

impl Notes {
    /// Opens the store for one identity. A missing root is no error: it is made by the first write.
    pub fn open(identity: Identity) -> Self {
        Self {
            homes: Homes::new(identity),
        }
    }

    /// The homes of this identity and their folders.
    pub fn homes(&self) -> &Homes {
        &self.homes
    }

    /// What stands on the shelves at this moment, for the start of a window: read once, nothing written, no failure
    /// (a home that cannot be read says so).
    pub fn shelves(&self) -> Shelves {
        shelves::take(&self.homes)
    }
}
