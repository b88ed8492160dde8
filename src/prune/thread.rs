//! The conversation as it can be handed back: entries and restored rows, regrouped by response.
//!
//! The client carries one entry per content block. Handed back one to one, it loses parallel results; so consecutive
//! entries of the model become one message with its calls, and the results of those calls the next one. A text behind
//! a call starts a new message. This holds by construction: every call is answered in the next user message, each id
//! once, and the first message is a user's.

use std::collections::{HashMap, HashSet};

use super::event::{Entry, Role};
use super::rows::{Branch, InsertKind, Provenance, RowFacts};

/// Stands first where a conversation would begin with the model's words.
pub const OPENING: &str = "[notesoup: the conversation goes on here.]";

/// A text of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// `messages[index].text`, as it is.
    Entry(usize),
    /// One that the event does not carry so: a restored row, or an entry inside its frame.
    New(String),
}

/// One message of the regrouped conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Words to the model.
    User {
        /// The words.
        words: Words,
        /// The row they come from.
        row: Option<String>,
    },
    /// A response, or a part of one.
    Assistant {
        /// The entry that has its text.
        text: Option<usize>,
        /// Its calls, as indexes into [`Thread::calls`].
        calls: Vec<usize>,
    },
    /// The results of the calls of the message before.
    Results {
        /// The calls that are answered, in the order of the calls.
        calls: Vec<usize>,
    },
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The call's place: entry, and index in its `tool_uses`.
    pub call: (usize, usize),
    /// The result's place: entry, and index in its `tool_results`.
    pub result: (usize, usize),
    /// The index of the message that holds the call; its result is in the next one.
    pub message: usize,
}

/// What is not handed back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Rows of local commands (`/compact` and their output).
    pub command_rows: usize,
    /// Calls without a result.
    pub unanswered_calls: usize,
    /// Results without their call.
    pub orphan_results: usize,
    /// Calls and results whose id was there before.
    pub duplicates: usize,
    /// Entries without text, call or result, such as those of thinking alone.
    pub empty: usize,
}

/// What the event does not carry and the transcript's rows give back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Restored {
    /// Prompts typed while the model worked.
    pub queued_prompts: usize,
    /// Readings of `@` mentions.
    pub file_readings: usize,
    /// Rows that are not the person's words: texts of skills and commands, notifications, reminders.
    pub frames: usize,
}

/// The regrouped conversation.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// Oldest first.
    pub messages: Vec<Message>,
    /// Every call that is handed back, in order.
    pub calls: Vec<Call>,
    /// What is not handed back.
    pub left_out: LeftOut,
    /// What came from the rows.
    pub restored: Restored,
    /// Restored rows that had to be shortened, since an answer can only be so long.
    pub shortened: usize,
}

impl Thread {
    /// Regroups the entries, with what the rows of the branch add.
    pub fn new(entries: &[Entry<'_>], branch: &Branch) -> Self {
        let mut builder = Builder::new(entries, branch);
        for (index, entry) in entries.iter().enumerate() {
            builder.insert_before(index);
            builder.entry(index, entry);
        }
        builder.insert_before(entries.len());
        builder.finish()
    }
}

struct Builder<'e> {
    branch: &'e Branch,
    thread: Thread,
    /// Where the result of each call is: the first with its id.
    results: HashMap<&'e str, (usize, usize)>,
    seen: HashSet<&'e str>,
    answered: HashSet<&'e str>,
    text: Option<usize>,
    calls: Vec<usize>,
    inserts: usize,
}

impl<'e> Builder<'e> {
    fn new(entries: &'e [Entry<'e>], branch: &'e Branch) -> Self {
        let mut results = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for (at, result) in entry.tool_results.iter().enumerate() {
                results.entry(result.id.as_str()).or_insert((index, at));
            }
        }
        let answered = entries
            .iter()
            .filter(|entry| entry.role == Role::Assistant)
            .flat_map(|entry| entry.tool_uses.iter().map(|call| call.id.as_str()))
            .collect();
        Self {
            branch,
            thread: Thread::default(),
            results,
            seen: HashSet::new(),
            answered,
            text: None,
            calls: Vec::new(),
            inserts: 0,
        }
    }

    fn entry(&mut self, index: usize, entry: &'e Entry<'e>) {
        let has_text = !entry.text.as_str().trim().is_empty();
        match entry.role {
            Role::Assistant => self.response(index, entry, has_text),
            Role::User => self.user(index, entry, has_text),
        }
    }

    fn response(&mut self, index: usize, entry: &'e Entry<'e>, has_text: bool) {
        if !has_text && entry.tool_uses.is_empty() {
            self.thread.left_out.empty += 1;
        }
        if has_text {
            if self.text.is_some() || !self.calls.is_empty() {
                self.flush();
            }
            self.text = Some(index);
        }
        for (at, call) in entry.tool_uses.iter().enumerate() {
            if !self.seen.insert(call.id.as_str()) {
                self.thread.left_out.duplicates += 1;
            } else if let Some(result) = self.results.get(call.id.as_str()) {
                self.calls.push(self.thread.calls.len());
                self.thread.calls.push(Call {
                    call: (index, at),
                    result: *result,
                    message: 0,
                });
            } else {
                self.thread.left_out.unanswered_calls += 1;
            }
        }
    }

    fn user(&mut self, index: usize, entry: &'e Entry<'e>, has_text: bool) {
        self.flush();
        for (at, result) in entry.tool_results.iter().enumerate() {
            let id = result.id.as_str();
            if self.results.get(id) != Some(&(index, at)) {
                self.thread.left_out.duplicates += 1;
            } else if !self.answered.contains(id) {
                self.thread.left_out.orphan_results += 1;
            }
        }
        let facts = entry
            .handle
            .as_ref()
            .and_then(|handle| self.branch.facts(handle.as_str()));
        let words = if has_text {
            self.words(index, entry, facts)
        } else if entry.tool_results.is_empty() {
            image_alone(facts)
        } else {
            return;
        };
        match words {
            Some(words) => self.thread.messages.push(Message::User {
                words,
                row: entry.handle.as_ref().map(|handle| handle.as_str().to_owned()),
            }),
            None if has_text => self.thread.left_out.command_rows += 1,
            None => self.thread.left_out.empty += 1,
        }
    }

    fn words(&mut self, index: usize, entry: &Entry<'_>, facts: Option<&RowFacts>) -> Option<Words> {
        match facts.map_or(Provenance::Person, |facts| facts.provenance) {
            Provenance::Person => Some(Words::Entry(index)),
            Provenance::LocalCommand => None,
            Provenance::Meta | Provenance::Notification => {
                let text = entry.text.as_str();
                let framed = super::rows::frame(text, facts.map_or(Provenance::Meta, |facts| facts.provenance));
                if framed == text {
                    return Some(Words::Entry(index));
                }
                self.thread.restored.frames += 1;
                Some(Words::New(framed))
            }
        }
    }

    /// Puts the restored rows that stand before this entry into their place.
    fn insert_before(&mut self, index: usize) {
        while let Some(insert) = self
            .branch
            .inserts
            .get(self.inserts)
            .filter(|insert| insert.before <= index)
        {
            self.inserts += 1;
            self.flush();
            match insert.kind {
                InsertKind::QueuedPrompt => self.thread.restored.queued_prompts += 1,
                InsertKind::FileReading => self.thread.restored.file_readings += 1,
                InsertKind::Report | InsertKind::Frame => self.thread.restored.frames += 1,
            }
            self.thread.messages.push(Message::User {
                words: Words::New(insert.text.clone()),
                row: Some(insert.row.clone()),
            });
        }
    }

    /// Ends the response at hand: its message, and the one with the results of its calls.
    fn flush(&mut self) {
        let (text, calls) = (self.text.take(), std::mem::take(&mut self.calls));
        if text.is_none() && calls.is_empty() {
            return;
        }
        if self.thread.messages.is_empty() {
            self.thread.messages.push(Message::User {
                words: Words::New(OPENING.to_owned()),
                row: None,
            });
        }
        let message = self.thread.messages.len();
        for call in &calls {
            self.thread.calls[*call].message = message;
        }
        self.thread.messages.push(Message::Assistant {
            text,
            calls: calls.clone(),
        });
        if !calls.is_empty() {
            self.thread.messages.push(Message::Results { calls });
        }
    }

    fn finish(mut self) -> Thread {
        self.flush();
        self.thread
    }
}

/// The person sent nothing but an image: a rebuilt message cannot carry it, yet that it was there is kept.
fn image_alone(facts: Option<&RowFacts>) -> Option<Words> {
    let facts = facts?;
    (facts.media.images + facts.media.documents > 0).then(|| Words::New(facts.media.placeholder(None)))
}
