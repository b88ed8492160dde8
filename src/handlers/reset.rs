//! `reset`: a compaction becomes a fresh window: one line, the words of the running turn, and behind them the boot.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::window::WindowId;
use crate::window::machine::{Input, Trigger};
use crate::wire::{Answer, Event, MessageSpec, TextSpec};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "reset",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
struct Compaction {
    trigger: String,
    instructions: Option<String>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Compaction { trigger, instructions } = call.input()?;
    let Some(trigger) = Trigger::from_name(&trigger) else {
        return Ok(None);
    };
    // A compaction that is not ours to answer is left to the next row.
    standing::bind_when_unknown(call);
    let origin = call.facts.origin_plugin.clone();
    steps::take(
        call,
        &Input::CompactAsked {
            trigger,
            instructions,
            origin,
        },
    )
}

/// What stands in the conversation's place. The boot follows by its own carrier.
pub(super) fn answer(call: &Call<'_>, window: &WindowId, _trigger: Trigger) -> Result<Answer, Failure> {
    let previous = window
        .previous()
        .map(|previous| previous.to_string())
        .unwrap_or_default();
    let head = call.text(
        "reset_head",
        &[("window_id", &window.to_string()), ("previous_window_id", &previous)],
    );
    let messages = vec![MessageSpec {
        role: "user".to_owned(),
        text: Some(TextSpec::New(head)),
        tool_uses: Vec::new(),
        tool_results: Vec::new(),
    }];
    Ok(Answer::Messages {
        messages,
        tokens_before: None,
        tokens_after: None,
    })
}
