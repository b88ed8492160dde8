//! What a tool answers: data or a refusal, and the one text rendering made from the same selection.
//!
//! Notes and history share this model: both renderings fit [`MAX_BYTES`], every omission is counted, and a refusal
//! carries a stable code and a sentence that says what to do next.

pub mod input;
pub mod room;
mod window;

use serde::Serialize;

pub use window::{LimitedBy, TextWindow, WindowError, text_window};

/// The most that one rendering of a tool's answer may take, in bytes of UTF-8 (32 KiB, spec of the tools).
pub const MAX_BYTES: usize = 32 * 1024;

/// A tool's answer: the data for programs and the text for the model, both within [`MAX_BYTES`].
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The data, as the tool's output schema describes it.
    pub data: serde_json::Value,
    /// The same selection as text; this is what the model reads.
    #[serde(skip)]
    pub text: String,
}

/// A refusal: nothing was changed, and `message` says what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// A stable code, e.g. `not_found`.
    pub code: &'static str,
    /// What happened and what to do next, in sentences for the model or the person.
    pub message: String,
    /// Facts a program can use, e.g. the index of the edit that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
        }
    }

    /// The same refusal with facts for programs.
    #[must_use]
    pub fn with_details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// What a model is told of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolDescription {
    /// The tool's name, without a prefix.
    pub name: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// The JSON Schema of its parameters.
    pub input_schema: serde_json::Value,
    /// The JSON Schema of `data` in its answer.
    pub output_schema: serde_json::Value,
}

/// The refusal of a tool that is not among these.
pub fn unknown_tool(kind: &str, name: &str, known: impl Iterator<Item = &'static str>) -> Refusal {
    let known: Vec<_> = known.collect();
    let message = format!(
        "There is no {kind} tool called `{name}`; there are {}.",
        known.join(", ")
    );
    Refusal::new("invalid_arguments", message)
}

/// What every tool returns.
pub type Outcome = Result<Answer, Refusal>;

/// The JSON form of an outcome: `{"ok":true,"data":…}` or `{"ok":false,"error":{…}}`.
pub fn to_json(outcome: &Outcome) -> serde_json::Value {
    match outcome {
        Ok(answer) => serde_json::json!({ "ok": true, "data": answer.data }),
        Err(refusal) => serde_json::json!({ "ok": false, "error": refusal }),
    }
}

/// The text form of an outcome: the answer's text, or `code: message` of the refusal.
pub fn to_text(outcome: &Outcome) -> String {
    match outcome {
        Ok(answer) => answer.text.clone(),
        Err(refusal) => format!("{}: {}", refusal.code, refusal.message),
    }
}
