//! What a reset hands on: the answer to the compaction in whose place the fresh window comes.
//!
//! One line that names the window; for a reset that came by itself the open todo list and, between two turns, the last
//! request; when a turn was at work, bounded text of its last calls; and what the person asked for in that turn, whole
//! and as their own messages. The boot follows by its own carrier.
//!
//! The person's words come last: Escape puts the conversation's last message into their prompt box, and that must not
//! be a text of ours.
//!
//! Calls and results are handed on as text, never as blocks: a conversation that begins with a result would be refused.

mod todos;
mod turn;
mod work;

use std::borrow::Cow;

pub use todos::{Todo, open_todos};
pub use turn::{OpenTurn, Prompt, open_turn};

use super::machine::CLOSE_OUT_TAG;
use super::options::WindowOptions;
use crate::prune::{Branch, Entry, InsertKind, Provenance, Role};
use crate::wire::{MessageSpec, TextSpec};

/// Begins the text of the running turn's work; by it an earlier reset's text is known and not handed on again.
pub const WORK_OPENING: &str = "<notesoup:work>";
const WORK_CLOSING: &str = "</notesoup:work>";
/// Begins the text of what was open.
pub const OPEN_OPENING: &str = "<notesoup:open>";
const OPEN_CLOSING: &str = "</notesoup:open>";

/// A text of the config that a reset needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetText {
    /// `reset_head`: the line that names the window.
    Head,
    /// `reset_last_calls`, filled with how many calls follow.
    LastCalls(usize),
    /// `reset_todos`, filled with how many entries follow.
    Todos(usize),
    /// `reset_request`.
    Request,
}

impl ResetText {
    /// The text's name in the config.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "reset_head",
            Self::LastCalls(_) => "reset_last_calls",
            Self::Todos(_) => "reset_todos",
            Self::Request => "reset_request",
        }
    }
}

/// What a reset is made from.
pub struct ResetInput<'a> {
    /// The event's messages, oldest first.
    pub entries: &'a [Entry<'a>],
    /// The transcript's rows beside them; an empty branch where there is no transcript, which costs prompts typed
    /// while the model worked and readings.
    pub branch: &'a Branch,
    /// The session's id: an earlier reset's line names it.
    pub session_id: &'a str,
    /// Whether a turn runs, or its prompt set the compaction off; always so under the trigger `auto`.
    pub turn_is_open: bool,
    /// Whether the reset came by itself: by the client's own compaction or by the mark.
    pub is_automatic: bool,
    /// The bounds.
    pub options: &'a WindowOptions,
    /// Gives a text of the config, filled in.
    pub text: &'a dyn Fn(ResetText) -> String,
}

impl std::fmt::Debug for ResetInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResetInput")
            .field("entries", &self.entries.len())
            .field("turn_is_open", &self.turn_is_open)
            .field("is_automatic", &self.is_automatic)
            .finish_non_exhaustive()
    }
}

/// The messages that stand in the conversation's place; all of them a user's, at least one.
pub fn reset_messages(input: &ResetInput<'_>) -> Vec<MessageSpec> {
    let turn = if input.turn_is_open {
        open_turn(input.entries, input.branch, input.session_id)
    } else {
        OpenTurn::none(input.entries.len())
    };
    let mut messages = vec![user(TextSpec::New((input.text)(ResetText::Head)))];
    messages.extend(what_is_open(input, &turn).map(|text| user(TextSpec::New(text))));
    let work = &input.entries[turn.start..];
    messages.extend(work::text(work, input).map(|text| user(TextSpec::New(text))));
    messages.extend(turn.beside.iter().map(|text| user(TextSpec::New(text.clone()))));
    messages.extend(turn.prompts.iter().map(|prompt| {
        user(match prompt {
            Prompt::Entry(of) => TextSpec::Of { of: *of },
            Prompt::Text(text) => TextSpec::New(text.clone()),
        })
    }));
    messages
}

fn user(text: TextSpec) -> MessageSpec {
    MessageSpec {
        role: "user".to_owned(),
        text: Some(text),
        tool_uses: Vec::new(),
        tool_results: Vec::new(),
    }
}

/// What was open, for a reset that nobody asked for.
fn what_is_open(input: &ResetInput<'_>, turn: &OpenTurn) -> Option<String> {
    if !input.is_automatic {
        return None;
    }
    let mut parts = Vec::new();
    if turn.prompts.is_empty()
        && let Some(request) = last_request(input)
    {
        let request = shorten(&request, input.options.request_chars);
        parts.push(format!("{}\n{request}", (input.text)(ResetText::Request)));
    }
    let todos = open_todos(input.entries);
    if !todos.is_empty() {
        let heading = (input.text)(ResetText::Todos(todos.len()));
        let lines: Vec<String> = todos.iter().map(Todo::to_line).collect();
        parts.push(format!("{heading}\n{}", lines.join("\n")));
    }
    (!parts.is_empty()).then(|| format!("{OPEN_OPENING}\n{}\n{OPEN_CLOSING}", parts.join("\n\n")))
}

/// The newest words of the person in this window.
fn last_request<'a>(input: &'a ResetInput<'_>) -> Option<Cow<'a, str>> {
    if input.options.request_chars == 0 {
        return None;
    }
    let entry = (0..input.entries.len())
        .rev()
        .find(|index| turn::is_prompt(*index, input.entries, input.branch, input.session_id) == Some(true));
    let queued = input
        .branch
        .inserts
        .iter()
        .rev()
        .find(|insert| insert.kind == InsertKind::QueuedPrompt);
    match (entry, queued) {
        (Some(entry), Some(queued)) if queued.before <= entry => {
            Some(Cow::Borrowed(input.entries[entry].text.as_str()))
        }
        (_, Some(queued)) => Some(Cow::Borrowed(queued.text.as_str())),
        (Some(entry), None) => Some(Cow::Borrowed(input.entries[entry].text.as_str())),
        (None, None) => None,
    }
}

/// The first `chars` code points of a text, and how many follow.
fn shorten(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let rest = text[end..].chars().count();
            Cow::Owned(format!("{} … ({rest} characters more)", text[..end].trim_end()))
        }
    }
}

/// Whether a text is one that a reset or a close-out of ours put there.
fn is_ours(text: &str) -> bool {
    text.starts_with(WORK_OPENING) || text.starts_with(OPEN_OPENING) || text.contains(CLOSE_OUT_TAG)
}

#[cfg(test)]
mod tests;
