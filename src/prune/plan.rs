//! The plan: what is cut, and what is not and why. Pure: the same conversation and options give the same plan.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{Arguments, to_map};
use super::cut::{self, Note};
use super::event::{Entry, ToolResult, ToolUse};
use super::options::{Keep, PruneOptions};
use super::protect::{self, Rules, Why};
use super::supersede::{self, EDITORS, Later, Stale};
use super::thread::{Call, Thread};

/// Arguments of an edit that shrink.
const SHRINKING: &[&str] = &["content", "old_string", "new_string", "new_source"];

/// Why something is cut or stays. The first that applies, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "reason", content = "detail")]
pub enum Reason {
    /// In the first message or in one of the newest.
    Pinned,
    /// It cannot simply be had again.
    Protected(Why),
    /// It ends in the note of an earlier cut.
    AlreadyCut,
    /// Not long enough for a cut to be worth it.
    Short,
    /// A reading that is out of date; cut.
    Superseded(Stale),
    /// Cut.
    Cut,
    /// It would be cut, but the target is met without it.
    NotNeeded,
    /// It would be cut, but the answer has no room for what would take its place.
    NoRoom,
}

/// Which part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the tool answered.
    Result,
    /// The arguments of an edit.
    Input,
}

/// What takes the place of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The cut output.
    Result(String),
    /// The shrunk arguments.
    Input(Value),
}

/// One part of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Index into [`Thread::calls`].
    pub call: usize,
    /// Which part.
    pub part: Part,
    /// Why it is cut or stays.
    pub reason: Reason,
    /// Code points before.
    pub before: usize,
    /// Code points after; the same where it stays.
    pub after: usize,
    /// What takes its place, where it is cut.
    pub change: Option<Change>,
}

impl Item {
    /// Whether it is cut.
    pub const fn is_cut(&self) -> bool {
        self.change.is_some()
    }

    /// Code points that the cut saves.
    pub const fn saved(&self) -> usize {
        self.before.saturating_sub(self.after)
    }

    /// Leaves it as it is after all.
    pub fn keep(&mut self, reason: Reason) {
        self.reason = reason;
        self.after = self.before;
        self.change = None;
    }
}

/// What the plan is made from beside the conversation.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// The settings.
    pub options: &'a PruneOptions,
    /// The session's folder, for paths that are not absolute.
    pub cwd: Option<&'a str>,
    /// The address in history of a call with this id, where it is known.
    pub seq: &'a dyn Fn(&str) -> Option<u64>,
}

/// What is cut and what stays, every part of every call, in the order of the calls.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The parts.
    pub items: Vec<Item>,
    /// What of the settings could not be used, each in a sentence.
    pub faults: Vec<String>,
}

impl Plan {
    /// Makes the plan.
    pub fn new(entries: &[Entry<'_>], thread: &Thread, context: &PlanContext<'_>) -> Self {
        let rules = Rules::new(context.options);
        let mut items = Vec::new();
        let mut later = Later::default();
        // From the newest to the oldest, so that what came later of a file is known.
        for (index, call) in thread.calls.iter().enumerate().rev() {
            let judge = Judge::new(entries, thread, call, context, &rules);
            items.extend(judge.input(index));
            items.push(judge.result(index, &later));
            judge.remember(&mut later);
        }
        items.reverse();
        Self {
            items,
            faults: rules.faults,
        }
    }
}

/// Everything that is known of one call.
struct Judge<'a> {
    context: &'a PlanContext<'a>,
    call: &'a ToolUse<'a>,
    result: &'a ToolResult<'a>,
    arguments: Arguments<'a>,
    path: Option<String>,
    failed: bool,
    /// Pinned or protected, which stands before everything else.
    standing: Option<Reason>,
}

impl<'a> Judge<'a> {
    fn new(
        entries: &'a [Entry<'a>],
        thread: &Thread,
        call: &Call,
        context: &'a PlanContext<'a>,
        rules: &Rules<'_>,
    ) -> Self {
        let tool_use = &entries[call.call.0].tool_uses[call.call.1];
        let result = &entries[call.result.0].tool_results[call.result.1];
        let arguments = tool_use.input.as_deref().map(Arguments::new).unwrap_or_default();
        let path = arguments
            .file
            .as_deref()
            .map(|file| supersede::normalize(file, context.cwd));
        let failed = result.is_error || tool_use.is_error;
        let preserve = usize::try_from(context.options.preserve_recent_messages).unwrap_or(usize::MAX);
        // The result is in the message behind the call's, so it is the newer of the two that counts.
        let pinned = call.message + 1 >= thread.messages.len().saturating_sub(preserve);
        let standing = if pinned {
            Some(Reason::Pinned)
        } else {
            rules
                .why(tool_use.tool.as_str(), failed, &arguments, path.as_deref())
                .map(Reason::Protected)
        };
        Self {
            context,
            call: tool_use,
            result,
            arguments,
            path,
            failed,
            standing,
        }
    }

    fn keep(&self) -> Keep {
        self.context.options.keep(self.call.tool.as_str())
    }

    fn note(&self) -> Note<'_> {
        let id = self.call.id.as_str();
        Note {
            tool: self.call.tool.as_str(),
            target: &self.arguments.target,
            field: None,
            stale: None,
            id,
            seq: (self.context.seq)(id),
            again: None,
        }
    }

    fn result(&self, index: usize, later: &Later) -> Item {
        let text = self.result.text.as_str();
        let before = text.chars().count();
        let mut item = Item {
            call: index,
            part: Part::Result,
            reason: Reason::Short,
            before,
            after: before,
            change: None,
        };
        if let Some(reason) = self.standing {
            item.reason = reason;
            return item;
        }
        if cut::is_cut(text) {
            item.reason = Reason::AlreadyCut;
            return item;
        }
        if before <= self.keep().threshold() {
            return item;
        }
        let stale = self.stale(later);
        let note = Note {
            stale: stale.map(Stale::words),
            again: protect::again(self.call.tool.as_str(), &self.arguments),
            ..self.note()
        };
        if let Some(cut) = cut::cut(text, before, self.keep(), &note) {
            item.reason = stale.map_or(Reason::Cut, Reason::Superseded);
            item.after = cut.chars;
            item.change = Some(Change::Result(cut.text));
        }
        item
    }

    fn stale(&self, later: &Later) -> Option<Stale> {
        let path = self.path.as_deref().filter(|_| self.call.tool.as_str() == "Read")?;
        later.stale(path, &self.lines())
    }

    fn lines(&self) -> std::ops::Range<u64> {
        supersede::lines(&self.arguments, self.result.result.as_deref())
    }

    fn remember(&self, later: &mut Later) {
        let (Some(path), false) = (self.path.as_deref(), self.failed) else {
            return;
        };
        match self.call.tool.as_str() {
            "Read" => later.add_reading(path, self.lines()),
            tool if EDITORS.contains(&tool) => later.add_edit(path),
            _ => {}
        }
    }

    /// The arguments of an edit; `None` for other tools.
    fn input(&self, index: usize) -> Option<Item> {
        if !EDITORS.contains(&self.call.tool.as_str()) {
            return None;
        }
        let input: &RawValue = self.call.input.as_deref()?;
        let before = input.get().chars().count();
        let mut item = Item {
            call: index,
            part: Part::Input,
            reason: Reason::Short,
            before,
            after: before,
            change: None,
        };
        if let Some(reason) = self.standing {
            item.reason = reason;
            return Some(item);
        }
        if before <= self.keep().threshold() {
            return Some(item);
        }
        let mut fields = to_map(input)?;
        let mut seen = Seen::default();
        self.shrink(&mut fields, &mut seen);
        if let Some(Value::Array(edits)) = fields.get_mut("edits") {
            for edit in edits.iter_mut().filter_map(Value::as_object_mut) {
                self.shrink(edit, &mut seen);
            }
        }
        if seen.cut {
            let new = Value::Object(fields);
            item.after = new.to_string().chars().count();
            if item.after < before {
                item.reason = Reason::Cut;
                item.change = Some(Change::Input(new));
            } else {
                item.after = before;
            }
        } else if seen.already {
            item.reason = Reason::AlreadyCut;
        }
        Some(item)
    }

    fn shrink(&self, fields: &mut Map<String, Value>, seen: &mut Seen) {
        for name in SHRINKING {
            let Some(Value::String(text)) = fields.get_mut(*name) else {
                continue;
            };
            if cut::is_cut(text) {
                seen.already = true;
                continue;
            }
            let total = text.chars().count();
            if total <= self.keep().threshold() {
                continue;
            }
            let when = if *name == "old_string" {
                "the file had this before the edit"
            } else {
                "the file had this after the write"
            };
            let note = Note {
                field: Some(name),
                stale: Some(when),
                ..self.note()
            };
            if let Some(cut) = cut::cut(text, total, self.keep(), &note) {
                *text = cut.text;
                seen.cut = true;
            }
        }
    }
}

#[derive(Default)]
struct Seen {
    cut: bool,
    already: bool,
}
