//! The three tools: what they are called, what they take and give, and how they are run.

mod list;
mod page;
mod read;
mod windows;

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use list::{Input as ListInput, Output as ListOutput, Texts};
pub use page::{Entry, Fold, Item};
pub use windows::{Began, Input as WindowsInput, Output as WindowsOutput, Window};

use super::conversation::{Conversation, Shown};
use super::transcript::Head;
use crate::outcome::input::{parse, schema};
use crate::outcome::{Answer, Outcome, Refusal, ToolDescription, unknown_tool};

/// What a call is answered from.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The transcript that the client named for this session; never a guess.
    pub transcript: Option<&'a Path>,
    /// Where the conversation ends: the row of the tool call itself.
    pub head: Head<'a>,
    /// The program's folder of side files, when there is one.
    pub state_dir: Option<&'a Path>,
    /// Whether a subagent calls.
    pub is_subagent: bool,
    /// How long to wait for the head to be written, e.g. [`WAIT`](super::WAIT).
    pub wait: Duration,
}

struct Tool {
    name: &'static str,
    description: &'static str,
    schemas: fn() -> (Value, Value),
    run: fn(&Context<'_>, &Value) -> Outcome,
}

/// In the order in which they are offered.
const TOOLS: [Tool; 3] = [
    Tool {
        name: "history_windows",
        description: windows::DESCRIPTION,
        schemas: || (schema::<windows::Input>(), schema::<windows::Output>()),
        run: |context, input| run(context, input, |_, _, _| None, windows::run),
    },
    Tool {
        name: "history_list",
        description: list::DESCRIPTION,
        schemas: || (schema::<list::Input>(), schema::<list::Output>()),
        run: |context, input| run(context, input, list::at_end, list::run),
    },
    Tool {
        name: "history_read",
        description: read::DESCRIPTION,
        schemas: || (schema::<read::Input>(), schema::<read::Output>()),
        run: |context, input| run(context, input, |_, _, _| None, read::run),
    },
];

/// The three tools as a client registers them.
pub fn specs() -> Vec<ToolDescription> {
    let describe = |tool: &Tool| {
        let (input_schema, output_schema) = (tool.schemas)();
        ToolDescription {
            name: tool.name,
            description: tool.description,
            input_schema,
            output_schema,
        }
    };
    TOOLS.iter().map(describe).collect()
}

/// Runs a tool by name.
pub fn call(name: &str, input: &Value, context: &Context<'_>) -> Outcome {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return Err(unknown_tool("history", name, TOOLS.iter().map(|tool| tool.name)));
    };
    (tool.run)(context, input)
}

/// What a tool gives: the data and the text made from the same selection.
struct Reply<T> {
    data: T,
    text: String,
}

/// Runs a tool on the whole conversation, where `short` has no answer without it.
fn run<I, O>(
    context: &Context<'_>,
    input: &Value,
    short: fn(&Context<'_>, &Path, &I) -> Option<Reply<O>>,
    tool: fn(&Conversation, I) -> Result<Reply<O>, Refusal>,
) -> Outcome
where
    I: DeserializeOwned + JsonSchema,
    O: Serialize,
{
    if context.is_subagent {
        let message = "History shows the main conversation, which a subagent does not see. Ask for what you need in your \
                       report.";
        return Err(Refusal::new("subagent_refused", message));
    }
    let input = parse(input)?;
    let Some(path) = context.transcript else {
        let message = "The client has not said where this session's transcript is, so there is no history. It says so at \
                       the session's start: start or resume the session again.";
        return Err(Refusal::new("history_unavailable", message));
    };
    let reply = match short(context, path, &input) {
        Some(reply) => reply,
        None => {
            let conversation = Conversation::open(path, context.head, context.state_dir, context.wait)?;
            tool(&conversation, input)?
        }
    };
    let data =
        serde_json::to_value(reply.data).map_err(|error| Refusal::new("history_unavailable", error.to_string()))?;
    Ok(Answer { data, text: reply.text })
}

/// A page of a conversation, as `history_list` gives it.
///
/// # Errors
/// As the tool.
pub fn list(conversation: &Conversation, input: ListInput) -> Result<ListOutput, Refusal> {
    list::run(conversation, input).map(|reply| reply.data)
}

/// Windows of a conversation, as `history_windows` gives them.
///
/// # Errors
/// As the tool.
pub fn windows(conversation: &Conversation, input: WindowsInput) -> Result<WindowsOutput, Refusal> {
    windows::run(conversation, input).map(|reply| reply.data)
}

/// One event whole, by its seq or by the `tool_use_id` of its call.
///
/// # Errors
/// As `history_read`.
pub fn whole(conversation: &Conversation, seq: Option<u64>, tool_use_id: Option<&str>) -> Result<Shown, Refusal> {
    let event = read::event(conversation, seq, tool_use_id)?;
    Ok(conversation.show(event)?)
}

/// The window that a parameter names.
fn window_named(conversation: &Conversation, id: &str) -> Result<u32, Refusal> {
    conversation.window_of_id(id).ok_or_else(|| {
        let shown: String = id.chars().take(120).flat_map(char::escape_debug).collect();
        let message = format!(
            "This conversation has no window `{shown}`. history_windows lists the windows there are; @current and \
             @previous name the newest and the one before it."
        );
        Refusal::new("unknown_window_id", message)
    })
}

/// `count` things: `1 window`, `2 windows`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        return format!("1 {what}");
    }
    format!("{count} {what}s")
}
