//! Random transcripts with every kind of row and every shape of tree that a client was seen to write, and some that
//! none should.

use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

/// A made-up transcript.
pub struct Made {
    pub bytes: Vec<u8>,
    /// A uuid to use as the head.
    pub head: String,
    /// What each cut handed back, oldest first: uuids and call ids of each message.
    pub cuts: Vec<Vec<(Vec<String>, Vec<String>)>>,
}

/// How wild it gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Taste {
    /// What a client writes.
    Plausible,
    /// Also what must be refused, or never happens: missing parents, cycles, unknown rows, lines that are not JSON.
    Wild,
}

const WORDS: &[&str] = &[
    "alpha",
    "Beta",
    "gamma ray",
    "ΔELTA",
    "naïve",
    "日本",
    "🦀",
    "\"quoted\"",
    "back\\slash",
    "tab\t",
    "line\nbreak",
    "<tag>",
    "a/b",
    "\u{1f}",
    "\u{7f}",
    "ok",
    "continue",
    "ok",
    "result",
    "İstanbul",
];

#[derive(Clone)]
struct Known {
    uuid: String,
    fields: Vec<(String, Value)>,
}

struct Maker {
    rng: ChaCha8Rng,
    taste: Taste,
    /// Lines, in the order of the file.
    lines: Vec<String>,
    /// Rows of the tree, in the order they were made.
    rows: Vec<Known>,
    /// The rows of the branch at hand.
    branch: Vec<usize>,
    /// Where the window at hand begins in `branch`.
    window: usize,
    leaf: Option<String>,
    /// Lines that are written later.
    late: Vec<String>,
    time: i64,
    count: u64,
    ordinal: u32,
    cuts: Vec<Vec<(Vec<String>, Vec<String>)>>,
}

/// Makes a transcript of about `size` steps.
pub fn make(seed: u64, size: usize, taste: Taste) -> Made {
    let mut maker = Maker {
        rng: ChaCha8Rng::seed_from_u64(seed),
        taste,
        lines: Vec::new(),
        rows: Vec::new(),
        branch: Vec::new(),
        window: 0,
        leaf: None,
        late: Vec::new(),
        time: 1_796_000_000,
        count: 0,
        ordinal: 0,
        cuts: Vec::new(),
    };
    for _ in 0..size {
        maker.step();
    }
    if maker.leaf.is_none() {
        maker.prompt();
    }
    maker.finish()
}

impl Maker {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn wild(&mut self, percent: u32) -> bool {
        self.taste == Taste::Wild && self.chance(percent)
    }

    fn uuid(&mut self) -> String {
        self.count += 1;
        // Some clients' ids are no UUIDs.
        if self.chance(3) {
            return format!("row-{}", self.count);
        }
        let bits: u128 = self.rng.random();
        let hex = format!("{bits:032x}");
        format!(
            "{}-{}-4{}-a{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..]
        )
    }

    fn text(&mut self) -> String {
        let count = self.rng.random_range(1..6);
        let words: Vec<&str> = (0..count).map(|_| *WORDS.choose(&mut self.rng).unwrap()).collect();
        words.join(" ")
    }

    fn stamp(&mut self) -> String {
        self.time += self.rng.random_range(-3..60);
        let seconds = self.time % 86400;
        format!(
            "2026-12-01T{:02}:{:02}:{:02}.000Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }

    /// Writes a row; its fields come in any order.
    fn write(&mut self, mut fields: Vec<(String, Value)>) {
        if self.chance(30) {
            fields.shuffle(&mut self.rng);
        }
        let spaced = self.chance(10);
        let mut line = String::from("{");
        for (at, (name, value)) in fields.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            if self.chance(2) {
                // The last of two equal names counts.
                line.push_str(&format!(
                    "{}:{},",
                    json!(name),
                    json!({"uuid": "not me", "type": "user"})
                ));
            }
            let separator = if spaced { " : " } else { ":" };
            line.push_str(&format!("{}{separator}{value}", json!(name)));
        }
        line.push('}');
        self.lines.push(line);
    }

    /// Adds a row to the tree behind the leaf.
    fn row(&mut self, kind: &str, more: Vec<(&str, Value)>) -> String {
        let uuid = self.uuid();
        let parent = self.leaf.clone();
        self.row_with(&uuid, parent, kind, more);
        self.leaf = Some(uuid.clone());
        uuid
    }

    fn row_with(&mut self, uuid: &str, parent: Option<String>, kind: &str, more: Vec<(&str, Value)>) {
        let stamp = self.stamp();
        let mut fields = vec![
            ("parentUuid".to_owned(), json!(parent)),
            ("isSidechain".to_owned(), json!(false)),
            ("type".to_owned(), json!(kind)),
        ];
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        fields.push(("uuid".to_owned(), json!(uuid)));
        fields.push(("timestamp".to_owned(), json!(stamp)));
        fields.push(("sessionId".to_owned(), json!("session")));
        self.branch.push(self.rows.len());
        self.rows.push(Known {
            uuid: uuid.to_owned(),
            fields: fields.clone(),
        });
        self.write(fields);
    }

    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..16 => self.prompt(),
            16..44 => self.response(),
            44..54 => self.attachment(),
            54..60 => self.system(),
            60..70 => self.bookkeeping(),
            70..75 => self.context_row(),
            75..79 => self.rewind(),
            79..83 => self.compaction(),
            83..86 => self.prune(),
            86..88 => self.fresh(),
            88..91 => self.sidechain(),
            91..94 => self.repeat(),
            94..96 => {
                self.row("progress", vec![("data", json!({"type": "hook_progress"}))]);
            }
            _ => self.oddity(),
        }
        if self.chance(30) {
            let late = std::mem::take(&mut self.late);
            self.lines.extend(late);
        }
    }

    fn typed(&mut self) -> Vec<(&'static str, Value)> {
        vec![
            ("origin", json!({"kind": "human"})),
            ("promptSource", json!("typed")),
            ("permissionMode", json!("default")),
        ]
    }

    fn prompt(&mut self) {
        let text = self.text();
        let content = match self.rng.random_range(0..6) {
            0 => json!([{"type": "text", "text": text}]),
            1 => json!([
                {"type": "text", "text": text},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                {"type": "text", "text": " \n"},
            ]),
            _ => json!(text),
        };
        let mut more = if self.chance(70) { self.typed() } else { Vec::new() };
        more.push(("message", json!({"role": "user", "content": content})));
        self.row("user", more);
    }

    fn message(&mut self, id: &str, block: Value) -> String {
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "content": [block],
            "usage": {"input_tokens": self.count, "output_tokens": 5, "iterations": [{"id": "x"}]},
        });
        self.row("assistant", vec![("message", message), ("requestId", json!("req"))])
    }

    fn response(&mut self) {
        self.count += 1;
        let id = format!("msg_{}", self.count);
        if self.chance(25) {
            self.message(
                &id,
                json!({"type": "thinking", "thinking": "never shown", "signature": "s"}),
            );
        }
        if self.chance(70) {
            let text = if self.chance(8) { "\n\n".to_owned() } else { self.text() };
            self.message(&id, json!({"type": "text", "text": text}));
        }
        let calls = if self.chance(55) {
            self.rng.random_range(1..4)
        } else {
            0
        };
        let mut open = Vec::new();
        for _ in 0..calls {
            self.count += 1;
            let call = format!("toolu_{}", self.count);
            let name = *["Bash", "Read", "Edit", "mcp__x__y"].choose(&mut self.rng).unwrap();
            let input = match self.rng.random_range(0..4) {
                0 => json!({}),
                1 => json!({"command": self.text(), "timeout": 5, "nested": {"a": ["b\"", 1.5e3, null]}}),
                _ => json!({"file_path": "/a/b.rs", "content": self.text()}),
            };
            let block = json!({"type": "tool_use", "id": call, "name": name, "input": input});
            // A result may reach the file before its call.
            if self.chance(5) {
                let row = self.message(&id, block);
                let line = self.lines.pop().unwrap();
                self.result(std::slice::from_ref(&call), Some(row));
                self.lines.push(line);
                continue;
            }
            let row = self.message(&id, block);
            open.push((call, row));
        }
        if self.chance(30) && calls > 0 {
            let text = self.text();
            self.message(&id, json!({"type": "text", "text": text}));
        }
        let finished = !self.chance(6);
        if open.len() > 1 && self.chance(20) {
            // All results in one row.
            let ids: Vec<String> = open.iter().map(|(call, _)| call.clone()).collect();
            self.result(&ids, None);
        } else if finished {
            for (call, row) in open {
                // Each hangs off its own call; the conversation goes on behind the last.
                let parent = if self.chance(80) { Some(row) } else { None };
                self.result(&[call], parent);
            }
        }
    }

    fn result(&mut self, calls: &[String], parent: Option<String>) {
        let blocks: Vec<Value> = calls
            .iter()
            .map(|call| {
                let content = match self.rng.random_range(0..7) {
                    0 => json!([{"type": "text", "text": self.text()}, {"type": "text", "text": self.text()}]),
                    1 => json!([
                        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/4A=="}},
                        {"type": "tool_reference", "tool_name": "X"},
                    ]),
                    2 => json!(""),
                    _ => json!(self.text()),
                };
                let mut block = json!({"tool_use_id": call, "type": "tool_result", "content": content});
                if self.chance(30) {
                    block["is_error"] = json!(self.chance(50));
                }
                block
            })
            .collect();
        let uuid = self.uuid();
        let parent = parent.or_else(|| self.leaf.clone());
        let message = json!({"role": "user", "content": blocks});
        let more = vec![
            ("message", message),
            ("toolUseResult", json!({"stdout": "{\"uuid\":\"no\"}", "stderr": ""})),
        ];
        self.row_with(&uuid, parent, "user", more);
        self.leaf = Some(uuid);
    }

    fn attachment(&mut self) {
        let text = self.text();
        let reminder = json!([{"content": format!("<system-reminder>\n{text}\n</system-reminder>")}]);
        let more = match self.rng.random_range(0..8) {
            0 => vec![(
                "attachment",
                json!({"type": "prompt_snapshot", "systemPrompt": ["secret payload"]}),
            )],
            1 => vec![
                (
                    "attachment",
                    json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"}),
                ),
                ("rendered", json!([{"content": format!("The user sent: {text}")}])),
            ],
            2 => vec![("attachment", json!({"type": "queued_command", "prompt": text}))],
            3 => vec![
                (
                    "attachment",
                    json!({"type": "queued_command", "prompt": text, "commandMode": "task-notification"}),
                ),
                ("rendered", reminder),
            ],
            4 => vec![
                ("attachment", json!({"type": "total_tokens_reminder", "text": text})),
                ("rendered", reminder),
            ],
            5 => vec![
                (
                    "attachment",
                    json!({"type": "file", "content": {"file": {"content": text}}}),
                ),
                (
                    "rendered",
                    json!([{"content": "Called the Read tool"}, {"content": [{"type": "text", "text": text}]}]),
                ),
                ("renderedRole", json!("user")),
            ],
            6 => vec![
                ("attachment", json!({"type": "date", "date": "2026-12-01"})),
                ("rendered", json!([])),
            ],
            _ => {
                let boot = self.boot(self.ordinal);
                vec![
                    (
                        "attachment",
                        json!({"type": "hook_additional_context", "content": [boot]}),
                    ),
                    (
                        "rendered",
                        json!([{"content": format!("<system-reminder>\nSessionStart: {boot}\n</system-reminder>")}]),
                    ),
                ]
            }
        };
        self.row("attachment", more);
    }

    fn boot(&mut self, ordinal: u32) -> String {
        format!(
            "<notesoup window=\"claude:session:{ordinal}\">\n{}\n</notesoup>",
            self.text()
        )
    }

    fn system(&mut self) {
        let text = self.text();
        let more = match self.rng.random_range(0..3) {
            0 => vec![
                ("subtype", json!("turn_duration")),
                ("durationMs", json!(5)),
                ("isMeta", json!(false)),
            ],
            1 => vec![
                ("subtype", json!("local_command")),
                ("content", json!(text)),
                ("level", json!("info")),
            ],
            _ => vec![
                ("subtype", json!("api_error")),
                ("error", json!({"message": text})),
                ("content", Value::Null),
            ],
        };
        self.row("system", more);
    }

    fn context_row(&mut self) {
        let text = self.text();
        let echo = [
            "<command-name>/x</command-name>",
            "<local-command-stdout>y",
            "<task-notification>z",
            "  <system-reminder>",
        ];
        let more = match self.rng.random_range(0..4) {
            0 => vec![
                ("isMeta", json!(true)),
                ("message", json!({"role": "user", "content": text})),
            ],
            1 => {
                let text = format!("{}{text}", echo.choose(&mut self.rng).unwrap());
                let mut more = if self.chance(20) { self.typed() } else { Vec::new() };
                more.push(("message", json!({"role": "user", "content": text})));
                more
            }
            2 => vec![
                ("origin", json!({"kind": "task-notification"})),
                ("message", json!({"role": "user", "content": text})),
            ],
            _ => vec![("message", json!({"role": "user", "content": "   "}))],
        };
        self.row("user", more);
    }

    fn bookkeeping(&mut self) {
        let name = *[
            "api-request",
            "api-request-blob",
            "file-history-snapshot",
            "last-prompt",
            "summary",
            "brand-new",
        ]
        .choose(&mut self.rng)
        .unwrap();
        let nested =
            json!({"uuid": "nested", "parentUuid": "nowhere", "type": "user", "message": {"content": self.text()}});
        let fields = vec![
            ("type".to_owned(), json!(name)),
            ("leafUuid".to_owned(), json!(self.leaf)),
            ("sessionId".to_owned(), json!("session")),
            ("payload".to_owned(), json!([nested, [[[{"a": self.text()}]]]])),
            (
                "message".to_owned(),
                json!({"role": "user", "content": [{"type": "tool_use", "id": "toolu_no"}]}),
            ),
        ];
        self.write(fields);
    }

    fn rewind(&mut self) {
        let Some(at) = (!self.branch.is_empty()).then(|| self.rng.random_range(0..self.branch.len())) else {
            return;
        };
        self.branch.truncate(at + 1);
        self.window = self.window.min(self.branch.len());
        self.leaf = Some(self.rows[self.branch[at]].uuid.clone());
    }

    fn boundary(&mut self, metadata: Value) {
        let last = self.leaf.take();
        let mut more = vec![
            ("subtype", json!("compact_boundary")),
            ("content", json!("Conversation compacted")),
            ("compactMetadata", metadata),
        ];
        if let Some(last) = last {
            more.push(("logicalParentUuid", json!(last)));
        }
        // The tail of the old window may reach the file behind the boundary.
        let tail = if self.chance(20) { self.lines.pop() } else { None };
        self.row("system", more);
        self.late.extend(tail);
        self.window = self.branch.len();
        self.ordinal += 1;
    }

    fn compaction(&mut self) {
        let window: Vec<usize> = self.branch[self.window.min(self.branch.len())..].to_vec();
        let count = self.rng.random_range(0..=window.len().min(4));
        let kept: Vec<Known> = window[window.len() - count..]
            .iter()
            .map(|row| self.rows[*row].clone())
            .collect();
        let mut uuids: Vec<String> = kept.iter().map(|row| row.uuid.clone()).collect();
        if self.chance(20) {
            uuids.push("never-written".to_owned());
        }
        let mut metadata = json!({"trigger": "auto", "preTokens": 5});
        let summary = self.uuid();
        if count > 0 && self.chance(80) {
            metadata["preservedSegment"] =
                json!({"headUuid": uuids[0], "anchorUuid": summary, "tailUuid": kept[count - 1].uuid});
            metadata["preservedMessages"] = json!({"anchorUuid": summary, "uuids": uuids, "allUuids": uuids});
        }
        self.boundary(metadata);
        if self.chance(85) {
            let text = self.text();
            let parent = self.leaf.clone();
            let more = vec![
                ("isCompactSummary", json!(true)),
                ("isVisibleInTranscriptOnly", json!(true)),
                (
                    "message",
                    json!({"role": "user", "content": format!("Summary: {text}")}),
                ),
            ];
            self.row_with(&summary, parent, "user", more);
            self.leaf = Some(summary);
        }
        if self.chance(40) {
            // The kept rows are written again, the first behind the summary.
            for row in kept {
                let mut fields = row.fields;
                let leaf = self.leaf.clone();
                for (name, value) in &mut fields {
                    if name == "parentUuid" {
                        *value = json!(leaf);
                    }
                }
                self.write(fields);
                self.leaf = Some(row.uuid);
            }
        }
        if self.chance(50) {
            self.attachment();
        }
    }

    /// The conversation of the window is handed back, its results cut.
    fn prune(&mut self) {
        let window: Vec<Known> = self.branch[self.window.min(self.branch.len())..]
            .iter()
            .map(|row| self.rows[*row].clone())
            .collect();
        self.boundary(json!({"trigger": "manual"}));
        let mut cut = Vec::new();
        for row in window {
            let field = |name: &str| {
                let found = row.fields.iter().rev().find(|(own, _)| own == name);
                found.map_or(Value::Null, |(_, value)| value.clone())
            };
            let kind = field("type");
            let content = field("message")["content"].clone();
            let mut calls = Vec::new();
            let message = match (kind.as_str(), &content) {
                (Some("user"), Value::String(text)) if !text.trim().is_empty() => {
                    json!({"role": "user", "content": text})
                }
                (Some("user"), Value::Array(blocks)) if blocks.iter().any(|block| block["type"] == "tool_result") => {
                    let cut: Vec<Value> = blocks
                        .iter()
                        .map(|block| {
                            calls.push(block["tool_use_id"].as_str().unwrap().to_owned());
                            json!({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": "[cut]"})
                        })
                        .collect();
                    json!({"role": "user", "content": cut})
                }
                (Some("assistant"), Value::Array(blocks)) if blocks[0]["type"] != "thinking" => {
                    calls.extend(blocks[0]["id"].as_str().map(str::to_owned));
                    self.count += 1;
                    json!({"id": format!("copy-{}", self.count), "role": "assistant", "content": blocks})
                }
                _ => continue,
            };
            let mut more = vec![("message", message)];
            if kind == "user" && self.chance(50) {
                more.push(("rowSource", json!("hook")));
            }
            self.row(kind.as_str().unwrap(), more);
            cut.push((vec![row.uuid.clone()], calls));
        }
        self.cuts.push(cut);
        if self.chance(70) {
            let text = "<local-command-caveat>The command";
            self.row(
                "user",
                vec![
                    ("isMeta", json!(true)),
                    ("message", json!({"role": "user", "content": text})),
                ],
            );
            let boot = self.boot(self.ordinal);
            self.row(
                "attachment",
                vec![
                    (
                        "attachment",
                        json!({"type": "hook_additional_context", "content": [boot]}),
                    ),
                    ("rendered", json!([{"content": boot}])),
                ],
            );
        }
    }

    /// A fresh window: a line of ours, then the prompt that was being worked on.
    fn fresh(&mut self) {
        let prompt = self.branch[self.window.min(self.branch.len())..]
            .iter()
            .rev()
            .find_map(|row| {
                let row = &self.rows[*row];
                let value = |name: &str| {
                    row.fields
                        .iter()
                        .find(|(own, _)| own == name)
                        .map(|(_, value)| value.clone())
                };
                let content = value("message")?["content"].as_str()?.to_owned();
                (value("type")? == "user" && value("isMeta").is_none() && !content.trim().is_empty())
                    .then(|| (row.uuid.clone(), content))
            });
        self.boundary(json!({"trigger": "manual"}));
        let hook = self.chance(60);
        let mut cut = vec![(Vec::new(), Vec::new())];
        let mut texts = vec![format!("Window {} begins here.", self.ordinal)];
        if let Some((uuid, text)) = prompt {
            cut.push((vec![uuid], Vec::new()));
            texts.push(text);
        }
        for text in texts {
            let mut more = vec![("message", json!({"role": "user", "content": text}))];
            if hook {
                more.push(("rowSource", json!("hook")));
            }
            self.row("user", more);
        }
        self.cuts.push(cut);
    }

    fn sidechain(&mut self) {
        let uuid = self.uuid();
        let parent = if self.chance(50) { self.leaf.clone() } else { None };
        let text = self.text();
        let mut fields = vec![
            ("parentUuid".to_owned(), json!(parent)),
            ("isSidechain".to_owned(), json!(true)),
            ("type".to_owned(), json!("user")),
            ("message".to_owned(), json!({"role": "user", "content": text})),
            ("uuid".to_owned(), json!(uuid)),
        ];
        if self.chance(50) {
            self.count += 1;
            let blocks =
                json!([{"type": "tool_use", "id": format!("toolu_side_{}", self.count), "name": "Grep", "input": {}}]);
            fields[2].1 = json!("assistant");
            fields[3].1 = json!({"id": format!("msg_side_{}", self.count), "role": "assistant", "content": blocks});
        }
        self.write(fields);
    }

    /// A row that was there before comes again, as it was or with another parent.
    fn repeat(&mut self) {
        let Some(row) = self.branch.choose(&mut self.rng).map(|row| self.rows[*row].clone()) else {
            return;
        };
        let mut fields = row.fields;
        if self.wild(40) {
            let other = self.rows.choose(&mut self.rng).map(|row| row.uuid.clone());
            for (name, value) in &mut fields {
                if name == "parentUuid" {
                    *value = json!(other);
                }
            }
        }
        self.write(fields);
    }

    fn oddity(&mut self) {
        match self.rng.random_range(0..9) {
            0 => self.lines.push(String::new()),
            1 => self.lines.push("  ".to_owned()),
            2 => {
                if self.lines.len() > 2 {
                    // Two objects on one line.
                    let last = self.lines.pop().unwrap();
                    self.lines.last_mut().unwrap().push_str(&last);
                }
            }
            3 => {
                // A branch that nobody is on.
                let leaf = self.leaf.clone();
                let branch = self.branch.clone();
                self.prompt();
                self.response();
                self.branch = branch;
                self.leaf = leaf;
            }
            4 if self.wild(30) => {
                self.leaf = Some("nowhere".to_owned());
            }
            5 if self.wild(60) => {
                self.row("brand-new-kind", vec![("message", json!({"content": "?"}))]);
            }
            6 if self.wild(60) => {
                self.message("msg_odd", json!({"type": "hologram", "data": 1}));
            }
            7 if self.wild(20) => self.lines.push("{\"type\":\"user\",\"uuid\":\"torn".to_owned()),
            8 if self.wild(50) => {
                // A row that names one to come, or itself.
                let uuid = self.uuid();
                let next = self.uuid();
                let text = self.text();
                let content = vec![("message", json!({"role": "user", "content": text}))];
                self.row_with(&uuid, Some(next.clone()), "user", content.clone());
                let parent = if self.chance(50) { Some(uuid) } else { self.leaf.clone() };
                self.row_with(&next, parent, "user", content);
                self.leaf = Some(next);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Made {
        self.lines.append(&mut self.late);
        let head = match &self.leaf {
            Some(leaf) if self.rng.random_range(0..100) < 80 => leaf.clone(),
            _ => self
                .rows
                .choose(&mut self.rng)
                .map_or_else(|| "nowhere".to_owned(), |row| row.uuid.clone()),
        };
        let mut bytes = Vec::new();
        if self.chance(10) {
            bytes.extend_from_slice(b"\xef\xbb\xbf");
        }
        let end: &[u8] = if self.chance(10) { b"\r\n" } else { b"\n" };
        for line in &self.lines {
            bytes.extend_from_slice(line.as_bytes());
            bytes.extend_from_slice(end);
        }
        if self.chance(15) {
            bytes.truncate(bytes.len() - end.len());
        } else if self.chance(15) {
            bytes.extend_from_slice(b"{\"type\":\"user\",\"uuid\":\"half");
        }
        Made {
            bytes,
            head,
            cuts: self.cuts,
        }
    }
}
