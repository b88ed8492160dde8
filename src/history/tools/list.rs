//! `history_list`: events in order, searched and folded.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::page::{Bounds, Direction, Entry, Page, Pager, Selection};
use super::{Context, Reply, counted, window_named};
use crate::history::conversation::Conversation;
use crate::history::event::{Role, ToolStatus};
use crate::history::search::Query;
use crate::outcome::Refusal;

pub const DESCRIPTION: &str = "List or search what happened in this conversation, oldest first, also what no longer is in your \
    window. Without parameters: the newest messages of the person and you, calls and reminders between them folded into \
    rows that say how to see them. `query` searches all words, results of calls included. Use it after a fresh window or a \
    compaction to see how things went, and before you ask the person for something they said. Page with `older_before` \
    and `newer_after`; read one event whole with history_read.";

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 200;
const DEFAULT_CHARS: u32 = 1200;
const MAX_CHARS: u32 = 20_000;
const MAX_QUERIES: usize = 20;
const MAX_QUERY_CHARS: usize = 1000;

/// The parameters of `history_list`.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// How many items at most, 1 to 200; 20 when left out. Folded rows do not count.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Only these: `user` (what a person typed), `assistant`, `tool` (calls with their results), `context` (what was added
    /// beside). Left out: user and assistant, the rest folded; with `query`, `tool` or `status`: all that match.
    pub roles: Option<Vec<Role>>,
    /// Only events before this seq: the nearest ones.
    pub before: Option<u64>,
    /// Only events after this seq: the next ones.
    pub after: Option<u64>,
    /// Only events of this window: an id from history_windows, `@current` or `@previous`.
    pub window_id: Option<String>,
    /// How many characters of an item at most, 1 to 20000; 1200 when left out.
    #[schemars(range(min = 1, max = 20_000))]
    pub max_chars_per_item: Option<u32>,
    /// Only events with this text, upper and lower case alike; several texts: with any of them.
    pub query: Option<Texts>,
    /// Only calls of this tool, e.g. `Bash`.
    pub tool: Option<String>,
    /// Only calls that ended so.
    pub status: Option<ToolStatus>,
}

/// One text or several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Texts {
    /// One.
    One(String),
    /// Any of several.
    Any(Vec<String>),
}

/// What `history_list` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Items and folded rows, oldest first.
    pub items: Vec<Entry>,
    /// Hand this to `before` for what comes before; null when there is nothing.
    pub older_before: Option<u64>,
    /// Hand this to `after` for what comes after; null when there is nothing.
    pub newer_after: Option<u64>,
}

impl Input {
    /// Whether the newest events of the conversation answer it, as a rule.
    pub const fn is_about_the_end(&self) -> bool {
        self.after.is_none() && self.window_id.is_none() && self.query.is_none()
    }
}

/// Answers from the end of the conversation; none when that does not reach.
pub fn at_end(context: &Context<'_>, path: &Path, input: &Input) -> Option<Reply<Output>> {
    if !input.is_about_the_end() {
        return None;
    }
    let conversation = Conversation::end(path, context.head, context.state_dir?)?;
    let reply = run(&conversation, input.clone()).ok()?;
    reply.data.older_before.is_some().then_some(reply)
}

pub fn run(conversation: &Conversation, input: Input) -> Result<Reply<Output>, Refusal> {
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    if limit > MAX_LIMIT {
        let message = format!("limit is 1 to {MAX_LIMIT}; go on with older_before or newer_after.");
        return Err(Refusal::new("page_too_large", message).with_details(json!({ "max": MAX_LIMIT })));
    }
    let chars = input.max_chars_per_item.unwrap_or(DEFAULT_CHARS);
    if limit == 0 || !(1..=MAX_CHARS).contains(&chars) {
        let message = format!("limit is 1 to {MAX_LIMIT}, max_chars_per_item 1 to {MAX_CHARS}.");
        return Err(Refusal::new("invalid_arguments", message));
    }
    let about_calls = input.tool.is_some() || input.status.is_some();
    if about_calls && input.roles.as_ref().is_some_and(|roles| !roles.contains(&Role::Tool)) {
        let message = "tool and status are about calls: leave roles out, or have `tool` among them.";
        return Err(Refusal::new("invalid_arguments", message));
    }
    let query = input.query.map(query).transpose()?;
    let window = input
        .window_id
        .as_deref()
        .map(|id| window_named(conversation, id))
        .transpose()?;
    let selection = Selection {
        folds: input.roles.is_none() && query.is_none() && !about_calls,
        roles: input.roles,
        query,
        tool: input.tool,
        status: input.status,
        window,
    };
    let bounds = Bounds {
        before: input.before,
        after: input.after,
        direction: if input.after.is_some() {
            Direction::Newer
        } else {
            Direction::Older
        },
    };
    let page = Pager::new(conversation, &selection, limit as usize, chars as usize).page(bounds)?;
    let text = render(conversation, &page, &selection);
    let data = Output {
        items: page.entries.into_iter().map(|(entry, _)| entry).collect(),
        older_before: page.older_before,
        newer_after: page.newer_after,
    };
    Ok(Reply { data, text })
}

fn query(texts: Texts) -> Result<Query, Refusal> {
    let texts = match texts {
        Texts::One(text) => vec![text],
        Texts::Any(texts) => texts,
    };
    let fits = |text: &String| !text.trim().is_empty() && text.chars().count() <= MAX_QUERY_CHARS;
    if texts.is_empty() || texts.len() > MAX_QUERIES || !texts.iter().all(fits) {
        let message = format!(
            "query is a text of 1 to {MAX_QUERY_CHARS} characters that is not blank, or a list of 1 to {MAX_QUERIES} of them."
        );
        return Err(Refusal::new("invalid_query", message));
    }
    Ok(Query::new(&texts))
}

fn render(conversation: &Conversation, page: &Page, selection: &Selection) -> String {
    let mut text = String::new();
    let shown = page
        .entries
        .iter()
        .filter(|(entry, _)| matches!(entry, Entry::Item(_)))
        .count();
    text.push_str(&match (shown, &selection.query) {
        (0, Some(_)) => "Nothing here has this text.\n".to_owned(),
        (0, None) if page.entries.is_empty() => "There is nothing here.\n".to_owned(),
        (_, Some(_)) => format!("{}, oldest first.\n", counted(shown, "hit")),
        _ => format!("{}, oldest first.\n", counted(shown, "item")),
    });
    let mut window = None;
    for (entry, rendered) in &page.entries {
        let own = entry.window();
        if window != Some(own) {
            window = Some(own);
            text.push_str(&format!("\n== {}\n", conversation.window_id(own)));
        }
        text.push_str(rendered);
    }
    if let Some(before) = page.older_before {
        text.push_str(&format!("\nOlder: the same with before {before}."));
    }
    if let Some(after) = page.newer_after {
        text.push_str(&format!("\nNewer: the same with after {after}."));
    }
    text
}
