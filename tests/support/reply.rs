//! What the stand-in model answers.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::PATIENCE;

/// One scripted answer: text, tool calls, usage figures, a delay, or an error.
///
/// ```ignore
/// Reply::text("Looking.").call("Bash", json!({"command": "ls"})).call("Bash", json!({"command": "pwd"})) // parallel
/// Reply::text("done").tokens(968_000)             // what the client takes for the size of the context
/// Reply::text("at last").held_by(&gate)           // answers when the test says so
/// Reply::prompt_too_long()
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub(super) blocks: Vec<Block>,
    pub(super) usage: Value,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) error: Option<(u16, String, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    Call {
        id: Option<String>,
        name: String,
        input: Value,
    },
}

impl Reply {
    /// A text; with [`Reply::call`] behind it, a text and calls in one response.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            blocks: vec![Block::Text(text.into())],
            ..Self::default()
        }
    }

    /// A tool call without a word before it.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::default().call(name, input)
    }

    /// A `Bash` call.
    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", json!({"command": command, "description": "Run a command"}))
    }

    /// A native summary, in the shape the client looks for.
    pub fn summary(text: &str) -> Self {
        Self::text(format!(
            "<analysis>\nNothing more.\n</analysis>\n\n<summary>\n{text}\n</summary>"
        ))
    }

    /// Adds a tool call to the same response; its id is made up from a counter of the server.
    pub fn call(mut self, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Call {
            id: None,
            name: name.to_owned(),
            input,
        });
        self
    }

    /// Adds a `Bash` call to the same response.
    pub fn and_bash(self, command: &str) -> Self {
        self.call("Bash", json!({"command": command, "description": "Run a command"}))
    }

    /// Adds a tool call whose id the test chooses.
    pub fn call_with_id(mut self, id: &str, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Call {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            input,
        });
        self
    }

    /// Adds a text behind what is there.
    pub fn and_text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(text.to_owned()));
        self
    }

    /// Puts a thinking block before what is there.
    pub fn thinking(mut self, text: &str) -> Self {
        self.blocks.insert(0, Block::Thinking(text.to_owned()));
        self
    }

    /// Says that the request held this many input tokens: what moves the client's context figure.
    /// Without it a quarter of the request's bytes is reported.
    pub fn tokens(mut self, input: u64) -> Self {
        self.usage = json!({"input_tokens": input});
        self
    }

    /// Usage figures of one's own, laid over the usual ones.
    pub fn usage(mut self, figures: Value) -> Self {
        self.usage = figures;
        self
    }

    /// Waits before it answers. For a test that has to do something meanwhile use [`Reply::held_by`].
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Answers only when the gate is released (or the patience of the tests runs out).
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// An HTTP error as the API words it.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self {
            error: Some((status, kind.to_owned(), message.to_owned())),
            ..Self::default()
        }
    }

    /// The API's refusal of a conversation that no longer fits.
    pub fn prompt_too_long() -> Self {
        Self::error(
            400,
            "invalid_request_error",
            "prompt is too long: 1048577 tokens > 1000000 maximum",
        )
    }

    /// A passing overload; the client tries again by itself.
    pub fn overloaded() -> Self {
        Self::error(529, "overloaded_error", "Overloaded")
    }

    pub(super) fn message(&self, number: usize, model: &str, request_bytes: usize) -> Value {
        let content: Vec<Value> = self
            .blocks
            .iter()
            .enumerate()
            .map(|(index, block)| match block {
                Block::Text(text) => json!({"type": "text", "text": text}),
                Block::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}),
                Block::Call { id, name, input } => {
                    let id = id.clone().unwrap_or_else(|| format!("toolu_{number:04}{index:02}"));
                    json!({"type": "tool_use", "id": id, "name": name, "input": input})
                }
            })
            .collect();
        let calls = self.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let mut usage = json!({
            "input_tokens": (request_bytes / 4).max(1),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 5,
        });
        if let Some(figures) = self.usage.as_object() {
            for (name, figure) in figures {
                usage[name] = figure.clone();
            }
        }
        json!({
            "id": format!("msg_{number:06}"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": if calls { "tool_use" } else { "end_turn" },
            "stop_sequence": null,
            "usage": usage,
        })
    }
}

/// The events that stream a finished message.
pub(super) fn events(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (empty, deltas) = match block["type"].as_str() {
            Some("text") => (
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": block["text"]})],
            ),
            Some("thinking") => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ],
            ),
            _ => {
                let mut empty = block.clone();
                empty["input"] = json!({});
                (
                    empty,
                    vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})],
                )
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

/// Holds a reply back until the test releases it.
#[derive(Clone, Default)]
pub struct Gate {
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets every reply held by this gate go, now and later.
    pub fn release(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }

    pub(super) fn wait(&self) {
        let closed = self.open.0.lock().unwrap();
        // The answer is of no interest: a test that forgot its gate fails by its own waits.
        let _ = self.open.1.wait_timeout_while(closed, PATIENCE * 2, |open| !*open);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}
