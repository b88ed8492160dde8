//! A made-up transcript with the mix of rows that a client writes, for measuring.
//!
//! `cargo bench --bench history -- make FILE MEGABYTES` makes one, the same every time; `-- more FILE KILOBYTES` lets it
//! go on. `benches/history.sh` compares the program with `wc`, Node, `rg` and an event that does nothing.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and ends when something fails"
)]

use std::fs::OpenOptions;
use std::io::{BufWriter, Seek as _, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};

const WORDS: &[&str] = &[
    "alpha", "build", "test", "error", "warning", "compile", "module", "function", "value", "index", "table", "row",
    "column", "server", "client", "request", "response", "timeout", "retry", "config", "schema", "parse", "render",
    "window", "token", "reset", "note", "history", "branch", "commit", "merge",
];
const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A window ends after so many prompts.
const WINDOW: u64 = 60;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["make", file, megabytes] => make(Path::new(file), megabytes.parse::<u64>().unwrap() * 1_000_000),
        ["more", file, kilobytes] => more(Path::new(file), kilobytes.parse::<u64>().unwrap() * 1000),
        _ => println!("make FILE MEGABYTES, or more FILE KILOBYTES; benches/history.sh measures"),
    }
}

fn make(path: &Path, bytes: u64) {
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .open(path)
        .unwrap();
    let mut maker = Maker::new(BufWriter::new(file), 1, None);
    maker.line(&json!({"type": "mode", "mode": "normal", "sessionId": SESSION}));
    maker.fill(bytes);
}

/// Goes on behind the last row.
fn more(path: &Path, bytes: u64) {
    let mut file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let end = file.seek(SeekFrom::End(0)).unwrap();
    let text = std::fs::read(path).unwrap();
    let last = text.rsplit(|byte| *byte == b'\n').nth(1).unwrap();
    let last: Value = serde_json::from_slice(last).unwrap();
    let leaf = last["leafUuid"].as_str().map(str::to_owned);
    Maker::new(BufWriter::new(file), end, leaf).fill(bytes);
}

struct Maker<W: Write> {
    to: W,
    state: u64,
    written: u64,
    parent: Option<String>,
    seconds: i64,
}

impl<W: Write> Maker<W> {
    fn new(to: W, seed: u64, parent: Option<String>) -> Self {
        let state = seed;
        Self {
            to,
            state,
            written: 0,
            parent,
            seconds: 1_796_000_000,
        }
    }

    fn next(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next(most - least + 1)
    }

    /// Words of about so many bytes.
    fn text(&mut self, bytes: u64) -> String {
        let mut text = String::new();
        for _ in 0..(bytes / 6).max(1) {
            text.push_str(WORDS[usize::try_from(self.next(WORDS.len() as u64)).unwrap()]);
            text.push(' ');
        }
        text
    }

    fn uuid(&mut self) -> String {
        let mut part = |bits: u32| self.next(1 << bits);
        let (a, b, c, d, e, f) = (part(16), part(16), part(16), part(12), part(30), part(18));
        format!(
            "{a:04x}{b:04x}-{c:04x}-4{d:03x}-8{:03x}-{e:08x}{:04x}",
            f >> 6 & 0xfff,
            f & 0xffff
        )
    }

    fn line(&mut self, value: &Value) {
        let mut line = value.to_string();
        line.push('\n');
        self.written += line.len() as u64;
        self.to.write_all(line.as_bytes()).unwrap();
    }

    fn stamp(&mut self) -> String {
        self.seconds += i64::try_from(self.within(1, 40)).unwrap();
        let time = jiff::Timestamp::from_second(self.seconds).unwrap();
        time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
    }

    fn row(&mut self, kind: &str, more: Value) {
        let uuid = self.uuid();
        let mut row = json!({"parentUuid": self.parent, "type": kind});
        let all = row.as_object_mut().unwrap();
        if let Value::Object(more) = more {
            all.extend(more);
        }
        let frame = json!({
            "uuid": uuid, "timestamp": self.stamp(), "isSidechain": false, "userType": "external", "entrypoint": "cli",
            "cwd": "/proj/demo", "sessionId": SESSION, "version": "2.1.332", "gitBranch": "main",
        });
        if let Value::Object(frame) = frame {
            all.extend(frame);
        }
        self.line(&row);
        self.parent = Some(uuid);
    }

    fn assistant(&mut self, message: &str, block: Value) {
        self.row("assistant", json!({"message": {"id": message, "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [block], "usage": {"input_tokens": 12_000, "output_tokens": 50}}, "requestId": "req_x"}));
    }

    fn fill(&mut self, bytes: u64) {
        let mut prompts = 0;
        while self.written < bytes {
            prompts += 1;
            self.prompt(prompts);
            if prompts % WINDOW == 0 {
                self.boundary();
            }
        }
        let leaf = self.parent.clone();
        self.line(&json!({"type": "last-prompt", "lastPrompt": "Prompt", "leafUuid": leaf, "sessionId": SESSION}));
        self.to.flush().unwrap();
    }

    fn prompt(&mut self, number: u64) {
        let (id, stamp) = (self.uuid(), self.stamp());
        self.line(&json!({"type": "file-history-snapshot", "messageId": id, "snapshot": {"trackedFileBackups": {}, "timestamp": stamp}, "isSnapshotUpdate": false}));
        let length = self.within(40, 400);
        let words = self.text(length);
        self.row("user", json!({"message": {"role": "user", "content": format!("Prompt {number}: {words}")}, "promptSource": "typed", "origin": {"kind": "human"}}));
        self.row("attachment", json!({"attachment": {"type": "date", "date": "2026-12-01"},
            "rendered": [{"content": "<system-reminder>\nToday is a day.\n</system-reminder>"}], "renderedRole": "system"}));
        for _ in 0..self.within(1, 12) {
            self.call();
        }
        let (message, length) = (self.uuid(), self.within(100, 1500));
        let words = self.text(length);
        self.assistant(&message, json!({"type": "text", "text": words}));
        let ms = self.within(1000, 90_000);
        self.row(
            "system",
            json!({"subtype": "turn_duration", "durationMs": ms, "isMeta": false}),
        );
    }

    fn call(&mut self) {
        let (request, length) = (self.uuid(), self.within(200, 6000));
        self.line(
            &json!({"type": "api-request", "id": request, "querySource": "repl_main_thread", "shapeHash": ZEROS,
            "params": {"model": "claude-opus-5-5"}, "tail": [ZEROS], "requestDigest": ZEROS}),
        );
        let words = self.text(length);
        self.line(&json!({"type": "api-request-blob", "hash": ZEROS, "message": {"role": "user", "content": [{"type": "text", "text": words}]}}));
        let (message, id, length) = (self.uuid(), format!("toolu_{}", self.uuid()), self.within(30, 600));
        let words = self.text(length);
        self.assistant(&message, json!({"type": "text", "text": words}));
        let tool = ["Bash", "Read", "Grep", "Edit"][usize::try_from(self.next(4)).unwrap()];
        let (command, file) = (self.text(40), self.next(60));
        self.assistant(
            &message,
            json!({"type": "tool_use", "id": id, "name": tool,
            "input": {"command": command, "file_path": format!("/proj/demo/src/{file}.rs")}}),
        );
        let length = [80, 400, 3000, 12_000][usize::try_from(self.next(4)).unwrap()];
        let (output, is_error, stdout) = (self.text(length), self.next(20) == 0, self.text(600));
        self.row("user", json!({"message": {"role": "user", "content": [{"tool_use_id": id, "type": "tool_result", "content": output, "is_error": is_error}]},
            "toolUseResult": {"stdout": stdout, "stderr": ""}}));
    }

    fn boundary(&mut self) {
        let last = self.parent.take();
        self.row(
            "system",
            json!({"subtype": "compact_boundary", "logicalParentUuid": last, "content": "Conversation compacted",
            "level": "info", "compactMetadata": {"trigger": "auto", "preTokens": 160_000}}),
        );
        let words = self.text(4000);
        self.row(
            "user",
            json!({"message": {"role": "user", "content": format!("This conversation continues; summary: {words}")},
            "isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
        );
    }
}
