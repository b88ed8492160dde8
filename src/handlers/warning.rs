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
        (
            Event::ClassicUserPromptSubmit,
            &[Wake::WarnMark, Wake::Rewound, Wake::Pending],
        ),
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
    use serde_json::json;

    use crate::handlers::bench::Bench;
    use crate::wire::{Answer, Event};

    /// What a prompt is answered with in a window that is over its mark, by the row of that name.
    fn at_a_prompt(table: &str) -> (Option<Answer>, Option<String>) {
        let mut bench = Bench::new(table);
        bench.ask(Event::ClassicSessionStart, &json!({ "source": "startup" }), None);
        let reply = bench.ask(
            Event::ClassicUserPromptSubmit,
            &json!({ "prompt": "go" }),
            Some(950_000),
        );
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
