//! `history`: the three tools on the old conversation, for the main conversation alone.

use super::{Call, Failure, Handler, Registrations, no_options, notes, steps};
use crate::history::{Head, WAIT, tools};
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
    let (name, parameters) = notes::tool_call(call)?;
    let own_id = call.facts.tool_use_id.clone().unwrap_or_default();
    let context = tools::Context {
        transcript: steps::transcript_path(call.facts),
        head: if own_id.is_empty() {
            Head::AssumeLast
        } else {
            Head::ToolUseOr(&own_id, &call.facts.newest_rows)
        },
        state_dir: call.world.state_dir.as_deref(),
        is_subagent: call.facts.agent_id.is_some(),
        wait: WAIT,
    };
    let outcome = tools::call(&name, &parameters, &context);
    Ok(Some(Answer::Tool {
        text: to_text(&outcome),
        is_error: outcome.is_err(),
    }))
}
