//! A session that is fed by rows of JSON, as an SDK does it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::{Value, json};

use super::PATIENCE;
use super::client::collect;

/// A running stream-json session. Prompts go in, rows come out.
pub struct Stream {
    child: Child,
    to: Option<ChildStdin>,
    rows: Receiver<Value>,
    seen: Vec<Value>,
    errors: Option<JoinHandle<String>>,
}

impl Stream {
    pub(super) fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client starts");
        let to = child.stdin.take();
        let errors = Some(collect(child.stderr.take()));
        let from = BufReader::new(child.stdout.take().unwrap());
        let (send, rows) = channel();
        thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                if let Ok(row) = serde_json::from_str(&line)
                    && send.send(row).is_err()
                {
                    break;
                }
            }
        });
        Self {
            child,
            to,
            rows,
            seen: Vec::new(),
            errors,
        }
    }

    /// Sends a prompt and does not wait.
    #[track_caller]
    pub fn send(&mut self, prompt: &str) {
        let row = json!({"type": "user", "message": {"role": "user", "content": prompt}});
        let to = self.to.as_mut().expect("the session is still open");
        writeln!(to, "{row}")
            .and_then(|()| to.flush())
            .expect("the client reads its input");
    }

    /// Sends a prompt and waits for the turn's result row.
    #[track_caller]
    pub fn ask(&mut self, prompt: &str) -> Value {
        self.send(prompt);
        self.wait_for("result")
    }

    /// Waits for the next row of a type.
    #[track_caller]
    pub fn wait_for(&mut self, kind: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(row) = self.rows.recv_timeout(left) else {
                panic!(
                    "no row of type {kind}; the last of {}: {:?}",
                    self.seen.len(),
                    self.seen.last()
                );
            };
            self.seen.push(row.clone());
            if row["type"] == kind {
                return row;
            }
        }
    }

    /// Every row seen so far.
    pub fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// Ends the input, waits for the client's end, and returns what it said on standard error.
    #[track_caller]
    pub fn finish(mut self) -> String {
        drop(self.to.take());
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "the client did not end with its input");
            thread::sleep(std::time::Duration::from_millis(10));
        }
        self.errors
            .take()
            .map(|errors| errors.join().unwrap())
            .unwrap_or_default()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
