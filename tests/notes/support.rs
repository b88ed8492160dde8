//! A store in a folder of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::SystemTime;

use notesoup::notes::{Identity, Notes};
use notesoup::outcome::{self, MAX_BYTES, Refusal};
use serde_json::{Value, json};
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

    /// The folder of the project's notes, below the root.
    pub fn project(&self) -> String {
        format!("project/{}", self.notes().homes().project().unwrap().key)
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
/// The program at work on a store: tools in, outcomes out, as another process would.
pub struct Worker {
    pub child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Worker {
    pub fn start(store: &Store) -> Self {
        let mut child = store
            .program(&["notes", "call"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Read all along, so that neither side waits for the other with full pipes.
        let (lines, output) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            output,
            child,
        }
    }

    /// Hands in a call without waiting; `false` when the process is gone.
    pub fn send(&mut self, tool: &str, input: &Value) -> bool {
        let line = json!({ "tool": tool, "input": input });
        self.input
            .as_mut()
            .is_some_and(|stdin| writeln!(stdin, "{line}").is_ok())
    }

    /// The next outcome; nothing when the process ends before one is written whole.
    pub fn receive(&mut self) -> Option<Value> {
        serde_json::from_str(&self.output.recv().ok()?).ok()
    }

    pub fn call(&mut self, tool: &str, input: &Value) -> Option<Value> {
        self.send(tool, input).then(|| self.receive())?
    }

    /// Closes the input and waits for the end.
    pub fn finish(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Store {
    /// The program on this store, in an environment of its own.
    pub fn program(&self, args: &[&str]) -> Command {
        let mut command = self.as_typed(args);
        command
            .args(["--session", "session-1", "--project", "work-11111111"])
            .args(["--model", "claude-opus-4-1"]);
        command
    }

    /// The program with nothing that says whose notes are meant.
    pub fn as_typed(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_notesoup"));
        let home = self.temp.path();
        command
            .env_clear()
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("xdg-state"))
            .current_dir(home.join("work"))
            .args(["--notes-home".as_ref(), self.root().as_os_str()])
            .args(args);
        command
    }

    /// Every file below the root that is none of a note: but for the history and its locks.
    pub fn litter(&self) -> Vec<PathBuf> {
        let mut litter = Vec::new();
        let mut pending = vec![self.root()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let in_history = path.starts_with(self.file(".versions"));
                let name = path.file_name().unwrap().to_str().unwrap();
                if path.is_dir() {
                    pending.push(path);
                } else if !(name.ends_with(".md")
                    || in_history && name.ends_with(".to")
                    || path.starts_with(self.file(".versions/.locks")))
                {
                    litter.push(path);
                }
            }
        }
        litter
    }
}

/// A plain source of chance that a failure can be repeated with.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Seeded from outside by `NOTESOUP_TEST_SEED`; else another run, another order.
    pub fn new() -> Self {
        let given = std::env::var("NOTESOUP_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            now.as_nanos() as u64
        });
        println!("NOTESOUP_TEST_SEED={seed}");
        Self(seed)
    }
}
