//! `history`: the three tools on the old conversation, for the main conversation alone.

use serde_json::Value;

use super::{Call, Failure, Handler, Registrations, no_options, notes, steps};
use crate::history::{Block, Head, Transcript, WAIT, tools};
use crate::outcome::to_text;
use crate::wire::{Answer, Event, ToolSpec};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "history",
    events: &[Event::ToolCall],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

fn registers(registrations: &mut Registrations) {
    registrations
        .tools
        .extend(tools::specs().into_iter().map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: tool.input_schema,
        }));
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let (name, mut parameters) = notes::tool_call(call)?;
    let own_id = call.facts.tool_use_id.clone().unwrap_or_default();
    let context = tools::Context {
        transcript: steps::transcript_path(call.facts),
        head: if own_id.is_empty() {
            Head::AssumeLast
        } else {
            Head::ToolUse(&own_id)
        },
        state_dir: call.world.state_dir.as_deref(),
        is_subagent: call.facts.agent_id.is_some(),
        wait: WAIT,
    };
    let mut outcome = tools::call(&name, &parameters, &context);
    // The client's event has the call's own id under the name of this parameter, so what the model gave is only in the
    // row of the call, which is on disk once the head was found.
    if name == "history_read"
        && outcome
            .as_ref()
            .is_err_and(|refusal| refusal.code == "invalid_arguments")
        && let Some(given) = given_tool_use_id(&context, &own_id)
        && let Some(parameters) = parameters.as_object_mut()
    {
        parameters.insert("tool_use_id".to_owned(), Value::String(given));
        outcome = tools::call(&name, &Value::Object(std::mem::take(parameters)), &context);
    }
    Ok(Some(Answer::Tool {
        text: to_text(&outcome),
        is_error: outcome.is_err(),
    }))
}

/// The `tool_use_id` that the model gave as a parameter of this call.
fn given_tool_use_id(context: &tools::Context<'_>, own_id: &str) -> Option<String> {
    let end = std::time::Instant::now() + context.wait;
    loop {
        let transcript = Transcript::read(context.transcript?).ok()?;
        if let Some(row) = transcript.find_call(own_id) {
            return parameter(&transcript, row, own_id);
        }
        if std::time::Instant::now() >= end {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn parameter(transcript: &Transcript, row: crate::history::RowId, own_id: &str) -> Option<String> {
    let blocks = transcript.row(row).ok()?.content;
    let input = blocks.into_iter().find_map(|block| match block {
        Block::ToolUse { id, input, .. } if id == own_id => Some(input),
        _ => None,
    })?;
    let input: Value = serde_json::from_str(&input).ok()?;
    Some(input.get("tool_use_id")?.as_str()?.to_owned())
}
