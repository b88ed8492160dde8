//! `reload`: the courier was loaded again, so what it awaited may never be heard of.

use super::{Call, Failure, Handler, no_options, registers_nothing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "reload",
    events: &[Event::SessionStart],
    wakes: &[(Event::SessionStart, &[Wake::Pending])],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    steps::take(call, &Input::Reloaded)
}
