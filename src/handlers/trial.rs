//! An event through the table for a person to look at: what each row said, and which one answered.

use serde::Serialize;

use super::World;
use super::dispatch::walk;
use crate::config::Row;
use crate::wire::{Answer, Reply, Request, WireError};

/// What became of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// A condition does not hold.
    Mismatch {
        /// The field whose condition it is.
        field: String,
    },
    /// The handler has left the event to the next row.
    Passed,
    /// The handler has answered.
    Answered {
        /// Which kind of answer.
        answer: &'static str,
    },
    /// The handler could not do its work; the event went on.
    Failed {
        /// Why.
        reason: String,
    },
    /// The handler starts a program, which a trial does not.
    NotRun,
    /// A row before it has answered.
    NotReached,
}

/// A live row of the event, in its order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The row's id.
    pub id: String,
    /// The row.
    pub row: Row,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What a trial shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// Every live row of the event, in order.
    pub rows: Vec<Tried>,
    /// What would be answered.
    pub reply: Reply,
}

/// Takes an event through the table and says what each row did. Programs that rows start are not started; everything
/// else runs, so the world should be one to try things in.
///
/// # Errors
/// As [`super::dispatch`].
pub fn trial(request: &Request<'_>, world: &mut World) -> Result<Trial, WireError> {
    let mut rows = Vec::new();
    let reply = walk(request, world, false, &mut |id, row, verdict| {
        rows.push(Tried {
            id: id.to_owned(),
            row: row.clone(),
            verdict,
        });
    })?;
    Ok(Trial { rows, reply })
}

/// The name of an answer's kind, as the wire has it.
pub(super) const fn kind_of(answer: &Answer) -> &'static str {
    match answer {
        Answer::Next { .. } => "next",
        Answer::Skip { .. } => "skip",
        Answer::Messages { .. } => "messages",
        Answer::Context { .. } => "context",
        Answer::Blocks { .. } => "blocks",
        Answer::Lines { .. } => "lines",
        Answer::Tool { .. } => "tool",
    }
}
