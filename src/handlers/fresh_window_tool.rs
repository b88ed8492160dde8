//! `fresh-window-tool`: the tool by which the model asks for a fresh window; the reset follows its turn.

use serde_json::json;

use super::{Call, Failure, Handler, Registrations, no_options, standing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event, ToolSpec};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "fresh-window-tool",
    events: &[Event::ToolCall],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

fn registers(registrations: &mut Registrations) {
    registrations.tools.push(ToolSpec {
        name: "fresh_window".to_owned(),
        description:
            "Asks for a fresh context window; it begins when you end your turn. Use it when a task is finished, or \
                      when the window is full of things you no longer need, and only after your notes are up to date."
                .to_owned(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    });
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    standing::reconcile(call);
    steps::take(call, &Input::FreshWindowTool)
}
