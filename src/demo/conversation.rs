//! A made-up conversation about a sync client, as rows of a transcript and as the messages of a compaction event.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// The conversation so far.
pub(super) struct Conversation {
    file: File,
    messages: Vec<Value>,
    last_row: Option<String>,
    rows: usize,
}

impl Conversation {
    /// A new conversation that is written to `path`.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create_new(true).append(true).open(path)?;
        Ok(Self {
            file,
            messages: Vec::new(),
            last_row: None,
            rows: 0,
        })
    }

    /// The messages as a compaction event carries them: one entry a content block.
    pub(super) fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// A few prompts, and the tool calls that answer them.
    pub(super) fn work(&mut self) -> io::Result<()> {
        self.user("The sync client loses data when the network drops. Find out why, and mend it.")?;
        self.call(
            "Grep",
            json!({ "pattern": "retry", "path": "src" }),
            &grep_output(),
            false,
        )?;
        self.call(
            "Read",
            json!({ "file_path": "/demo/src/client.rs" }),
            &source("client", 220),
            false,
        )?;
        self.assistant(
            "The retry loop waits a fixed 100 ms and gives up after three tries. I will add backoff with jitter.",
        )?;
        self.user("Good. Keep the public API as it is.")?;
        self.call(
            "Edit",
            json!({ "file_path": "/demo/src/client.rs", "old_string": source("old", 30), "new_string": source("new", 40) }),
            "The file has been updated.",
            false,
        )?;
        self.call(
            "Read",
            json!({ "file_path": "/demo/src/client.rs" }),
            &source("client", 231),
            false,
        )?;
        self.call("Bash", json!({ "command": "cargo test" }), &test_output(), true)?;
        self.call(
            "Bash",
            json!({ "command": "git status" }),
            "On branch backoff\nChanges not staged for commit:\n\tmodified: src/client.rs",
            false,
        )?;
        self.call(
            "Bash",
            json!({ "command": "cargo test -- --nocapture" }),
            &test_output().repeat(6),
            false,
        )?;
        self.assistant("14 of 15 tests pass. `retry_gives_up_after_the_deadline` waits one period too long.")?;
        for step in ["Look at the deadline.", "What does the server log say?", "Go on."] {
            self.user(step)?;
            self.assistant("Looking at it now.")?;
        }
        Ok(())
    }

    fn user(&mut self, text: &str) -> io::Result<()> {
        let handle = self.row("user", json!({ "role": "user", "content": text }))?;
        self.messages
            .push(json!({ "role": "user", "text": text, "toolUses": [], "handle": handle }));
        Ok(())
    }

    fn assistant(&mut self, text: &str) -> io::Result<()> {
        let content = json!([{ "type": "text", "text": text }]);
        let handle = self.row("assistant", self.response(&content))?;
        self.messages
            .push(json!({ "role": "assistant", "text": text, "toolUses": [], "handle": handle }));
        Ok(())
    }

    fn call(&mut self, tool: &str, input: Value, output: &str, is_error: bool) -> io::Result<()> {
        let id = format!("toolu_{:04}", self.rows);
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        let handle = self.row("assistant", self.response(&content))?;
        self.messages.push(json!({
            "role": "assistant", "text": "", "handle": handle,
            "toolUses": [{ "id": id, "name": tool, "tool_use_id": id, "tool": tool, "input": input }],
        }));
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error }]);
        let handle = self.row("user", json!({ "role": "user", "content": content }))?;
        self.messages.push(json!({
            "role": "user", "text": "", "toolUses": [], "handle": handle,
            "toolResults": [{ "tool_use_id": id, "text": output, "isError": is_error }],
        }));
        Ok(())
    }

    fn response(&self, content: &Value) -> Value {
        let usage = json!({ "input_tokens": 20_000 + self.rows * 900, "output_tokens": 90 });
        json!({ "id": format!("msg_{:04}", self.rows), "type": "message", "role": "assistant", "content": content, "usage": usage })
    }

    fn row(&mut self, kind: &str, message: Value) -> io::Result<String> {
        let uuid = format!("00000000-0000-4000-8000-{:012}", self.rows);
        let row = json!({
            "parentUuid": self.last_row, "isSidechain": false, "type": kind, "message": message, "uuid": uuid,
            "timestamp": format!("2026-11-30T12:{:02}:00.000Z", self.rows % 60), "sessionId": super::stage::SESSION,
        });
        writeln!(self.file, "{row}")?;
        self.rows += 1;
        self.last_row = Some(uuid.clone());
        Ok(uuid)
    }
}

fn source(name: &str, lines: usize) -> String {
    (1..=lines)
        .map(|line| format!("{line:>5}\tfn {name}_{line}(&self) -> Result<(), SyncError> {{ self.step({line}) }}\n"))
        .collect()
}

fn grep_output() -> String {
    (1..=120)
        .map(|line| format!("src/client.rs:{line}:    let delay = self.retry.delay(attempt_{line});\n"))
        .collect()
}

fn test_output() -> String {
    (1..=15)
        .map(|test| {
            let outcome = if test == 11 { "FAILED" } else { "ok" };
            format!("test sync::tests::case_{test:02}_of_the_flaky_network ... {outcome}\n")
        })
        .collect()
}
