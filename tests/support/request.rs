//! What the model was sent, and how to look at it.

use std::fmt::Write as _;

use serde_json::Value;

/// Who asked the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The main conversation.
    Main,
    /// A subagent, on behalf of an `Agent` call.
    Subagent,
    /// The client's own summary of a conversation (a native compaction).
    Summary,
    /// The client itself: titles and the like. Answered, not counted.
    Client,
}

/// One request to the Messages API, as the model would have read it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The body, whole.
    pub body: Value,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// Bytes of the body as sent.
    pub bytes: usize,
    /// Who asked.
    pub asker: Asker,
}

/// How a native compaction words its request, in both builds.
const SUMMARY_ORDER: &str = "Your task is to create a detailed summary of";

impl Request {
    pub(super) fn new(body: Value, headers: Vec<(String, String)>, bytes: usize) -> Self {
        let mut request = Self {
            body,
            headers,
            bytes,
            asker: Asker::Client,
        };
        request.asker = request.who_asks();
        request
    }

    /// A request as if it had been sent with this body, to look at one that a test has made up.
    pub fn recorded(body: Value) -> Self {
        let bytes = body.to_string().len();
        Self::new(body, Vec::new(), bytes)
    }

    fn who_asks(&self) -> Asker {
        let last_words = self
            .messages()
            .iter()
            .rev()
            .find(|m| m["role"] == "user")
            .map(flat)
            .unwrap_or_default();
        if last_words.contains(SUMMARY_ORDER) {
            return Asker::Summary;
        }
        if self.body["tools"].as_array().is_none_or(Vec::is_empty) {
            return Asker::Client;
        }
        if self.header("x-claude-code-agent-id").is_some() || self.system().contains("cc_is_subagent=true") {
            return Asker::Subagent;
        }
        Asker::Main
    }

    /// A header's value; the name in lower case.
    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_str())
    }

    /// The id of the session that asks.
    pub fn session(&self) -> &str {
        self.header("x-claude-code-session-id").unwrap_or_default()
    }

    /// The messages, in order.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Everything the model reads as conversation, flattened: texts, calls, results, and the `system` messages that
    /// the client puts between the others. Not the system prompt, see [`Request::system`].
    pub fn texts(&self) -> String {
        self.messages().iter().map(flat).collect::<Vec<_>>().join("\n")
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        flat_content(&self.body["system"])
    }

    /// How often the conversation holds a text.
    pub fn count(&self, needle: &str) -> usize {
        self.texts().matches(needle).count()
    }

    /// Whether the conversation holds a text.
    pub fn contains(&self, needle: &str) -> bool {
        self.count(needle) > 0
    }

    /// Whether a user message holds exactly this text as a block of its own, byte for byte. A line feed behind it is
    /// allowed: the client puts one where it joins two messages of the user.
    pub fn has_prompt(&self, prompt: &str) -> bool {
        self.count_prompt(prompt) > 0
    }

    /// How many blocks of user messages are exactly this text, see [`Request::has_prompt`].
    pub fn count_prompt(&self, prompt: &str) -> usize {
        let same = |text: &str| text == prompt || text.strip_suffix('\n') == Some(prompt);
        self.user_texts().iter().filter(|text| same(text)).count()
    }

    /// Every text block of a user message, in order, whole.
    pub fn user_texts(&self) -> Vec<String> {
        self.texts_of("user")
    }

    /// Every text block of an assistant message, in order, whole.
    pub fn assistant_texts(&self) -> Vec<String> {
        self.texts_of("assistant")
    }

    fn texts_of(&self, role: &str) -> Vec<String> {
        self.messages()
            .iter()
            .filter(|message| message["role"] == role)
            .flat_map(|message| blocks(&message["content"]))
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect()
    }

    /// Every tool call, in order: `(id, name, input)`.
    pub fn tool_calls(&self) -> Vec<(String, String, Value)> {
        self.messages()
            .iter()
            .flat_map(|message| blocks(&message["content"]))
            .filter(|block| block["type"] == "tool_use")
            .map(|block| (string(&block["id"]), string(&block["name"]), block["input"].clone()))
            .collect()
    }

    /// Every tool result, in order: `(id of the call, text)`.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        self.messages()
            .iter()
            .flat_map(|message| blocks(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (string(&block["tool_use_id"]), flat_content(&block["content"])))
            .collect()
    }

    /// The text of one call's result.
    pub fn tool_result(&self, id: &str) -> Option<String> {
        self.tool_results()
            .into_iter()
            .find(|(call, _)| call == id)
            .map(|(_, text)| text)
    }

    /// The names of the tools the model is offered.
    pub fn tools(&self) -> Vec<String> {
        self.body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| string(&tool["name"]))
            .collect()
    }

    /// What is wrong with the shape of the conversation, or nothing.
    ///
    /// The first message is a user's, every call is answered exactly once and in the next user message, no answer
    /// stands without its call, no id comes twice, and the client did not have to patch a missing result.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let spoken: Vec<&Value> = self
            .messages()
            .iter()
            .filter(|message| message["role"] != "system")
            .collect();
        match spoken.first() {
            None => faults.push("there is no message".to_owned()),
            Some(first) if first["role"] != "user" => faults.push(format!("the first message is {}'s", first["role"])),
            Some(_) => {}
        }
        if spoken.last().is_some_and(|message| message["role"] == "assistant") {
            faults.push("the last message is the assistant's".to_owned());
        }
        let mut seen = std::collections::BTreeSet::new();
        for (at, message) in spoken.iter().enumerate() {
            let calls = ids(message, "tool_use", "id");
            for id in &calls {
                if !seen.insert(id.clone()) {
                    faults.push(format!("call {id} comes twice"));
                }
            }
            let answers = spoken
                .get(at + 1)
                .map(|next| ids(next, "tool_result", "tool_use_id"))
                .unwrap_or_default();
            for id in &calls {
                let times = answers.iter().filter(|answer| *answer == id).count();
                if times != 1 {
                    faults.push(format!("call {id} is answered {times} times in the next message"));
                }
            }
            for id in ids(message, "tool_result", "tool_use_id") {
                let asked = at > 0 && ids(spoken[at - 1], "tool_use", "id").contains(&id);
                if !asked {
                    faults.push(format!("result {id} does not stand behind its call"));
                }
            }
            if flat(message).contains("[Tool result missing due to internal error]") {
                faults.push(format!("message {at}: the client had to make up a tool result"));
            }
        }
        faults
    }

    /// Fails with the conversation's outline when [`Request::faults`] finds one.
    #[track_caller]
    pub fn assert_well_formed(&self) {
        let faults = self.faults();
        assert!(
            faults.is_empty(),
            "the request is malformed: {}\n{}",
            faults.join("; "),
            self.outline()
        );
    }

    /// The conversation in one line a block, for failure messages.
    pub fn outline(&self) -> String {
        let mut out = format!(
            "{:?}, {} bytes, {} messages\n",
            self.asker,
            self.bytes,
            self.messages().len()
        );
        for (at, message) in self.messages().iter().enumerate() {
            for block in blocks(&message["content"]) {
                let what = block["type"].as_str().unwrap_or("text");
                let id = block["id"]
                    .as_str()
                    .or(block["tool_use_id"].as_str())
                    .unwrap_or_default();
                let _ = writeln!(
                    out,
                    "  {at:>3} {:<9} {what:<11} {id} {}",
                    string(&message["role"]),
                    brief(&block)
                );
            }
        }
        out
    }
}

fn ids(message: &Value, kind: &str, field: &str) -> Vec<String> {
    blocks(&message["content"])
        .iter()
        .filter(|block| block["type"] == kind)
        .map(|block| string(&block[field]))
        .collect()
}

/// A message's content as blocks; a bare string is one text block.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn flat(message: &Value) -> String {
    flat_content(&message["content"])
}

fn flat_content(content: &Value) -> String {
    let texts = blocks(content).into_iter().map(|block| match block["type"].as_str() {
        Some("text") => string(&block["text"]),
        Some("thinking") => string(&block["thinking"]),
        Some("tool_use") => format!("{} {}", string(&block["name"]), block["input"]),
        Some("tool_result") => flat_content(&block["content"]),
        other => format!("[{}]", other.unwrap_or("block")),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn brief(block: &Value) -> String {
    let text = flat_content(&Value::Array(vec![block.clone()]));
    let line: String = text.chars().map(|c| if c == '\n' { '⏎' } else { c }).collect();
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{}… ({} bytes)", &line[..at], text.len()),
        None => line,
    }
}
