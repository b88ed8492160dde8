//! `warning`: once a window the model is told that a reset comes, in time to save what it knows.

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "warning",
    events: &[Event::ClassicPostToolBatch, Event::ClassicUserPromptSubmit],
    wakes: &[
        (Event::ClassicPostToolBatch, &[Wake::WarnMark]),
        (Event::ClassicUserPromptSubmit, &[Wake::WarnMark, Wake::Pending]),
    ],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    standing::reconcile(call);
    let input = match call.event {
        Event::ClassicPostToolBatch => Input::ToolBatch,
        _ => Input::PromptSubmitted,
    };
    steps::take(call, &input)
}
