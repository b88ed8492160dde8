//! `turn-start`: the close-out turn of `/fresh-window` is known by its id.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "turn-start",
    events: &[Event::TurnStart],
    wakes: &[(Event::TurnStart, &[Wake::Pending])],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnStart {
    turn_id: Option<String>,
    #[serde(default)]
    text: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let TurnStart { turn_id, text } = call.input()?;
    steps::take(call, &Input::TurnStarted { id: turn_id, text })
}
