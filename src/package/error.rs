//! What can go wrong between the program and a person's machine, and what to do then.

use std::io;
use std::path::{Path, PathBuf};

use super::client::Version;

/// A fault of install, uninstall or one of the client's own commands.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Neither `HOME` nor the folder's own variable is set.
    #[error("cannot tell where to install: neither HOME nor XDG_DATA_HOME is set")]
    NoHome,
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something that is not ours lies where the installation goes.
    #[error("{} is in the way: it was not made by notesoup", path.display())]
    InTheWay {
        /// Which one.
        path: PathBuf,
    },
    /// Another install or uninstall runs.
    #[error("another install or uninstall is running (it holds {})", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// No client on this machine.
    #[error("Claude Code was not found on the PATH")]
    NoClient,
    /// `NOTESOUP_CLAUDE` names no program.
    #[error("NOTESOUP_CLAUDE names {}, which is not a program", path.display())]
    NotAClient {
        /// What the variable holds.
        path: PathBuf,
    },
    /// A client from before mods.
    #[error("Claude Code {version} has no mods yet; they came with {}", Version::FIRST_WITH_MODS)]
    NoMods {
        /// The client's version.
        version: Version,
    },
    /// The client could not be started, or said nothing of use.
    #[error("`{command}` failed: {reason}")]
    ClientFailed {
        /// The command line.
        command: String,
        /// What it said, or the system's reason.
        reason: String,
    },
    /// The client finds the plugin unsound.
    #[error("the client does not accept the plugin: {reason}")]
    Invalid {
        /// What it said.
        reason: String,
    },
}

impl PackageError {
    /// A write that failed.
    pub fn write(path: &Path, source: io::Error) -> Self {
        Self::Write {
            path: path.to_path_buf(),
            source,
        }
    }

    /// A read that failed.
    pub fn read(path: &Path, source: io::Error) -> Self {
        Self::Read {
            path: path.to_path_buf(),
            source,
        }
    }

    /// What to do about it, in whole lines; none when the message says it all.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome => "set HOME, or XDG_DATA_HOME to an absolute path",
            Self::Write { .. } => {
                "make the folder writable, or set XDG_DATA_HOME to one that is; nothing was changed in Claude Code"
            }
            Self::Read { .. } => "check its permissions",
            Self::InTheWay { .. } => "move it away, or set XDG_DATA_HOME to another folder",
            Self::Busy { .. } => "wait until it has ended, then try again",
            Self::NoClient => {
                "install it (npm install -g @anthropic-ai/claude-code), or say where it is: NOTESOUP_CLAUDE=/path/to/claude \
                 notesoup install\nwithout it these work already: notesoup demo, notesoup notes, notesoup history \
                 --transcript FILE"
            }
            Self::NotAClient { .. } => "set it to the path of Claude Code's program, or unset it",
            Self::NoMods { .. } => {
                "what works there: the program by hand (notesoup notes, history, prune --preview, replay)\nwhat does not: \
                 boot, warning, fresh windows, /compact prune, the notes and history tools\nupdate it (claude update), \
                 then run notesoup install again"
            }
            Self::ClientFailed { .. } => "run the command by hand to see more; notesoup doctor says what is in place",
            Self::Invalid { .. } => "what was installed before is unchanged; a newer notesoup may fit this client",
        }
    }
}
