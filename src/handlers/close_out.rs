//! `close-out`: before a reset the model goes on in the same turn, saves its notes and ends.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "close-out",
    events: &[Event::ClassicStop],
    wakes: &[(Event::ClassicStop, &[Wake::ResetMark, Wake::Pending])],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Stop {
    background_tasks: Vec<BackgroundTask>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BackgroundTask {
    description: String,
    status: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    standing::reconcile(call);
    let stop: Stop = call.input().unwrap_or_default();
    // The next boot names the agents whose reports are still to come.
    call.state.agents = stop
        .background_tasks
        .into_iter()
        .filter(|task| task.status == "running" && !task.description.is_empty())
        .map(|task| task.description)
        .collect();
    steps::take(call, &Input::Stop)
}
