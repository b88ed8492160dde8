//! `reset`: a compaction becomes a fresh window: one line, the words of the running turn, and behind them the boot.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, Failure, Handler, no_options, registers_nothing, standing, steps};
use crate::prune::{Branch, Entry, Head, ReadRows, RowsError};
use crate::window::WindowId;
use crate::window::machine::{Input, Trigger};
use crate::window::reset_text::{ResetInput, ResetText, reset_messages};
use crate::wire::{Answer, Event};

/// How long a reset waits for the newest rows to be written.
const WAIT: Duration = Duration::from_millis(600);

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

#[derive(Debug, Deserialize)]
struct Conversation<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Compaction { trigger, instructions } = call.input()?;
    let Some(trigger) = Trigger::from_name(&trigger) else {
        return Ok(None);
    };
    // A compaction that is not ours to answer is left to the next row.
    standing::reconcile(call);
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

/// What stands in the conversation's place: the window's line, the work and the words of the turn that runs, what was
/// open. The boot follows by its own carrier.
pub(super) fn answer(
    call: &Call<'_>,
    window: &WindowId,
    turn_is_open: bool,
    is_automatic: bool,
) -> Result<Answer, Failure> {
    let Conversation { messages } = call.input()?;
    let entries: Vec<Entry<'_>> = messages
        .map_or(Ok(Vec::new()), |messages| serde_json::from_str(messages.get()))
        .map_err(|error| Failure(format!("the conversation has an unexpected shape: {error}")))?;
    let branch = if turn_is_open || is_automatic {
        rows_beside(call, &entries)
    } else {
        Branch::default()
    };
    let messages = reset_messages(&ResetInput {
        entries: &entries,
        branch: &branch,
        session_id: &window.session_id,
        turn_is_open,
        is_automatic,
        options: &call.config.window,
        text: &|text| text_of(call, window, text),
    });
    Ok(Answer::Messages {
        messages,
        tokens_before: None,
        tokens_after: None,
    })
}

/// The transcript's rows: prompts typed while the model worked, and readings. Where they cannot be had, what the event
/// carries has to do; the person's own prompts are in it.
fn rows_beside(call: &Call<'_>, entries: &[Entry<'_>]) -> Branch {
    let handles: Vec<&str> = entries
        .iter()
        .filter_map(|entry| Some(entry.handle.as_ref()?.as_str()))
        .collect();
    let (Some(path), Some(head)) = (steps::transcript_path(call.facts), handles.last()) else {
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
        Ok(rows) => Branch::new(&rows.window, entries),
        Err(error) => {
            tracing::warn!(%error, "a reset without the transcript's rows");
            Branch::default()
        }
    }
}

fn text_of(call: &Call<'_>, window: &WindowId, text: ResetText) -> String {
    match text {
        ResetText::Head => {
            let previous = window
                .previous()
                .map(|previous| previous.to_string())
                .unwrap_or_default();
            let values = [("window_id", window.to_string()), ("previous_window_id", previous)];
            call.text(
                text.name(),
                &values.each_ref().map(|(name, value)| (*name, value.as_str())),
            )
        }
        ResetText::LastCalls(count) | ResetText::Todos(count) => {
            call.text(text.name(), &[("count", &count.to_string())])
        }
        ResetText::Request => call.text(text.name(), &[]),
    }
}
