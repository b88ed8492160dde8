//! What the tests share.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notesoup::history::tools::{self, Context};
use notesoup::history::{Conversation, Head, HistoryError, Shown};
use notesoup::outcome::Outcome;
use serde_json::Value;
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
        call(&self.path, Some(&self.state()), name, &input, head)
    }
}

pub fn call(path: &Path, state_dir: Option<&Path>, name: &str, input: &Value, head: Head<'_>) -> Outcome {
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
