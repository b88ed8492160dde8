//! `reset`: a compaction becomes a fresh window: one line, the words of the running turn, and behind them the boot.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::prune::{Branch, Entry, Head, ReadRows, RowsError};
use crate::window::WindowId;
use crate::window::machine::{Input, Requester, Trigger};
use crate::window::reset_text::{ResetInput, ResetText, reset_messages};
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "reset",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

/// How long a reset waits for the newest row to be written.
const WAIT: Duration = Duration::from_millis(400);

#[derive(Debug, Deserialize)]
struct Conversation<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

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
pub(super) fn answer(call: &Call<'_>, window: &WindowId, trigger: Trigger) -> Result<Answer, Failure> {
    let Conversation { messages } = call.input()?;
    let entries: Vec<Entry<'_>> = messages
        .map_or(Ok(Vec::new()), |messages| serde_json::from_str(messages.get()))
        .map_err(|error| Failure(format!("the conversation has an unexpected shape: {error}")))?;
    let previous = window
        .previous()
        .map(|previous| previous.to_string())
        .unwrap_or_default();
    let window_id = window.to_string();
    let is_automatic = trigger == Trigger::Auto
        || call
            .state
            .machine
            .pending
            .as_ref()
            .is_some_and(|pending| pending.by == Requester::Mark);
    let text = |text: ResetText| {
        let count = match text {
            ResetText::LastCalls(count) | ResetText::Todos(count) => count,
            ResetText::Head | ResetText::Request => 0,
        };
        let values = [
            ("window_id", window_id.as_str()),
            ("previous_window_id", &previous),
            ("count", &count.to_string()),
        ];
        call.text(text.name(), &values)
    };
    let messages = reset_messages(&ResetInput {
        entries: &entries,
        branch: &branch(call, &entries),
        session_id: &window.session_id,
        turn_is_open: trigger == Trigger::Auto || call.facts.turn.running,
        is_automatic,
        options: &call.config.window,
        text: &text,
    });
    Ok(Answer::Messages {
        messages,
        tokens_before: steps::tokens(call.facts),
        tokens_after: None,
    })
}

/// The transcript's rows beside the messages, for what the event does not carry: prompts typed while the model worked,
/// and the readings of files that a prompt named. Without them the reset still stands.
fn branch(call: &Call<'_>, entries: &[Entry<'_>]) -> Branch {
    let Some(path) = steps::transcript_path(call.facts) else {
        return Branch::default();
    };
    let handles: Vec<&str> = entries
        .iter()
        .filter_map(|entry| Some(entry.handle.as_ref()?.as_str()))
        .collect();
    let Some(head) = handles.last() else {
        return Branch::default();
    };
    let read = |head, wait| {
        ReadRows {
            path,
            head,
            handles: &handles,
            entries: false,
            wait,
        }
        .read()
    };
    // The prompt that set the compaction off may reach the file only behind it.
    let rows = read(Head::Row(head), WAIT).or_else(|error| match error {
        RowsError::HeadNotOnDisk { .. } => read(Head::Last, Duration::ZERO),
        other => Err(other),
    });
    match rows {
        Ok(rows) => Branch::new(&rows, entries),
        Err(error) => {
            tracing::warn!(%error, "a reset without the transcript's rows");
            Branch::default()
        }
    }
}
