//! The notes store: plain Markdown files that outlive a context window.
//!
//! The folder is shared with other programs of the same layout, so a file is read as it is and changed only where a
//! change was asked for. Nothing here knows of a client's events.

mod address;
mod counts;
mod disk;
mod doctor;
mod history;
mod home;
mod lock;
mod note;
mod parallel;
mod pattern;
mod project;
mod projects;
mod query;
mod scan;
mod shelves;
mod store;
mod text;
mod time;
pub mod tools;
mod versions;

use std::path::PathBuf;

use crate::outcome::{Outcome, Refusal};

pub use address::{Address, slugify};
pub use doctor::{Finding, Level};
pub use history::{Past, Undone};
pub use home::{Home, Homes};
pub use note::{Key, MAX_NOTE_BYTES, Note};
pub use shelves::{Checkpoint, Fresh, Map, Shelf, Shelves};

/// Who takes notes, and where: everything the store must be told.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The folder of all notes. It is made by the first write.
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

/// A note with its whole body.
#[derive(Debug, Clone)]
pub struct Whole {
    /// Its address, as results show it.
    pub address: String,
    /// A hash of the content; `if_version` of the tools takes it.
    pub version: String,
    /// False when the file is not UTF-8: then `body` is only a likeness.
    pub is_utf8: bool,
    /// The body.
    pub body: String,
    /// The note's file.
    pub file: PathBuf,
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

    /// Runs one of the five tools ([`tools::specs`]) with its parameters.
    ///
    /// # Errors
    /// A refusal: nothing was changed, and its message says what to do.
    pub fn call(&self, tool: &str, input: &serde_json::Value) -> Outcome {
        tools::call(&self.homes, tool, input)
    }

    /// A note whole, for people; not counted as an access.
    ///
    /// # Errors
    /// `not_found`, or a file that cannot be read.
    pub fn whole(&self, address: &str) -> Result<Whole, Refusal> {
        let address = Address::parse(&self.homes, address)?;
        let location = store::locate(&self.homes, &address)?;
        let Some(loaded) = store::load(&location)? else {
            return Err(tools::not_found(&self.homes, &address, &location));
        };
        Ok(Whole {
            address: location.shown,
            version: loaded.note.version(),
            is_utf8: loaded.is_utf8,
            body: loaded.note.body,
            file: location.file,
        })
    }

    /// All notes that a pattern matches, newest first, without the bound of the tool.
    ///
    /// # Errors
    /// `invalid_pattern`.
    pub fn list(&self, pattern: Option<&str>, wastebasket: bool) -> Result<tools::Listing, Refusal> {
        tools::list_all(&self.homes, pattern, wastebasket)
    }

    /// All notes with a line that has one of the texts, newest first, without the bound of the tool on notes;
    /// `max_matches` is the most lines of one note.
    ///
    /// # Errors
    /// `invalid_query` or `invalid_pattern`.
    pub fn search(
        &self,
        texts: &[String],
        pattern: Option<&str>,
        max_matches: usize,
        wastebasket: bool,
    ) -> Result<tools::Matches, Refusal> {
        tools::search_all(&self.homes, texts, pattern, max_matches, wastebasket)
    }

    /// The earlier states of a note, oldest first.
    ///
    /// # Errors
    /// An address that is none, or a history that cannot be read.
    pub fn history(&self, address: &str) -> Result<Vec<Past>, Refusal> {
        history::list(&self.homes, address)
    }

    /// Brings an earlier state of a note back, the newest unless `number` names one. It can be undone in turn.
    ///
    /// # Errors
    /// When there is no such state, or as any write.
    pub fn undo(&self, address: &str, number: Option<u64>) -> Result<Undone, Refusal> {
        history::undo(&self.homes, address, number)
    }

    /// What is wrong with the notes, and what is well. With `fix`, leftovers of dead writers are removed and what is
    /// open to others is closed.
    pub fn doctor(&self, fix: bool) -> Vec<Finding> {
        doctor::examine(&self.homes, fix)
    }

    /// Clears away what writers that died have left; [`Notes::call`] does so by itself.
    pub fn recover(&self) {
        lock::recover(self.homes.root());
    }

    /// What stands on the shelves at this moment, for the start of a window: read once, nothing written, no failure
    /// (a home that cannot be read says so).
    pub fn shelves(&self) -> Shelves {
        shelves::take(&self.homes)
    }
}
