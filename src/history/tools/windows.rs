//! `history_windows`: the windows of the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Reply, counted, window_named};
use crate::history::conversation::Conversation;
use crate::history::copies::Origin;
use crate::history::event::{Event, Role, ToolStatus};
use crate::outcome::Refusal;
use crate::outcome::room::{Room, cost, json_bytes};

pub const DESCRIPTION: &str = "List the windows of this conversation: each begins fresh or with a summary, and what came before it is \
    out of your sight until you look it up here. Shows for each how it began, its range of seqs, how much is in it and its \
    first prompt. Use it to find where something happened, then history_list with `window_id`.";

/// How much of a window's first prompt is shown, in code points.
const PROMPT_CHARS: usize = 160;
/// The most windows of one answer.
const MAX_WINDOWS: usize = 50;

/// The parameters of `history_windows`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Show the windows before this one; the newest when left out. A window id, `@current` or `@previous`.
    pub before: Option<String>,
}

/// What `history_windows` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The windows, oldest first.
    pub windows: Vec<Window>,
    /// How many windows the conversation has.
    pub total: usize,
    /// Hand this to `before` for the windows before these; null when there are none.
    pub older_before: Option<String>,
}

/// How a window began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Began {
    /// With the session.
    Start,
    /// With the client's own summary of what came before.
    Compaction,
    /// With the same conversation, its long outputs cut.
    Prune,
    /// Fresh, with notes.
    FreshWindow,
}

/// One window.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Window {
    /// Its id, for `window_id` of history_list.
    pub window_id: String,
    /// How it began.
    pub began: Began,
    /// Whether it is the one that you see now.
    pub is_current: bool,
    /// When its first event was written.
    pub started_at: Option<String>,
    /// The seq of its first event; null when it has none.
    pub first_seq: Option<u64>,
    /// The seq of its last event.
    pub last_seq: Option<u64>,
    /// How many events are the person's words.
    pub user: usize,
    /// How many are the model's.
    pub assistant: usize,
    /// How many are calls of tools.
    pub tool: usize,
    /// How many of these calls failed.
    pub failed: usize,
    /// How many are neither: summaries, commands, reminders.
    pub context: usize,
    /// How the person's first words in it begin.
    pub first_prompt: Option<String>,
}

pub fn run(conversation: &Conversation, input: Input) -> Result<Reply<Output>, Refusal> {
    let total = conversation.branch.windows.len();
    let newest = conversation.branch.newest();
    let end = match &input.before {
        Some(id) => window_named(conversation, id)?,
        None => newest + 1,
    };
    let mut all = count(conversation);
    let mut room = Room::all();
    room.take(512, 512);
    let mut shown: Vec<(Window, String)> = Vec::new();
    for index in (0..end).rev().take(MAX_WINDOWS) {
        let Some(counts) = all.get_mut(index as usize) else {
            continue;
        };
        let window = describe(conversation, index, std::mem::take(counts))?;
        let line = line(&window);
        if !room.take(json_bytes(&window) + 1, line.chars().map(cost).sum()) {
            break;
        }
        shown.push((window, line));
    }
    shown.reverse();
    let first = end as usize - shown.len();
    let older_before = (first > 0)
        .then(|| shown.first().map(|(window, _)| window.window_id.clone()))
        .flatten();
    let mut text = match (shown.len(), total) {
        (0, _) => "There is no window before the first.\n".to_owned(),
        (shown, total) if shown == total => format!("{}, oldest first.\n", counted(total, "window")),
        (shown, total) => format!("{shown} of {}, oldest first.\n", counted(total, "window")),
    };
    for (_, line) in &shown {
        text.push_str(line);
    }
    if let Some(before) = &older_before {
        text.push_str(&format!("Older ones: history_windows with before \"{before}\".\n"));
    }
    let data = Output {
        windows: shown.into_iter().map(|(window, _)| window).collect(),
        total,
        older_before,
    };
    Ok(Reply { data, text })
}

/// What is in one window.
#[derive(Default, Clone)]
struct Counts {
    roles: [usize; 4],
    failed: usize,
    first: Option<Event>,
    last: Option<u64>,
    prompt: Option<Event>,
}

fn count(conversation: &Conversation) -> Vec<Counts> {
    let mut all = vec![Counts::default(); conversation.branch.windows.len()];
    for event in conversation.events.all() {
        let Some(counts) = all.get_mut(event.window as usize) else {
            continue;
        };
        counts.roles[event.role as usize] += 1;
        if event.status(&conversation.transcript.table) == Some(ToolStatus::Error) {
            counts.failed += 1;
        }
        counts.first.get_or_insert(*event);
        counts.last = Some(event.seq.into());
        if event.role == Role::User {
            counts.prompt.get_or_insert(*event);
        }
    }
    all
}

fn describe(conversation: &Conversation, index: u32, counts: Counts) -> Result<Window, Refusal> {
    let words = |event: Option<Event>| event.map(|event| conversation.words(&event)).transpose();
    let first = words(counts.first)?;
    let prompt = words(counts.prompt)?;
    Ok(Window {
        window_id: conversation.window_id(index),
        began: match conversation.origin(index) {
            Origin::Start => Began::Start,
            Origin::Summary => Began::Compaction,
            Origin::Prune => Began::Prune,
            Origin::Fresh => Began::FreshWindow,
        },
        is_current: index == conversation.branch.newest(),
        started_at: first.and_then(|words| words.created_at),
        first_seq: counts.first.map(|event| event.seq.into()),
        last_seq: counts.last,
        user: counts.roles[Role::User as usize],
        assistant: counts.roles[Role::Assistant as usize],
        tool: counts.roles[Role::Tool as usize],
        failed: counts.failed,
        context: counts.roles[Role::Context as usize],
        first_prompt: prompt.map(|words| begin(&words.text)),
    })
}

/// The first words, on one line.
fn begin(text: &str) -> String {
    let mut line = String::new();
    let mut left = PROMPT_CHARS;
    for word in text.split_whitespace() {
        let length = word.chars().count() + usize::from(!line.is_empty());
        if length > left {
            if line.is_empty() {
                line.extend(word.chars().take(PROMPT_CHARS));
            }
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        left -= length;
    }
    line
}

fn line(window: &Window) -> String {
    let began = match window.began {
        Began::Start => "the session's start",
        Began::Compaction => "after a compaction with a summary",
        Began::Prune => "the same conversation, outputs cut",
        Began::FreshWindow => "a fresh window",
    };
    let mut line = format!("\n{}", window.window_id);
    if window.is_current {
        line.push_str(" (current)");
    }
    line.push_str(&format!(" · {began}"));
    if let Some(started_at) = &window.started_at {
        line.push_str(&format!(" · {started_at}"));
    }
    match (window.first_seq, window.last_seq) {
        (Some(first), Some(last)) => line.push_str(&format!(
            "\n  seq {first} to {last} · {} of the person, {} of the model, {} ({} failed), {} beside\n",
            counted(window.user, "message"),
            window.assistant,
            counted(window.tool, "call"),
            window.failed,
            window.context
        )),
        _ => line.push_str("\n  nothing in it yet\n"),
    }
    if let Some(prompt) = &window.first_prompt {
        line.push_str(&format!("  first prompt: {prompt}\n"));
    }
    line
}
