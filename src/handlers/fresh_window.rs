//! `fresh-window`: the command by which a person asks for a fresh window, or takes that back.

use serde::Deserialize;

use super::{Call, Failure, Handler, Registrations, no_options, standing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, CommandSpec, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "fresh-window",
    events: &[Event::CommandRun],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

fn registers(registrations: &mut Registrations) {
    registrations.commands.push(CommandSpec {
        name: "fresh-window".to_owned(),
        description: "Save notes, then go on in a fresh context window".to_owned(),
        argument_hint: Some("[cancel]".to_owned()),
        immediate: true,
    });
}

#[derive(Debug, Deserialize)]
struct Command {
    #[serde(default)]
    args: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    standing::reconcile(call);
    let Command { args } = call.input()?;
    steps::take(call, &Input::FreshWindowCommand { args })
}
