//! The transcript that the client would have written, had the table been in force: the recorded rows as far as the
//! replay has come, and what its own compactions put in their place. Handlers read it as they read the real one.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::prune::Entry;
use crate::wire::{MessageSpec, TextSpec};

pub(super) struct Paper {
    file: File,
    path: PathBuf,
    /// The last row.
    tail: Option<String>,
    /// Rows of the window at hand.
    window: HashSet<String>,
    made: usize,
    session: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Place {
    uuid: String,
    parent_uuid: Option<String>,
}

impl Paper {
    pub(super) fn new(path: &Path, session: &str) -> io::Result<Self> {
        Ok(Self {
            file: OpenOptions::new().create_new(true).append(true).open(path)?,
            path: path.to_owned(),
            tail: None,
            window: HashSet::new(),
            made: 0,
            session: session.to_owned(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a recorded row. One whose parent went with a window that is closed hangs off the newest row instead.
    pub(super) fn copy(&mut self, raw: &[u8]) -> io::Result<()> {
        let place: Place = serde_json::from_slice(raw)?;
        let hangs_here = match &place.parent_uuid {
            Some(parent) => self.window.contains(parent),
            None => self.tail.is_none(),
        };
        if hangs_here {
            self.file.write_all(raw)?;
        } else {
            let mut row: Value = serde_json::from_slice(raw)?;
            row["parentUuid"] = json!(self.tail);
            serde_json::to_writer(&mut self.file, &row)?;
        }
        self.file.write_all(b"\n")?;
        self.window.insert(place.uuid.clone());
        self.tail = Some(place.uuid);
        Ok(())
    }

    /// Text that reached the model beside an event.
    pub(super) fn context(&mut self, texts: &[String]) -> io::Result<()> {
        let rendered: Vec<Value> = texts.iter().map(|text| json!({ "content": text })).collect();
        self.row(json!({
            "type": "attachment", "attachment": { "type": "hook_additional_context", "content": texts }, "rendered": rendered,
        }))
    }

    /// A compaction stands: a new window begins.
    pub(super) fn boundary(&mut self, trigger: &str) -> io::Result<()> {
        let before = self.tail.take();
        self.window.clear();
        self.row(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "logicalParentUuid": before, "compactMetadata": { "trigger": trigger },
        }))
    }

    /// The client's own summary, whose words nobody knows.
    pub(super) fn summary(&mut self) -> io::Result<()> {
        self.row(json!({
            "type": "user", "isCompactSummary": true,
            "message": { "role": "user", "content": "(the client's own summary)" },
        }))
    }

    /// The messages that a compaction was answered with.
    pub(super) fn messages(&mut self, specs: &[MessageSpec], entries: &[Entry<'_>]) -> io::Result<()> {
        specs.iter().try_for_each(|spec| {
            let content = content(spec, entries);
            self.row(
                json!({ "type": spec.role, "rowSource": "hook", "message": { "role": spec.role, "content": content } }),
            )
        })
    }

    fn row(&mut self, mut row: Value) -> io::Result<()> {
        let uuid = format!("5e91a700-0000-4000-8000-{:012}", self.made);
        self.made += 1;
        row["uuid"] = json!(uuid);
        row["parentUuid"] = json!(self.tail);
        row["isSidechain"] = json!(false);
        row["sessionId"] = json!(self.session);
        writeln!(self.file, "{row}")?;
        self.window.insert(uuid.clone());
        self.tail = Some(uuid);
        Ok(())
    }

    /// Nothing more is written before it is read, so that no reader waits for rows in flight.
    pub(super) fn settle(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now() - Duration::from_secs(60))
    }
}

/// The text of a message of an answer.
pub(super) fn text_of<'a>(spec: &'a MessageSpec, entries: &'a [Entry<'_>]) -> &'a str {
    match &spec.text {
        Some(TextSpec::New(text)) => text,
        Some(TextSpec::Of { of }) => entries.get(*of).map_or("", |entry| entry.text.as_str()),
        None => "",
    }
}

fn content(spec: &MessageSpec, entries: &[Entry<'_>]) -> Vec<Value> {
    let text = text_of(spec, entries);
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    for call in &spec.tool_uses {
        let Some(of) = entries.get(call.of).and_then(|entry| entry.tool_uses.get(call.at)) else {
            continue;
        };
        let input = call.input.clone();
        let input = input.unwrap_or_else(|| serde_json::from_str(of.input_json()).unwrap_or_default());
        content.push(json!({ "type": "tool_use", "id": of.id.as_str(), "name": of.tool.as_str(), "input": input }));
    }
    for result in &spec.tool_results {
        let Some(of) = entries
            .get(result.of)
            .and_then(|entry| entry.tool_results.get(result.at))
        else {
            continue;
        };
        let text = result.text.as_deref().unwrap_or_else(|| of.text.as_str());
        content.push(json!({
            "type": "tool_result", "tool_use_id": of.id.as_str(), "content": text, "is_error": of.is_error,
        }));
    }
    content
}

/// The messages as a `session.compact` event carries them.
pub(super) fn messages(entries: &[Entry<'_>]) -> Vec<Value> {
    let message = |entry: &Entry<'_>| {
        let role = match entry.role {
            crate::prune::Role::User => "user",
            crate::prune::Role::Assistant => "assistant",
        };
        let raw = |input: &str| serde_json::from_str::<Value>(input).unwrap_or_default();
        let calls: Vec<Value> = entry
            .tool_uses
            .iter()
            .map(|call| json!({ "tool_use_id": call.id.as_str(), "tool": call.tool.as_str(), "input": raw(call.input_json()) }))
            .collect();
        let mut message = json!({
            "role": role, "text": entry.text.as_str(), "toolUses": calls,
            "handle": entry.handle.as_ref().map(|handle| handle.as_str()),
        });
        if !entry.tool_results.is_empty() {
            let results = entry.tool_results.iter().map(|result| {
                json!({
                    "tool_use_id": result.id.as_str(), "text": result.text.as_str(), "isError": result.is_error,
                    "result": result.result.as_ref().map(|stored| raw(stored.get())),
                })
            });
            message["toolResults"] = results.collect();
        }
        message
    };
    entries.iter().map(message).collect()
}
