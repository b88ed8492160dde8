//! Why there was no dream, and what to do then.

use std::io;
use std::path::PathBuf;

use crate::paths::tilde;

/// A dream, or taking one back, did not come about.
#[derive(Debug, thiserror::Error)]
pub enum DreamError {
    /// There are no notes.
    #[error("there are no notes in {}", tilde(root))]
    NoNotes {
        /// Where they were looked for.
        root: PathBuf,
    },
    /// Not worth it now.
    #[error("no dream now: {reason}")]
    GateClosed {
        /// Why.
        reason: String,
    },
    /// Another dream, or an undo, runs over the same notes.
    #[error("a dream is running over these notes already")]
    Busy,
    /// The root is no repository, and nobody said to make it one.
    #[error("{} is not a git repository", tilde(root))]
    NoRepository {
        /// The root of the notes.
        root: PathBuf,
    },
    /// The root lies within a repository of something else.
    #[error("{} lies within the repository {}", tilde(root), tilde(repository))]
    InsideAnother {
        /// The root of the notes.
        root: PathBuf,
        /// The other repository.
        repository: PathBuf,
    },
    /// git is missing or failed.
    #[error("`git {command}` failed: {reason}")]
    Git {
        /// Its arguments.
        command: String,
        /// What it said.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The client could not be started, or failed.
    #[error("the client failed: {reason}")]
    Client {
        /// What it said.
        reason: String,
    },
    /// The client offered the model other tools than the notes tools.
    #[error("the client offered the tools {found}, and not just the notes tools")]
    NotConfined {
        /// What it offered.
        found: String,
    },
    /// It took too long.
    #[error("broken off after {minutes} minutes")]
    TooLong {
        /// The limit.
        minutes: u64,
    },
    /// Somebody stopped it.
    #[error("stopped; the notes that had changed by then are in a commit of their own")]
    Stopped,
    /// There is no dream to take back.
    #[error("there is no dream to take back")]
    NothingToUndo,
    /// Notes were changed after the dream at the same places.
    #[error("the dream cannot be taken back as a whole: changed since in the same places: {}", notes.join(", "))]
    UndoConflict {
        /// The files, relative to the root.
        notes: Vec<String>,
    },
}

impl DreamError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoNotes { .. } => "they come when a session writes some; or name the folder: --notes-home DIR",
            Self::GateClosed { .. } => "notesoup dream --force dreams all the same",
            Self::Busy => "wait until it has ended",
            Self::NoRepository { .. } => "notesoup dream --init makes it one, so that a dream can be taken back",
            Self::InsideAnother { .. } => {
                "a dream commits before and after, which it does not do in a repository of something else; run git init in \
                 the notes folder yourself, or keep the notes elsewhere (notes.home)"
            }
            Self::Git { .. } => "git 2.40 or newer is needed; run the command in the notes folder to see more",
            Self::Write { .. } => "make the folder writable",
            Self::Client { .. } => {
                "run `claude -p hello` to see whether it works; what had changed: notesoup dream --undo"
            }
            Self::NotConfined { .. } => {
                "nothing was changed; run notesoup doctor: the program and the plugin may not fit, or another plugin adds tools"
            }
            Self::TooLong { .. } => "raise dream.max_minutes, or take back what it did: notesoup dream --undo",
            Self::Stopped => "notesoup dream --undo takes them back; notesoup dream --force begins anew",
            Self::NothingToUndo => "none has changed these notes, or the last one was taken back already",
            Self::UndoConflict { .. } => {
                "take back single notes: notesoup notes history ADDRESS, notesoup notes undo ADDRESS; or look at git log in \
                 the notes folder"
            }
        }
    }
}
