//! A page of events: a stretch of the conversation in which some events are shown and the others folded.
//!
//! A page never leaves a gap: what it shows and folds lies next to each other, and its cursors begin where it ends, so
//! that walking from page to page meets every event exactly once.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::read::{name, role};
use crate::history::conversation::Conversation;
use crate::history::error::HistoryError;
use crate::history::event::{Event, Role, ToolStatus};
use crate::history::search::{Candidates, Hits, Query};
use crate::outcome::room::{Room, cost, json_bytes};
use crate::outcome::text_window;

/// Room kept for the heading and the cursors.
const FRAME: usize = 512;
/// Room for the line that names a window.
const WINDOW_LINE: usize = 256;
/// How many tools a folded row names.
const MAX_TOOLS: usize = 24;
const MAX_NAME_CHARS: usize = 80;

/// Which events are meant.
#[derive(Debug)]
pub struct Selection {
    /// Whether what is not shown is folded.
    pub folds: bool,
    pub roles: Option<Vec<Role>>,
    pub query: Option<Query>,
    pub tool: Option<String>,
    pub status: Option<ToolStatus>,
    pub window: Option<u32>,
}

/// Which way the nearest events are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the end back.
    Older,
    /// From the beginning on.
    Newer,
}

/// Where a page may lie.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub before: Option<u64>,
    pub after: Option<u64>,
    pub direction: Direction,
}

/// An item or a folded row.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Entry {
    /// An event.
    Item(Box<Item>),
    /// Events that are not shown.
    Fold(Box<Fold>),
}

impl Entry {
    /// The window it lies in.
    pub const fn window(&self) -> u32 {
        match self {
            Self::Item(item) => item.window,
            Self::Fold(fold) => fold.window,
        }
    }
}

/// An event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    /// Its number, for history_read.
    pub seq: u64,
    /// The window it happened in.
    pub window_id: String,
    /// Who speaks.
    pub role: Role,
    /// When it was written.
    pub created_at: Option<String>,
    /// The tool of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How a call ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_status: Option<ToolStatus>,
    /// Whether `content` is only a part.
    pub truncated: bool,
    /// How many characters the event has.
    pub total_chars: usize,
    /// The first characters, or those around the first hit.
    pub content: String,
    /// Where `content` begins in the event, in characters; for a hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_offset_chars: Option<usize>,
    /// How many hits the event has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_count: Option<usize>,
    /// Where the first hits begin in the event, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_offsets_chars: Option<Vec<usize>>,
    #[serde(skip)]
    #[schemars(skip)]
    window: u32,
}

/// Events next to each other that are not shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fold {
    /// Always true: this row stands for several events.
    pub folded: bool,
    /// The seq of the first of them.
    pub first_seq: u64,
    /// The seq of the last of them.
    pub last_seq: u64,
    /// The window they happened in.
    pub window_id: String,
    /// How many there are.
    pub count: usize,
    /// How many of them are calls, by tool.
    pub tools: BTreeMap<String, usize>,
    /// How many of the calls failed.
    pub failed: usize,
    /// How to see them.
    pub expand: String,
    #[serde(skip)]
    #[schemars(skip)]
    window: u32,
}

/// A page: entries with their text, oldest first.
#[derive(Debug, Default)]
pub struct Page {
    pub entries: Vec<(Entry, String)>,
    pub older_before: Option<u64>,
    pub newer_after: Option<u64>,
}

enum Class {
    Shown(Option<Hits>),
    Folded,
    Out,
}

/// Makes pages.
pub struct Pager<'a> {
    conversation: &'a Conversation,
    selection: &'a Selection,
    candidates: Option<Candidates<'a>>,
    limit: usize,
    chars: usize,
    room: Room,
    window: Option<u32>,
    entries: Vec<(Entry, String)>,
    /// Events to be folded, in the order they were met.
    fold: Vec<&'a Event>,
    /// The last event, in the direction of the page, that the entries hold.
    end: Option<u64>,
}

impl<'a> Pager<'a> {
    pub fn new(conversation: &'a Conversation, selection: &'a Selection, limit: usize, chars: usize) -> Self {
        let mut room = Room::all();
        room.take(FRAME, FRAME);
        Self {
            conversation,
            selection,
            candidates: selection
                .query
                .as_ref()
                .map(|query| Candidates::new(conversation, query)),
            limit,
            chars,
            room,
            window: None,
            entries: Vec::new(),
            fold: Vec::new(),
            end: None,
        }
    }

    pub fn page(mut self, bounds: Bounds) -> Result<Page, HistoryError> {
        let events = self.conversation.events.all();
        let from = bounds
            .after
            .map_or(0, |after| events.partition_point(|event| u64::from(event.seq) <= after));
        let to = bounds.before.map_or(events.len(), |before| {
            events.partition_point(|event| u64::from(event.seq) < before)
        });
        let inside = events.get(from..to).unwrap_or_default();
        let older = bounds.direction == Direction::Older;
        if older {
            self.fill(inside.iter().rev())?;
            self.entries.reverse();
        } else {
            self.fill(inside.iter())?;
        }
        // What the page holds lies between these two; both are places in `events`.
        let (mut start, mut stop) = if older { (to, to) } else { (from, from) };
        if let Some(end) = self.end {
            let at = events.partition_point(|event| u64::from(event.seq) < end);
            (start, stop) = if older { (at, to) } else { (from, at + 1) };
        }
        let before = self.any(events.get(..start).unwrap_or_default().iter().rev())?;
        let after = self.any(events.get(stop..).unwrap_or_default().iter())?;
        let first = events.get(start).map(|event| u64::from(event.seq));
        let last = stop
            .checked_sub(1)
            .and_then(|at| events.get(at))
            .map(|event| u64::from(event.seq));
        Ok(Page {
            entries: self.entries,
            older_before: if before { first.or(bounds.before) } else { None },
            newer_after: if after { last.or(Some(0)) } else { None },
        })
    }

    fn fill(&mut self, events: impl Iterator<Item = &'a Event>) -> Result<(), HistoryError> {
        let mut shown = 0;
        for event in events {
            match self.class(event)? {
                Class::Out => {}
                Class::Folded => {
                    let other_window = self.fold.last().is_some_and(|last| last.window != event.window);
                    if other_window && !self.close_fold() {
                        return Ok(());
                    }
                    self.fold.push(event);
                }
                Class::Shown(hits) => {
                    if !self.close_fold() || !self.show(event, hits)? {
                        return Ok(());
                    }
                    shown += 1;
                    if shown == self.limit {
                        return Ok(());
                    }
                }
            }
        }
        self.close_fold();
        Ok(())
    }

    fn any(&mut self, events: impl Iterator<Item = &'a Event>) -> Result<bool, HistoryError> {
        for event in events {
            if !matches!(self.class(event)?, Class::Out) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn class(&mut self, event: &Event) -> Result<Class, HistoryError> {
        let selection = self.selection;
        let table = &self.conversation.transcript.table;
        if selection.window.is_some_and(|window| window != event.window) {
            return Ok(Class::Out);
        }
        if selection.folds {
            let spoken = matches!(event.role, Role::User | Role::Assistant);
            return Ok(if spoken { Class::Shown(None) } else { Class::Folded });
        }
        let is_role = |roles: &Vec<Role>| roles.contains(&event.role);
        if !selection.roles.as_ref().is_none_or(is_role) {
            return Ok(Class::Out);
        }
        if let Some(tool) = &selection.tool
            && !event.tool(table).is_some_and(|own| own.eq_ignore_ascii_case(tool))
        {
            return Ok(Class::Out);
        }
        if selection.status.is_some() && event.status(table) != selection.status {
            return Ok(Class::Out);
        }
        let (Some(query), Some(candidates)) = (&selection.query, &mut self.candidates) else {
            return Ok(if event.reminder {
                Class::Folded
            } else {
                Class::Shown(None)
            });
        };
        if !candidates.may_hit(event)? {
            return Ok(Class::Out);
        }
        let hits = query.hits(&self.conversation.words(event)?.text);
        Ok(hits.map_or(Class::Out, |hits| Class::Shown(Some(hits))))
    }

    /// Adds an event; false when it does not fit.
    fn show(&mut self, event: &Event, hits: Option<Hits>) -> Result<bool, HistoryError> {
        let words = self.conversation.words(event)?;
        let table = &self.conversation.transcript.table;
        let total = words.text.chars().count();
        let offset = hits.as_ref().map_or(0, |hits| around(hits, total, self.chars));
        let mut item = Item {
            seq: event.seq.into(),
            window_id: self.conversation.window_id(event.window),
            role: event.role,
            created_at: words.created_at.map(|time| cut(&time, MAX_NAME_CHARS)),
            tool: event
                .tool(table)
                .filter(|tool| !tool.is_empty())
                .map(|tool| cut(tool, MAX_NAME_CHARS)),
            tool_status: event.status(table),
            truncated: total > self.chars,
            total_chars: total,
            content: words.text.chars().skip(offset).take(self.chars).collect(),
            content_offset_chars: hits.as_ref().map(|_| offset),
            match_count: hits.as_ref().map(|hits| hits.count),
            match_offsets_chars: hits.map(|hits| hits.offsets),
            window: event.window,
        };
        let line = item_text(&item);
        if !self.take(event.window, json_bytes(&item), &line) {
            if !self.entries.is_empty() {
                return Ok(false);
            }
            // The first one is shown as far as there is room, or nothing ever would be.
            let content = std::mem::take(&mut item.content);
            item.truncated = true;
            let own = json_bytes(&item).max(item_text(&item).len()) + WINDOW_LINE + 64;
            let room = self.room.left().saturating_sub(own);
            item.content =
                text_window(&content, 0, usize::MAX, room, cost).map_or_else(|_| String::new(), |part| part.text);
            let line = item_text(&item);
            self.take(event.window, json_bytes(&item), &line);
            self.push(Entry::Item(Box::new(item)), line, event.seq);
            return Ok(true);
        }
        self.push(Entry::Item(Box::new(item)), line, event.seq);
        Ok(true)
    }

    /// Ends the folded row at hand; false when it does not fit.
    fn close_fold(&mut self) -> bool {
        let (Some(met_first), Some(met_last)) = (self.fold.first(), self.fold.last()) else {
            return true;
        };
        let (first, last) = (met_first.seq.min(met_last.seq), met_first.seq.max(met_last.seq));
        let (end, window) = (met_last.seq, met_last.window);
        let table = &self.conversation.transcript.table;
        let mut counts = BTreeMap::<&str, usize>::new();
        let mut failed = 0;
        for event in &self.fold {
            if let Some(tool) = event.tool(table) {
                *counts.entry(tool).or_default() += 1;
            }
            failed += usize::from(event.status(table) == Some(ToolStatus::Error));
        }
        let range = format!("after {}, before {}", u64::from(first) - 1, u64::from(last) + 1);
        let fold = Fold {
            folded: true,
            first_seq: first.into(),
            last_seq: last.into(),
            window_id: self.conversation.window_id(window),
            count: self.fold.len(),
            tools: tools(counts),
            failed,
            expand: if self.selection.folds {
                format!("history_list with {range}, roles [\"tool\", \"context\"]")
            } else {
                "history_read with a seq of these".to_owned()
            },
            window,
        };
        let line = fold_text(&fold);
        if !self.take(window, json_bytes(&fold), &line) {
            return false;
        }
        self.fold.clear();
        self.push(Entry::Fold(Box::new(fold)), line, end);
        true
    }

    fn take(&mut self, window: u32, json: usize, line: &str) -> bool {
        let window_line = if self.window == Some(window) { 0 } else { WINDOW_LINE };
        self.room.take(json + 1, line.len() + window_line)
    }

    fn push(&mut self, entry: Entry, line: String, end: u32) {
        self.window = Some(entry.window());
        self.entries.push((entry, line));
        self.end = Some(end.into());
    }
}

/// Where to begin so that the first hit stands in what is shown, with more behind it than before it.
fn around(hits: &Hits, total: usize, chars: usize) -> usize {
    let at = hits.offsets.first().copied().unwrap_or(0);
    let room_before = chars.saturating_sub(hits.length) / 3;
    at.saturating_sub(room_before).min(total.saturating_sub(chars))
}

/// The tools by count, named up to a point.
fn tools(counts: BTreeMap<&str, usize>) -> BTreeMap<String, usize> {
    let mut by_count: Vec<_> = counts.into_iter().collect();
    by_count.sort_by_key(|(tool, count)| (std::cmp::Reverse(*count), *tool));
    let mut named = BTreeMap::new();
    for (at, (tool, count)) in by_count.into_iter().enumerate() {
        let label = match tool {
            _ if at >= MAX_TOOLS => "(others)".to_owned(),
            "" => "(unknown)".to_owned(),
            tool => cut(tool, MAX_NAME_CHARS),
        };
        *named.entry(label).or_default() += count;
    }
    named
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

fn item_text(item: &Item) -> String {
    let mut text = format!("\n#{} ", item.seq);
    match (&item.tool, item.tool_status) {
        (Some(tool), Some(status)) => text.push_str(&format!("{tool} ({})", name(status))),
        (None, Some(status)) => text.push_str(&format!("result of an unknown call ({})", name(status))),
        _ => text.push_str(role(item.role)),
    }
    if let Some(created_at) = &item.created_at {
        text.push_str(&format!(" · {created_at}"));
    }
    if let (Some(count), Some(offsets)) = (item.match_count, &item.match_offsets_chars) {
        let hits = super::counted(count, "hit");
        text.push_str(&format!(" · {hits} at {offsets:?}"));
        if offsets.len() < count {
            text.push('…');
        }
    }
    if item.truncated {
        let from = item.content_offset_chars.unwrap_or(0);
        let to = from + item.content.chars().count();
        let total = item.total_chars;
        text.push_str(&format!(
            " · characters {from} to {to} of {total}; the rest: history_read seq {}",
            item.seq
        ));
    }
    text.push('\n');
    text.push_str(&item.content);
    text.push('\n');
    text
}

fn fold_text(fold: &Fold) -> String {
    let mut parts: Vec<String> = fold
        .tools
        .iter()
        .map(|(tool, count)| format!("{tool} {count}"))
        .collect();
    let calls: usize = fold.tools.values().sum();
    if fold.count > calls {
        parts.push(format!("{} beside", fold.count - calls));
    }
    let mut text = if fold.count == 1 {
        format!("\n(seq {}, folded: {}", fold.first_seq, parts.join(", "))
    } else {
        let (first, last) = (fold.first_seq, fold.last_seq);
        format!("\n(seq {first} to {last}, {} folded: {}", fold.count, parts.join(", "))
    };
    if fold.failed > 0 {
        text.push_str(&format!("; {} failed", fold.failed));
    }
    text.push_str(&format!(". To see them: {})\n", fold.expand));
    text
}
