//! What the helper answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The reply to one request.
///
/// Small by design: the client cuts the helper's output at 4 MiB, so an answer that changes messages names them by
/// index and gives only what is new.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The wire's version.
    pub v: u32,
    /// What the hook returns; absent: the event goes on as if no hook were there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What the courier is to do, in order, inside this hook, each awaited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The helper's new state; absent: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// New marks to watch; absent: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<Watch>,
    /// The row that answered, or the last one that asked for an effect; for logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

/// What a hook returns, by kind of event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// The event goes on; `instructions` replaces the event's own (`session.compact`).
    Next {
        /// What the summary is told.
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
    /// The compaction is refused; the person sees `Not compacted · reason` (`session.compact`).
    Skip {
        /// One line.
        reason: String,
    },
    /// The conversation becomes these messages (`session.compact`).
    Messages {
        /// Oldest first; the first is a user's.
        messages: Vec<MessageSpec>,
        /// The size before, in tokens, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens_before: Option<u64>,
        /// The size after, in tokens, as estimated.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens_after: Option<u64>,
    },
    /// Text for the model beside the event (`classic.*`).
    Context {
        /// One entry a text.
        texts: Vec<String>,
    },
    /// Blocks at the head of the conversation (`prompt.context`).
    Blocks {
        /// Added behind those that are there.
        blocks: Vec<Block>,
    },
    /// A command's output: lines for the person, nothing for the model (`command.run`).
    Lines {
        /// One entry a line.
        lines: Vec<String>,
    },
    /// A tool's result (`tool.call`).
    Tool {
        /// What the model reads.
        text: String,
        /// True on a refusal.
        is_error: bool,
    },
}

/// A block of `prompt.context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// The block's name, e.g. `notesoup:boot`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// One message of a rebuilt conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageSpec {
    /// `user` or `assistant`.
    pub role: String,
    /// The text; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextSpec>,
    /// The calls of an assistant message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_uses: Vec<ToolUseSpec>,
    /// The results of a user message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ResultSpec>,
}

/// A message's text: that of an entry of the event, or a new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TextSpec {
    /// `e.messages[of].text`.
    Of {
        /// The entry's index.
        of: usize,
    },
    /// The text itself.
    New(String),
}

/// A call: `e.messages[of].toolUses[at]`, with a new input where one is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseSpec {
    /// The entry's index.
    pub of: usize,
    /// The call's index in the entry.
    pub at: usize,
    /// The shrunk input; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// A result: `e.messages[of].toolResults[at]`, with a new text where one is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultSpec {
    /// The entry's index.
    pub of: usize,
    /// The result's index in the entry.
    pub at: usize,
    /// The cut text; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What the courier does for the helper. Where the outcome matters (`id` is given), it comes back as the event
/// `effect.settled` with `{id, effect, ok, error?, skip?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// One line to the person (`$.ui.log`).
    Log {
        /// The line.
        text: String,
    },
    /// `await $.session.compact()`.
    Compact {
        /// Names the effect in `effect.settled`.
        id: String,
    },
    /// `await $.command.run({command, args})`.
    RunCommand {
        /// Names the effect in `effect.settled`.
        id: String,
        /// The command without its slash.
        command: String,
        /// Its arguments.
        args: String,
    },
    /// `$.prompt.submit({text})` from `$.clock.after`: a turn of its own.
    SubmitPrompt {
        /// Names the effect in `effect.settled`.
        id: String,
        /// The prompt.
        text: String,
        /// How long to wait first, in milliseconds.
        delay_ms: u64,
    },
    /// `$.ui.status(text)`: the plugin's line under the prompt, until the next one.
    Status {
        /// The line; absent: takes it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Ask for a new plan before the next event.
    RefreshPlan,
}

/// The marks that the courier compares with the fill in memory, so that no process starts before one is crossed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watch {
    /// Events that wake on the warning mark start the helper at this many tokens; null: not at all.
    pub warn_at: Option<f64>,
    /// Events that wake on the reset mark start the helper at this many tokens; null: not at all.
    pub reset_at: Option<f64>,
    /// The warning mark of a window that was warned; events that wake on a rewind start the helper below it. Absent: not at
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warned_at: Option<f64>,
    /// True: the marks are percents, to be compared with `context.percent` (no window is known).
    #[serde(default)]
    pub percent: bool,
    /// True: a reset is pending or owed, so events that wake on it start the helper whatever the fill.
    #[serde(default)]
    pub pending: bool,
}
