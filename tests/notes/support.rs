//! A store in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use notesoup::notes::{Identity, Notes};
use notesoup::outcome::{self, MAX_BYTES, Refusal};
use serde_json::Value;
use tempfile::TempDir;

/// A notes root, a working folder and a state folder that vanish with the test.
pub struct Store {
    pub temp: TempDir,
}

impl Store {
    pub fn new() -> Self {
        // Memory where there is some: the tests sync thousands of files.
        let memory = Path::new("/dev/shm");
        let temp = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
        fs::create_dir(temp.path().join("work")).unwrap();
        Self { temp }
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().join("notes")
    }

    pub fn identity(&self) -> Identity {
        Identity {
            root: self.root(),
            session_id: "session-1".into(),
            cwd: self.temp.path().join("work"),
            agent: String::new(),
            model: Some("claude-opus-4-1".into()),
            project: Some("work-11111111".into()),
            state_dir: Some(self.temp.path().join("state")),
        }
    }

    pub fn notes(&self) -> Notes {
        Notes::open(self.identity())
    }

    /// The file of a path below the root.
    pub fn file(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Puts a file there without the store.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let file = self.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
        file
    }
}

/// Runs a tool that must succeed, and gives its data.
pub fn ok(notes: &Notes, tool: &str, input: Value) -> Value {
    match notes.call(tool, &input) {
        Ok(answer) => {
            assert!(answer.text.len() <= MAX_BYTES, "text of {} bytes", answer.text.len());
            let json = outcome::to_json(&Ok(answer.clone())).to_string();
            assert!(json.len() <= MAX_BYTES, "JSON of {} bytes", json.len());
            answer.data
        }
        Err(refusal) => panic!("{tool} {input} refused: {refusal:?}"),
    }
}

/// Runs a tool that must refuse, and gives the refusal.
pub fn refused(notes: &Notes, tool: &str, input: Value) -> Refusal {
    match notes.call(tool, &input) {
        Ok(answer) => panic!("{tool} {input} answered: {}", answer.text),
        Err(refusal) => {
            let outcome = Err(refusal.clone());
            assert!(outcome::to_text(&outcome).len() <= MAX_BYTES);
            assert!(outcome::to_json(&outcome).to_string().len() <= MAX_BYTES);
            refusal
        }
    }
}

/// The folder of the session's notes.
pub const SESSION: &str = "pi/session/session-1";
/// The folder of the project's notes.
pub const PROJECT: &str = "project/work-11111111";
