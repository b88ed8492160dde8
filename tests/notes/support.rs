//! A store in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use notesoup::notes::{Identity, Notes};
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

/// The folder of the session's notes.
pub const SESSION: &str = "pi/session/session-1";
/// The folder of the project's notes.
pub const PROJECT: &str = "project/work-11111111";
