//! The conversation as the client takes it: every message rebuilt, by index, with what is new in it.
//!
//! Not one message keeps its handle: the client undoes a compaction on resume when a single one does.

use super::arguments::Arguments;
use super::event::Entry;
use super::plan::{Change, Plan};
use super::protect;
use super::rows::Branch;
use super::thread::{Message, Thread, Words};
use crate::wire::{MessageSpec, ResultSpec, TextSpec, ToolUseSpec};

pub use crate::history::record::HandedBack;

/// The rebuilt conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandBack {
    /// For the client.
    pub messages: Vec<MessageSpec>,
    /// For history, one for each message.
    pub record: Vec<HandedBack>,
}

impl HandBack {
    /// Builds the messages of the thread with the changes of the plan.
    pub fn new(entries: &[Entry<'_>], branch: &Branch, thread: &Thread, plan: &Plan) -> Self {
        let mut builder = Builder {
            entries,
            branch,
            thread,
            inputs: vec![None; thread.calls.len()],
            results: vec![None; thread.calls.len()],
        };
        for item in &plan.items {
            match &item.change {
                Some(Change::Result(text)) => builder.results[item.call] = Some(text.clone()),
                Some(Change::Input(input)) => builder.inputs[item.call] = Some(input.clone()),
                None => {}
            }
        }
        let mut back = Self::default();
        for message in &thread.messages {
            let (spec, handed) = builder.message(message);
            back.messages.push(spec);
            back.record.push(handed);
        }
        back
    }
}

struct Builder<'a> {
    entries: &'a [Entry<'a>],
    branch: &'a Branch,
    thread: &'a Thread,
    inputs: Vec<Option<serde_json::Value>>,
    results: Vec<Option<String>>,
}

impl Builder<'_> {
    fn message(&mut self, message: &Message) -> (MessageSpec, HandedBack) {
        let mut handed = HandedBack::default();
        let mut spec = MessageSpec {
            role: "user".to_owned(),
            text: None,
            tool_uses: Vec::new(),
            tool_results: Vec::new(),
        };
        match message {
            Message::User { words, row } => {
                spec.text = Some(match words {
                    Words::Entry(of) => TextSpec::Of { of: *of },
                    Words::New(text) => TextSpec::New(text.clone()),
                });
                handed.rows.extend(row.clone());
            }
            Message::Assistant { text, calls } => {
                "assistant".clone_into(&mut spec.role);
                spec.text = text.map(|of| TextSpec::Of { of });
                handed.rows.extend(text.and_then(|of| self.handle(of)));
                for call in calls {
                    let (of, at) = self.thread.calls[*call].call;
                    spec.tool_uses.push(ToolUseSpec {
                        of,
                        at,
                        input: self.inputs[*call].take(),
                    });
                    self.note(&mut handed, of, *call);
                }
            }
            Message::Results { calls } => {
                for call in calls {
                    let (of, at) = self.thread.calls[*call].result;
                    spec.tool_results.push(ResultSpec {
                        of,
                        at,
                        text: self.results[*call].take().or_else(|| self.placeholder(*call)),
                    });
                    self.note(&mut handed, of, *call);
                }
            }
        }
        (spec, handed)
    }

    fn handle(&self, entry: usize) -> Option<String> {
        self.entries[entry]
            .handle
            .as_ref()
            .map(|handle| handle.as_str().to_owned())
    }

    fn note(&self, handed: &mut HandedBack, entry: usize, call: usize) {
        handed.tool_use_ids.push(self.tool_use(call).id.as_str().to_owned());
        if let Some(row) = self.handle(entry)
            && handed.rows.last() != Some(&row)
        {
            handed.rows.push(row);
        }
    }

    fn tool_use(&self, call: usize) -> &super::event::ToolUse<'_> {
        let (of, at) = self.thread.calls[call].call;
        &self.entries[of].tool_uses[at]
    }

    /// A result of an image alone would go back empty; it says instead what was there.
    fn placeholder(&self, call: usize) -> Option<String> {
        let (of, at) = self.thread.calls[call].result;
        let entry = &self.entries[of];
        if !entry.tool_results[at].text.as_str().is_empty() {
            return None;
        }
        let facts = self.branch.facts(entry.handle.as_ref()?.as_str())?;
        if facts.media.images + facts.media.documents == 0 {
            return None;
        }
        let call = self.tool_use(call);
        let arguments = call.input.as_deref().map(Arguments::new).unwrap_or_default();
        let again = protect::again(call.tool.as_str(), &arguments);
        Some(facts.media.placeholder(again))
    }
}
