//! `auto-reset`: at the end of a turn, and at each measure between turns, a reset that is due is set going.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::window::machine::{Input, TurnEnd};
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "auto-reset",
    events: &[Event::TurnComplete, Event::SessionMeasure],
    wakes: &[
        (Event::TurnComplete, &[Wake::ResetMark, Wake::Pending]),
        (Event::SessionMeasure, &[Wake::ResetMark, Wake::Pending]),
    ],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnComplete {
    turn_id: Option<String>,
    #[serde(default)]
    reason: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    standing::reconcile(call);
    let input = match call.event {
        Event::TurnComplete => {
            let TurnComplete { turn_id, reason } = call.input()?;
            Input::TurnCompleted {
                id: turn_id,
                end: TurnEnd::from_reason(&reason),
            }
        }
        _ => Input::Measured,
    };
    steps::take(call, &input)
}
