//! What the tests share.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notesoup::history::tools::{self, Context};
use notesoup::history::{Conversation, Head, HistoryError, Shown};
use notesoup::outcome::Outcome;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a transcript and side files.
pub struct Lab {
    pub folder: TempDir,
    pub path: PathBuf,
}

impl Lab {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("session.jsonl");
        Self { folder, path }
    }

    pub fn with(text: impl AsRef<[u8]>) -> Self {
        let lab = Self::new();
        lab.write(text);
        lab
    }

    pub fn write(&self, text: impl AsRef<[u8]>) {
        fs::write(&self.path, text).unwrap();
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn open(&self, head: Head<'_>) -> Result<Conversation, HistoryError> {
        Conversation::open(&self.path, head, Some(&self.state()), Duration::ZERO)
    }

    pub fn shown(&self, head: Head<'_>) -> Result<Vec<Shown>, HistoryError> {
        self.open(head)?.shown().collect()
    }

    pub fn call(&self, name: &str, input: Value, head: Head<'_>) -> Outcome {
        run(&self.path, Some(&self.state()), name, &input, head)
    }
}

pub fn run(path: &Path, state_dir: Option<&Path>, name: &str, input: &Value, head: Head<'_>) -> Outcome {
    let context = Context {
        transcript: Some(path),
        head,
        state_dir,
        is_subagent: false,
        wait: Duration::ZERO,
    };
    tools::call(name, input, &context)
}

/// The data of an answer.
pub fn data(outcome: Outcome) -> Value {
    match outcome {
        Ok(answer) => answer.data,
        Err(refusal) => panic!("refused: {refusal:?}"),
    }
}

/// The code of a refusal.
pub fn code(outcome: Outcome) -> &'static str {
    match outcome {
        Ok(answer) => panic!("not refused: {}", answer.text),
        Err(refusal) => refusal.code,
    }
}

pub fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": "user", "content": text}})
}

pub fn call(uuid: &str, parent: &str, message: &str, id: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("run {id}")}});
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"id": message, "content": [block]}})
}

pub fn result(uuid: &str, parent: &str, id: &str, text: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": "user", "content": [block]}})
}

pub fn said(uuid: &str, parent: &str, text: &str) -> Value {
    let blocks = json!([{"type": "text", "text": text}]);
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"id": uuid, "content": blocks}})
}

pub fn boundary(uuid: &str, logical: &str) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": uuid,
        "parentUuid": null, "logicalParentUuid": logical, "sessionId": "s", "compactMetadata": {"trigger": "manual"}})
}

pub fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}
