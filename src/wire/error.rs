//! Why a request cannot be answered: one line of JSON, and an exit code that says which kind.

use serde::Serialize;

/// The kind of a fault on the wire; it decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Not JSON, not the shape of a request, or cut off.
    BadRequest,
    /// A version of the wire that this program does not speak.
    UnsupportedVersion,
    /// An event that this program does not know.
    UnknownEvent,
    /// More than [`super::MAX_REQUEST_BYTES`].
    TooLarge,
    /// Standard input or output failed.
    Io,
}

impl ErrorKind {
    /// The exit code: 64 and up, as `sysexits.h` has them.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::BadRequest => 65,
            Self::UnsupportedVersion => 76,
            Self::UnknownEvent => 64,
            Self::TooLarge => 69,
            Self::Io => 74,
        }
    }
}

/// A fault on the wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// Which kind.
    pub kind: ErrorKind,
    /// What happened and what to do.
    pub message: String,
}

impl WireError {
    /// A fault of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The one line of JSON that goes to standard output.
    pub fn to_line(&self) -> String {
        serde_json::json!({ "v": super::VERSION, "error": { "kind": self.kind, "message": self.message } }).to_string()
    }
}
