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

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use crate::handlers::{World, dispatch};
    use crate::wire::{Answer, Event, Facts, Request, VERSION};

    /// What a prompt is answered with in a window that is over its mark, by the row of that name.
    fn at_a_prompt(table: &str) -> (Option<Answer>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hooks.toml"), table).unwrap();
        let mut world = World::alone_in(folder.path());
        world.user_file = Some(folder.path().join("hooks.toml"));
        let usage = json!({
            "tokens": 950_000,
            "window": 1_000_000,
            "percent": 95,
            "breakdown": { "rawMaxTokens": 1_000_000, "autoCompactThreshold": 967_000, "isAutoCompactEnabled": true },
        });
        let facts = Facts {
            session_id: Some("s".to_owned()),
            cwd: Some(folder.path().display().to_string()),
            usage: Some(serde_json::from_value(usage).unwrap()),
            ..Facts::default()
        };
        let mut ask = |event: Event, input: Value, state: Option<Value>| {
            let raw = |value: Value| RawValue::from_string(value.to_string()).unwrap();
            let (input, state) = (raw(input), state.map(raw));
            let request = Request {
                v: VERSION,
                event: event.name().into(),
                e: Some(&input),
                facts: facts.clone(),
                state: state.as_deref(),
            };
            dispatch(&request, &mut world).unwrap()
        };
        let started = ask(Event::ClassicSessionStart, json!({ "source": "startup" }), None);
        let reply = ask(Event::ClassicUserPromptSubmit, json!({ "prompt": "go" }), started.state);
        (reply.answer, reply.row)
    }

    #[test]
    fn a_prompt_is_warned_by_its_own_row_and_by_no_other() {
        let (answer, row) = at_a_prompt("");
        assert!(matches!(answer, Some(Answer::Context { .. })), "{answer:?}");
        assert_eq!(row.as_deref(), Some("warning-at-prompt"));
        let (answer, row) = at_a_prompt("[hooks.warning-at-prompt]\nenabled = false\n");
        assert_eq!((answer, row), (None, None));
    }
}
