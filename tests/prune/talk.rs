//! A made-up conversation, as the client's event carries it and as its transcript holds it.

use std::io::Write as _;
use std::path::Path;

use notesoup::prune::{CompactEvent, PruneInput, PruneOptions, PruneOutcome, Report, run};
use notesoup::wire::{MessageSpec, TextSpec};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A conversation that grows row by row; entries of the event grow beside it.
#[derive(Debug, Clone, Default)]
pub struct Talk {
    pub rows: Vec<Value>,
    pub entries: Vec<Value>,
    count: usize,
    parent: Option<String>,
    response: usize,
    tokens: Option<u64>,
    salt: String,
}

impl Talk {
    pub fn new() -> Self {
        Self::default()
    }

    fn uuid(&mut self) -> String {
        self.count += 1;
        format!(
            "00000000-0000-4000-8000-{}{:011}",
            if self.salt.is_empty() { "0" } else { &self.salt },
            self.count
        )
    }

    /// Adds a row and makes it the parent of the next.
    pub fn row(&mut self, mut row: Value) -> String {
        let uuid = self.uuid();
        row["uuid"] = json!(uuid);
        row["parentUuid"] = json!(self.parent);
        row["isSidechain"] = json!(false);
        self.rows.push(row);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Further rows hang behind the row with this uuid.
    pub fn go_on_from(&mut self, uuid: Value) {
        self.parent = uuid.as_str().map(str::to_owned);
        self.response += 1_000;
        self.count += 1_000;
    }

    fn entry(&mut self, handle: &str, mut entry: Value) {
        entry["handle"] = json!(handle);
        self.entries.push(entry);
    }

    pub fn prompt(&mut self, text: &str) -> &mut Self {
        let row = self.row(json!({
            "type": "user", "message": { "role": "user", "content": text }, "origin": { "kind": "human" },
        }));
        self.entry(&row, json!({ "role": "user", "text": text, "toolUses": [] }));
        self
    }

    /// A row of the user's side that is not the person's and that the event carries.
    pub fn notification(&mut self, text: &str) -> &mut Self {
        let row = self.row(json!({
            "type": "user", "message": { "role": "user", "content": text }, "origin": { "kind": "task-notification" },
        }));
        self.entry(&row, json!({ "role": "user", "text": text, "toolUses": [] }));
        self
    }

    /// The rows of a local command: the caveat, the command, its output.
    pub fn command(&mut self, name: &str) -> &mut Self {
        self.row(json!({
            "type": "user", "isMeta": true,
            "message": { "role": "user", "content": "<local-command-caveat>Not for you.</local-command-caveat>" },
        }));
        for text in [
            format!("<command-name>/{name}</command-name>\n<command-message>{name}</command-message>"),
            "<local-command-stdout>done</local-command-stdout>".to_owned(),
        ] {
            let row = self.row(json!({ "type": "user", "message": { "role": "user", "content": text } }));
            self.entry(&row, json!({ "role": "user", "text": text, "toolUses": [] }));
        }
        self
    }

    /// A row that the event leaves out: the text of a skill.
    pub fn meta(&mut self, text: &str) -> &mut Self {
        self.row(json!({
            "type": "user", "isMeta": true,
            "message": { "role": "user", "content": [{ "type": "text", "text": text }] },
        }));
        self
    }

    /// A prompt typed while the model worked.
    pub fn queued(&mut self, text: &str) -> &mut Self {
        let shown = format!("<system-reminder>\nThe user sent a new message:\n{text}\n</system-reminder>");
        self.row(json!({
            "type": "attachment", "rendered": [{ "content": shown }], "renderedRole": "system",
            "attachment": {
                "type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": { "kind": "human" },
            },
        }));
        self
    }

    /// The reading of an `@` mention.
    pub fn file(&mut self, path: &str, text: &str) -> &mut Self {
        let shown = format!("<system-reminder>\nResult of calling the Read tool:\n{text}\n</system-reminder>");
        self.row(json!({
            "type": "attachment", "rendered": [{ "content": shown }], "renderedRole": "user",
            "attachment": { "type": "file", "filename": path },
        }));
        self
    }

    /// Input tokens of the requests from here on, each 0 more than said; `None`: rows without usage.
    pub fn tokens(&mut self, tokens: u64) -> &mut Self {
        self.tokens = Some(tokens);
        self
    }

    /// Begins a new response.
    pub fn respond(&mut self) -> &mut Self {
        self.response += 1;
        self
    }

    fn block(&mut self, block: Value) -> String {
        let mut message =
            json!({ "id": format!("msg_{}{}", self.salt, self.response), "role": "assistant", "content": [block] });
        if let Some(tokens) = self.tokens {
            message["usage"] = json!({ "input_tokens": 3, "cache_read_input_tokens": tokens - 3, "output_tokens": 1 });
        }
        self.row(json!({ "type": "assistant", "message": message }))
    }

    pub fn says(&mut self, text: &str) -> &mut Self {
        let row = self.block(json!({ "type": "text", "text": text }));
        self.entry(&row, json!({ "role": "assistant", "text": text, "toolUses": [] }));
        self
    }

    pub fn thinks(&mut self, text: &str) -> &mut Self {
        let row = self.block(json!({ "type": "thinking", "thinking": text, "signature": "x" }));
        self.entry(&row, json!({ "role": "assistant", "text": "", "toolUses": [] }));
        self
    }

    /// A call of the response at hand.
    pub fn calls(&mut self, id: &str, tool: &str, input: Value) -> &mut Self {
        let row = self.block(json!({ "type": "tool_use", "id": id, "name": tool, "input": input }));
        self.entry(
            &row,
            json!({ "role": "assistant", "text": "", "toolUses": [{ "tool_use_id": id, "tool": tool, "input": input }] }),
        );
        self
    }

    pub fn answered(&mut self, id: &str, text: &str) -> &mut Self {
        self.result(id, text, false)
    }

    pub fn failed(&mut self, id: &str, text: &str) -> &mut Self {
        self.result(id, text, true)
    }

    fn result(&mut self, id: &str, text: &str, is_error: bool) -> &mut Self {
        let row = self.row(json!({
            "type": "user",
            "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error },
            ] },
            "toolUseResult": { "stdout": text },
        }));
        self.entry(
            &row,
            json!({
                "role": "user", "text": "", "toolUses": [],
                "toolResults": [
                    { "tool_use_id": id, "text": text, "isError": is_error, "result": { "stdout": text } },
                ],
            }),
        );
        self
    }

    /// A result of an image alone.
    pub fn image(&mut self, id: &str) -> &mut Self {
        let row = self.row(json!({
            "type": "user",
            "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": [{ "type": "image", "source": { "data": "AAAA" } }] },
            ] },
        }));
        self.entry(
            &row,
            json!({
                "role": "user", "text": "", "toolUses": [],
                "toolResults": [{ "tool_use_id": id, "text": "", "isError": false, "result": { "type": "image" } }],
            }),
        );
        self
    }

    /// A response with one call and its result.
    pub fn step(&mut self, id: &str, tool: &str, input: Value, output: &str) -> &mut Self {
        self.respond().calls(id, tool, input).answered(id, output)
    }

    /// Six messages of talk, so that what came before is not pinned.
    pub fn ending(&mut self) -> &mut Self {
        self.ending_in("")
    }

    /// As [`Self::ending`], in other words.
    pub fn ending_in(&mut self, word: &str) -> &mut Self {
        for round in 0..3 {
            self.respond()
                .says(&format!("{word}reply {round}"))
                .prompt(&format!("{word}and then {round}"));
        }
        self
    }

    pub fn event(&self) -> String {
        json!({ "trigger": "manual", "instructions": "prune", "messages": self.entries }).to_string()
    }

    pub fn transcript(&self) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{}", json!({ "type": "mode", "mode": "normal" })).unwrap();
        for row in &self.rows {
            writeln!(file, "{row}").unwrap();
        }
        file.flush().unwrap();
        file
    }

    /// Cuts it.
    pub fn prune(&self, options: &PruneOptions) -> PruneOutcome {
        self.prune_to(options, None)
    }

    pub fn prune_to(&self, options: &PruneOptions, target: Option<u64>) -> PruneOutcome {
        let file = self.transcript();
        prune_event(&self.event(), file.path(), options, target)
    }

    /// Cuts it, which must be worth it.
    pub fn cut(&self, options: &PruneOptions) -> (Vec<Value>, Report) {
        match self.prune(options) {
            PruneOutcome::Answer {
                messages,
                report,
                record,
            } => {
                assert_eq!(messages.len(), record.len());
                let rebuilt = rebuild(&self.entries, &messages);
                check_law(&rebuilt);
                (rebuilt, *report)
            }
            PruneOutcome::Skip { reason, .. } => panic!("not cut: {reason}"),
        }
    }

    /// The conversation as the client writes it again behind a cut: a row a message.
    pub fn after(rebuilt: &[Value]) -> Self {
        let mut talk = Self {
            salt: "9".to_owned(),
            ..Self::default()
        };
        for message in rebuilt {
            let mut content = Vec::new();
            if message["text"] != "" {
                content.push(json!({ "type": "text", "text": message["text"] }));
            }
            for call in message["toolUses"].as_array().unwrap() {
                content.push(json!({
                    "type": "tool_use", "id": call["tool_use_id"], "name": call["tool"], "input": call["input"],
                }));
            }
            for result in message["toolResults"].as_array().into_iter().flatten() {
                content.push(json!({
                    "type": "tool_result", "tool_use_id": result["tool_use_id"], "content": result["text"],
                    "is_error": result["isError"],
                }));
            }
            let row = talk.row(json!({
                "type": message["role"], "message": { "role": message["role"], "content": content }, "rowSource": "hook",
            }));
            talk.entry(&row, message.clone());
        }
        talk
    }
}

pub fn prune_event(event: &str, transcript: &Path, options: &PruneOptions, target: Option<u64>) -> PruneOutcome {
    let raw: Box<RawValue> = serde_json::from_str(event).unwrap();
    let event = CompactEvent::parse(&raw).unwrap();
    run(&PruneInput {
        entries: &event.messages,
        transcript: Some(transcript),
        options,
        cwd: Some("/project"),
        tokens: None,
        target,
        seq: &|_| None,
    })
}

/// Cuts everything that may be cut, however little it saves.
pub fn eager() -> PruneOptions {
    PruneOptions {
        min_saving_percent: 0,
        ..PruneOptions::default()
    }
}

/// The messages as the client gets them: by index out of the event's, with what is new.
pub fn rebuild(entries: &[Value], specs: &[MessageSpec]) -> Vec<Value> {
    specs
        .iter()
        .map(|spec| {
            let text = match &spec.text {
                None => json!(""),
                Some(TextSpec::Of { of }) => entries[*of]["text"].clone(),
                Some(TextSpec::New(text)) => json!(text),
            };
            let calls: Vec<Value> = spec
                .tool_uses
                .iter()
                .map(|call| {
                    let old = &entries[call.of]["toolUses"][call.at];
                    let input = call.input.clone().unwrap_or_else(|| old["input"].clone());
                    json!({ "tool_use_id": old["tool_use_id"], "tool": old["tool"], "input": input })
                })
                .collect();
            let mut message = json!({ "role": spec.role, "text": text, "toolUses": calls });
            if !spec.tool_results.is_empty() {
                let results = spec.tool_results.iter().map(|result| {
                    let old = &entries[result.of]["toolResults"][result.at];
                    let text = result
                        .text
                        .as_ref()
                        .map_or_else(|| old["text"].clone(), |text| json!(text));
                    json!({ "tool_use_id": old["tool_use_id"], "text": text, "isError": old["isError"] })
                });
                message["toolResults"] = Value::Array(results.collect());
            }
            message
        })
        .collect()
}

pub fn ids(message: &Value, list: &str) -> Vec<String> {
    message[list]
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| part["tool_use_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Every call is answered in the next user message, each id once; the first message is a user's; none is empty or has
/// a handle.
pub fn check_law(messages: &[Value]) {
    let mut seen = std::collections::HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        assert!(message["handle"].is_null(), "message {index} kept its handle");
        let (calls, results) = (ids(message, "toolUses"), ids(message, "toolResults"));
        assert!(
            message["text"] != "" || !calls.is_empty() || !results.is_empty(),
            "message {index} is empty"
        );
        for id in &calls {
            assert!(seen.insert(id.clone()), "{id} is called twice");
        }
        if calls.is_empty() {
            let before = index
                .checked_sub(1)
                .map(|before| ids(&messages[before], "toolUses"))
                .unwrap_or_default();
            assert_eq!(results, before, "message {index} answers what nobody asked");
        } else {
            assert_eq!(message["role"], "assistant");
            let next = messages
                .get(index + 1)
                .unwrap_or_else(|| panic!("{calls:?} are not answered"));
            assert_eq!(next["role"], "user");
            assert_eq!(ids(next, "toolResults"), calls);
        }
    }
    assert_eq!(messages[0]["role"], "user");
}

/// Texts of one role, in order.
pub fn texts<'a>(messages: &'a [Value], role: &str) -> Vec<&'a str> {
    messages
        .iter()
        .filter(|message| message["role"] == role && message["text"] != "")
        .map(|message| message["text"].as_str().unwrap())
        .collect()
}

/// The text of the result of this call.
pub fn result_of<'a>(messages: &'a [Value], id: &str) -> &'a str {
    messages
        .iter()
        .flat_map(|message| message["toolResults"].as_array().into_iter().flatten())
        .find(|result| result["tool_use_id"] == id)
        .unwrap_or_else(|| panic!("no result of {id}"))["text"]
        .as_str()
        .unwrap()
}

/// The arguments of this call.
pub fn input_of<'a>(messages: &'a [Value], id: &str) -> &'a Value {
    &messages
        .iter()
        .flat_map(|message| message["toolUses"].as_array().unwrap())
        .find(|call| call["tool_use_id"] == id)
        .unwrap_or_else(|| panic!("no call {id}"))["input"]
}

/// Lines of text, so many code points in all.
pub fn long(chars: usize) -> String {
    let line = "the quick brown fox jumps over the lazy dog\n";
    line.chars().cycle().take(chars).collect()
}
