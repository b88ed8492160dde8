//! What a branch shows: messages, calls with their results, and what was added beside them, each once.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::skim::Bits;
use super::table::{NONE, Table};
use super::tree::Branch;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person typed it.
    User,
    /// The model wrote it.
    Assistant,
    /// A call of a tool, with its result.
    Tool,
    /// What was added beside the conversation: starts of windows, summaries, commands, reminders, notices.
    Context,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// With a result.
    Ok,
    /// It failed.
    Error,
    /// It has no result (yet).
    Unfinished,
}

/// Where an event's words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// In this row.
    Row(u32),
    /// In the rows of this response.
    Message(u32),
    /// In this call and its result; [`NONE`] when it has none.
    Call(u32, u32),
    /// In this result, whose call is not on the branch.
    Result(u32),
}

/// One event. Its address is lasting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// Its address.
    pub seq: u32,
    /// Its window, counted from the oldest on the branch.
    pub window: u32,
    /// Who speaks.
    pub role: Role,
    /// Whether the client says it again every few turns.
    pub reminder: bool,
    /// Where its words stand.
    pub what: What,
}

/// All events of a branch by address.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<Event>);

impl Events {
    /// The events of a branch.
    pub fn new(table: &Table, branch: &Branch, copies: &Copies) -> Self {
        let mut maker = Maker {
            table,
            branch,
            copies,
            shown: HashSet::new(),
            calls: Calls::new(table, branch),
            events: Vec::new(),
        };
        for row in branch.rows() {
            maker.row(row);
        }
        let mut events = maker.events;
        if !events.is_sorted_by_key(|event| event.seq) {
            events.sort_by_key(|event| event.seq);
        }
        Self(events)
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Event] {
        &self.0
    }

    /// The place of the event with this address, or where it would stand.
    pub fn place(&self, seq: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&seq, |event| u64::from(event.seq))
    }
}

/// Which call stands for all calls with its id, and which result for all of its results.
struct Calls {
    /// By first call: the call on the branch that is shown.
    call: Vec<u32>,
    /// By first call: the result on the branch that is shown.
    result: Vec<u32>,
}

impl Calls {
    fn new(table: &Table, branch: &Branch) -> Self {
        let count = table.block_count() as usize;
        let mut calls = Self {
            call: vec![NONE; count],
            result: vec![NONE; count],
        };
        // The first in the order of windows and rows: what a compaction wrote again may be cut.
        let older = |block: u32, than: u32| {
            let place = |block: u32| {
                let row = table.first(table.block_row[block as usize]);
                (branch.window(row), row, block)
            };
            than == NONE || place(block) < place(than)
        };
        for row in branch.rows() {
            for block in table.blocks_of(table.newest(row)) {
                let first = table.block_call[block as usize];
                if first == NONE || table.block_seq[block as usize] == 0 {
                    continue;
                }
                let shown = match table.result(block) {
                    None => &mut calls.call[first as usize],
                    Some(_) => &mut calls.result[first as usize],
                };
                if older(block, *shown) {
                    *shown = block;
                }
            }
        }
        calls
    }
}

struct Maker<'a> {
    table: &'a Table,
    branch: &'a Branch,
    copies: &'a Copies,
    /// Responses and ids of results without a call that have their event.
    shown: HashSet<u128>,
    calls: Calls,
    events: Vec<Event>,
}

impl Maker<'_> {
    fn row(&mut self, row: u32) {
        let table = self.table;
        let Some(window) = self.branch.window(row) else {
            return;
        };
        let version = table.newest(row);
        let bits = table.bits[version as usize];
        let event = Event {
            seq: table.seq[row as usize],
            window,
            role: Role::Context,
            reminder: bits.has(Bits::REMINDER),
            what: What::Row(row),
        };
        if !self.copies.is_copy(row) {
            match bits.kind() {
                Bits::ASSISTANT => self.response(row, event),
                Bits::USER if bits.has(Bits::VISIBLE) => self.events.push(Event {
                    role: self.role(row, bits),
                    ..event
                }),
                Bits::ATTACHMENT if bits.has(Bits::VISIBLE) => self.events.push(Event {
                    role: if bits.has(Bits::QUEUED) {
                        Role::User
                    } else {
                        Role::Context
                    },
                    ..event
                }),
                Bits::SYSTEM if bits.has(Bits::VISIBLE) => self.events.push(event),
                _ => {}
            }
        }
        for block in table.blocks_of(version) {
            self.block(block, event);
        }
    }

    fn role(&self, row: u32, bits: Bits) -> Role {
        if bits.has(Bits::META | Bits::SUMMARY | Bits::RESULT) || self.copies.is_ours(row) {
            return Role::Context;
        }
        if bits.has(Bits::HUMAN) || !bits.has(Bits::NOT_HUMAN | Bits::ECHO | Bits::HANDED_BACK) {
            return Role::User;
        }
        Role::Context
    }

    /// The words of a response are one event, at its first row, wherever in it they stand.
    fn response(&mut self, row: u32, event: Event) {
        let table = self.table;
        let message = table.message[row as usize];
        if message == NONE {
            if table.bits[table.newest(row) as usize].has(Bits::VISIBLE) {
                self.events.push(Event {
                    role: Role::Assistant,
                    ..event
                });
            }
            return;
        }
        if !self.shown.insert(u128::from(message) | 1 << 127) {
            return;
        }
        let visible = parts(table, self.branch, message)
            .iter()
            .any(|part| table.bits[table.newest(*part) as usize].has(Bits::VISIBLE) && !self.copies.is_copy(*part));
        if visible {
            self.events.push(Event {
                seq: table.message_seq[message as usize],
                role: Role::Assistant,
                what: What::Message(message),
                ..event
            });
        }
    }

    fn block(&mut self, block: u32, event: Event) {
        let table = self.table;
        let seq = table.block_seq[block as usize];
        let first = table.block_call[block as usize];
        let shown_call = self.calls.call.get(first as usize).copied().unwrap_or(NONE);
        let what = match table.result(block) {
            None if shown_call == block => What::Call(block, self.calls.result[first as usize]),
            // A result is shown with its call; without one, the first result stands alone.
            Some(_) if shown_call == NONE => {
                let first = self.calls.result.get(first as usize).copied().unwrap_or(block);
                if first != block || seq == 0 || !self.shown.insert(table.block_id[block as usize].0 & !(1 << 127)) {
                    return;
                }
                What::Result(block)
            }
            _ => return,
        };
        self.events.push(Event {
            seq,
            role: Role::Tool,
            reminder: false,
            what,
            ..event
        });
    }
}

/// The rows of a response on the branch, in order.
pub(super) fn parts(table: &Table, branch: &Branch, message: u32) -> Vec<u32> {
    let mut parts = Vec::new();
    let mut part = table.message_last[message as usize];
    while part != NONE {
        if branch.window(part).is_some() {
            parts.push(part);
        }
        part = table.mate[part as usize];
    }
    parts.reverse();
    parts
}

impl Event {
    /// How a call ended; none for what is no call.
    pub fn status(&self, table: &Table) -> Option<ToolStatus> {
        match self.what {
            What::Call(_, NONE) => Some(ToolStatus::Unfinished),
            What::Call(_, result) | What::Result(result) => Some(match table.result(result) {
                Some(true) => ToolStatus::Error,
                _ => ToolStatus::Ok,
            }),
            What::Row(_) | What::Message(_) => None,
        }
    }

    /// The tool of a call; empty for a result without its call.
    pub fn tool<'t>(&self, table: &'t Table) -> Option<&'t str> {
        match self.what {
            What::Call(call, _) => Some(table.name(call)),
            What::Result(_) => Some(""),
            What::Row(_) | What::Message(_) => None,
        }
    }
}
