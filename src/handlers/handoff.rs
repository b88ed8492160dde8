//! `handoff`: the client's own summary, written along the structure of a handoff. What the person typed behind
//! `/compact` stays last and whole.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing};
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "handoff",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
struct Compaction {
    instructions: Option<String>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Compaction { instructions } = call.input()?;
    let mut text = call.text("handoff", &[]);
    if let Some(typed) = instructions.filter(|typed| !typed.trim().is_empty()) {
        text.push_str("\n\n");
        text.push_str(&call.text("handoff_added", &[("instructions", &typed)]));
    }
    Ok(Some(Answer::Next {
        instructions: Some(text),
    }))
}
