//! `history_read`: a window on one event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Reply;
use crate::history::conversation::{Conversation, NoEvent};
use crate::history::event::{Event, Role, ToolStatus};
use crate::outcome::room::{Room, json_bytes, window};
use crate::outcome::{LimitedBy, Refusal, TextWindow, WindowError};

pub const DESCRIPTION: &str = "Read one event of this conversation, word for word: a message, or a call of a tool with its whole \
    result, also where a compaction has cut or dropped it. Give `seq` (from history_list, a note or a summary) or the \
    `tool_use_id` that a cut output names. Long events come in windows: go on at `next_offset_chars`.";

const DEFAULT_LIMIT: u32 = 12_000;
const MAX_LIMIT: u32 = 50_000;

/// The parameters of `history_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The event's number. Give this or `tool_use_id`.
    pub seq: Option<u64>,
    /// The id of a tool call, as a cut output names it.
    pub tool_use_id: Option<String>,
    /// Where to begin, in characters of the event; negative counts from the end (-2000: the last 2000).
    #[serde(default)]
    pub offset_chars: i64,
    /// How many characters at most, 1 to 50000; 12000 when left out.
    #[schemars(range(min = 1, max = 50_000))]
    pub limit_chars: Option<u32>,
}

/// What `history_read` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The event's number; the first one where a compaction wrote the event again.
    pub seq: u64,
    /// The window it happened in.
    pub window_id: String,
    /// Who speaks.
    pub role: Role,
    /// When it was written.
    pub created_at: Option<String>,
    /// The tool of a call; null where it is not known, or no call.
    pub tool: Option<String>,
    /// The call's id.
    pub tool_use_id: Option<String>,
    /// How a call ended.
    pub tool_status: Option<ToolStatus>,
    /// Where the result of a call begins, in characters: its arguments stand before it.
    pub result_offset_chars: Option<usize>,
    /// The window on its words.
    pub content: TextWindow,
}

pub fn run(conversation: &Conversation, input: Input) -> Result<Reply<Output>, Refusal> {
    let limit = input.limit_chars.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(invalid(format!("limit_chars is 1 to {MAX_LIMIT}.")));
    }
    let event = event(conversation, input.seq, input.tool_use_id.as_deref())?;
    let words = conversation.words(event)?;
    let total = words.text.chars().count();
    let mut output = describe(conversation, event);
    output.created_at.clone_from(&words.created_at);
    output.tool_use_id.clone_from(&words.tool_use_id);
    output.result_offset_chars = words.result_at.map(|at| words.text[..at].chars().count());
    let head = head(&output);
    let mut room = Room::all();
    // The window's numbers stand in both renderings.
    if !room.take(json_bytes(&output) + 128, head.len() + 256) {
        let message = format!(
            "seq {} cannot be shown: what it is called does not fit an answer.",
            output.seq
        );
        return Err(Refusal::new("output_too_large", message));
    }
    // More than there is, counted from the end, is all there is.
    let offset = input.offset_chars.max(-i64::try_from(total).unwrap_or(i64::MAX));
    output.content = window(&words.text, offset, limit as usize, room).map_err(|error| match error {
        WindowError::Offset { total, .. } => {
            let message = format!(
                "offset_chars {} is outside of seq {}, which has {total} characters. Use 0 to {total}, or a negative number.",
                input.offset_chars, output.seq
            );
            Refusal::new("invalid_offset", message).with_details(json!({ "total_chars": total }))
        }
        WindowError::NoRoom => {
            Refusal::new("output_too_large", format!("seq {} cannot be shown: {error}.", output.seq))
        }
    })?;
    let text = format!("{head}\n{}\n\n{}", position(&output), output.content.text);
    Ok(Reply { data: output, text })
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new("invalid_arguments", message)
}

/// The event that the parameters name.
pub(super) fn event<'c>(
    conversation: &'c Conversation,
    seq: Option<u64>,
    tool_use_id: Option<&str>,
) -> Result<&'c Event, Refusal> {
    match (seq, tool_use_id) {
        (Some(seq), None) => conversation
            .event(seq)
            .map_err(|reason| refuse(conversation, reason, &format!("seq {seq}"))),
        (None, Some(id)) => conversation.event_of_call(id).map_err(|reason| {
            let shown: String = id.chars().take(80).flat_map(char::escape_debug).collect();
            refuse(conversation, reason, &format!("the call `{shown}`"))
        }),
        (None, None) => Err(invalid("Give seq or tool_use_id.")),
        (Some(_), Some(_)) => Err(invalid("Give seq or tool_use_id, not both.")),
    }
}

fn describe(conversation: &Conversation, event: &Event) -> Output {
    let table = &conversation.transcript.table;
    Output {
        seq: event.seq.into(),
        window_id: conversation.window_id(event.window),
        role: event.role,
        created_at: None,
        tool: event.tool(table).filter(|tool| !tool.is_empty()).map(str::to_owned),
        tool_use_id: None,
        tool_status: event.status(table),
        result_offset_chars: None,
        content: TextWindow {
            text: String::new(),
            offset_chars: 0,
            total_chars: 0,
            next_offset_chars: None,
            limited_by: None,
        },
    }
}

fn refuse(conversation: &Conversation, reason: NoEvent, what: &str) -> Refusal {
    match reason {
        NoEvent::Unknown => {
            let last = conversation.events.all().last().map_or(0, |event| event.seq);
            let message = format!(
                "There is no {what} in this conversation; its last event has seq {last}. history_list shows the events \
                 there are."
            );
            Refusal::new("unknown_seq", message).with_details(json!({ "last_seq": last }))
        }
        NoEvent::NotOnBranch => {
            let message = format!(
                "What {what} names is not part of this conversation: it was left by a rewind, or belongs to a subagent or to another process on the same session."
            );
            Refusal::new("not_on_branch", message)
        }
        NoEvent::Nothing => {
            let message = format!("What {what} names has nothing to show: it holds no words.");
            Refusal::new("not_an_event", message)
        }
        NoEvent::ResultOf(call) => {
            let message =
                format!("What {what} names is the result of a call, which is shown with it: read seq {call}.");
            Refusal::new("not_an_event", message).with_details(json!({ "seq": call }))
        }
    }
}

fn head(output: &Output) -> String {
    let mut text = format!("seq {} · {}", output.seq, output.window_id);
    match (&output.tool, output.tool_status) {
        (Some(tool), Some(status)) => text.push_str(&format!(" · {tool} ({})", name(status))),
        (None, Some(status)) => text.push_str(&format!(" · result of an unknown call ({})", name(status))),
        _ => text.push_str(&format!(" · {}", role(output.role))),
    }
    if let Some(created_at) = &output.created_at {
        text.push_str(&format!(" · {created_at}"));
    }
    if let Some(id) = &output.tool_use_id {
        text.push_str(&format!(" · {id}"));
    }
    text
}

fn position(output: &Output) -> String {
    let window = &output.content;
    let end = window.next_offset_chars.unwrap_or(window.total_chars);
    let mut text = format!("Characters {} to {end} of {}.", window.offset_chars, window.total_chars);
    if let Some(at) = output.result_offset_chars.filter(|at| *at > 0) {
        text.push_str(&format!(" The result begins at {at}."));
    }
    if let Some(next) = window.next_offset_chars {
        let why = match window.limited_by {
            Some(LimitedBy::Bytes) => " (the answer is full)",
            _ => "",
        };
        text.push_str(&format!(" There is more{why}: go on with offset_chars {next}."));
    }
    text
}

pub(super) const fn name(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Error => "error",
        ToolStatus::Unfinished => "unfinished",
    }
}

pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Context => "context",
    }
}
