//! Why the old conversation cannot be shown.

use std::io;
use std::path::PathBuf;

use crate::outcome::Refusal;

/// Why the old conversation cannot be shown. Nothing is guessed then.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file cannot be opened or read.
    #[error("cannot read the transcript {path}: {source}")]
    Read {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A complete line is not a row.
    #[error(
        "line {line} of the transcript is not JSON, so that rows may be missing; history cannot be shown while it is there"
    )]
    Malformed {
        /// The line, counted from 1.
        line: u64,
    },
    /// The row that names the branch is not in the file (yet).
    #[error("the transcript does not have {what} yet; try again in a moment")]
    HeadNotOnDisk {
        /// The row: `the row of this call`, or the uuid asked for.
        what: String,
    },
    /// The file has no row of a conversation.
    #[error("the transcript {path} holds no conversation")]
    Empty {
        /// The transcript.
        path: PathBuf,
    },
    /// A row's parent is nowhere in the file.
    #[error(
        "line {line} of the transcript continues row {uuid}, which the transcript does not have; if it is being \
         written right now, try again in a moment"
    )]
    MissingAncestor {
        /// The missing row.
        uuid: String,
        /// The line of the row that names it, counted from 1.
        line: u64,
    },
    /// A row of a kind that this program does not know lies on the branch.
    #[error("line {line} of the transcript is a row of the unknown kind `{kind}`; update notesoup to read it")]
    UnknownRow {
        /// The row's `type`.
        kind: String,
        /// Its line, counted from 1.
        line: u64,
    },
    /// A row on the branch has a block of a kind that this program does not know.
    #[error("line {line} of the transcript has a block of the unknown kind `{kind}`; update notesoup to read it")]
    UnknownBlock {
        /// The block's `type`.
        kind: String,
        /// The row's line, counted from 1.
        line: u64,
    },
    /// The row that names the branch belongs to a subagent.
    #[error("a subagent's row does not name a branch of the main conversation; ask from the main conversation")]
    Subagent,
}

impl HistoryError {
    /// The stable code of the tools.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::Empty { .. } => "history_unavailable",
            Self::Malformed { .. } => "malformed_row",
            Self::HeadNotOnDisk { .. } => "head_not_on_disk",
            Self::MissingAncestor { .. } => "missing_ancestor",
            Self::UnknownRow { .. } | Self::UnknownBlock { .. } => "unknown_row",
            Self::Subagent => "subagent_refused",
        }
    }
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Self {
        let details = match &error {
            HistoryError::Malformed { line } => Some(serde_json::json!({ "line": line })),
            HistoryError::MissingAncestor { uuid, line } => Some(serde_json::json!({ "uuid": uuid, "line": line })),
            HistoryError::UnknownRow { kind, line } | HistoryError::UnknownBlock { kind, line } => {
                Some(serde_json::json!({ "kind": kind, "line": line }))
            }
            _ => None,
        };
        let mut text = error.to_string();
        if let Some(first) = text.get(..1) {
            text = first.to_uppercase() + &text[1..];
        }
        text.push('.');
        let refusal = Self::new(error.code(), text);
        match details {
            Some(details) => refusal.with_details(details),
            None => refusal,
        }
    }
}
