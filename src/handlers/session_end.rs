//! `session-end`: the window is forgotten, whatever it was waiting for.

use super::{Call, Failure, Handler, no_options, registers_nothing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "session-end",
    events: &[Event::SessionEnd],
    wakes: &[(Event::SessionEnd, &[Wake::Pending])],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    steps::take(call, &Input::SessionEnded)
}
