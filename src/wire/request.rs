//! What the courier sends.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One event on its way to a handler.
///
/// Borrowed from the request's bytes: `e` and `state` stay unparsed until a handler wants them, since a compaction
/// event may be hundreds of megabytes and most events are answered without a look at it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request<'a> {
    /// The wire's version; see [`super::VERSION`].
    pub v: u32,
    /// Which event.
    #[serde(borrow)]
    #[schemars(with = "Event")]
    pub event: std::borrow::Cow<'a, str>,
    /// The event's input as the client gave it, or the outcome for `effect.settled`.
    #[serde(borrow, default)]
    #[schemars(with = "Option<Value>")]
    pub e: Option<&'a RawValue>,
    /// What the courier knows of the session.
    #[serde(default)]
    pub facts: Facts,
    /// The helper's own state as the last reply gave it; opaque to the courier, null in a new session.
    #[serde(borrow, default)]
    #[schemars(with = "Option<Value>")]
    pub state: Option<&'a RawValue>,
}

/// The events that the table can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Event {
    /// A session starts, resumes, is cleared, forked or was compacted: the carrier of the boot.
    #[serde(rename = "classic.SessionStart")]
    ClassicSessionStart,
    /// The person's prompt is about to reach the model.
    #[serde(rename = "classic.UserPromptSubmit")]
    ClassicUserPromptSubmit,
    /// The results of one response's tool calls are about to reach the model.
    #[serde(rename = "classic.PostToolBatch")]
    ClassicPostToolBatch,
    /// The model is about to end its turn.
    #[serde(rename = "classic.Stop")]
    ClassicStop,
    /// The module was bound to a session, or loaded again.
    #[serde(rename = "session.start")]
    SessionStart,
    /// The session ends or is left for another.
    #[serde(rename = "session.end")]
    SessionEnd,
    /// A usage figure moved.
    #[serde(rename = "session.measure")]
    SessionMeasure,
    /// The conversation is about to be compacted.
    #[serde(rename = "session.compact")]
    SessionCompact,
    /// A turn begins.
    #[serde(rename = "turn.start")]
    TurnStart,
    /// A turn ended.
    #[serde(rename = "turn.complete")]
    TurnComplete,
    /// The client asks for blocks at the head of the conversation.
    #[serde(rename = "prompt.context")]
    PromptContext,
    /// One of our slash commands runs.
    #[serde(rename = "command.run")]
    CommandRun,
    /// The model calls one of our tools.
    #[serde(rename = "tool.call")]
    ToolCall,
    /// An effect that a reply asked for has happened or failed.
    #[serde(rename = "effect.settled")]
    EffectSettled,
}

impl Event {
    /// Every event, in the order in which a session meets them.
    pub const ALL: &[Self] = &[
        Self::ClassicSessionStart,
        Self::SessionStart,
        Self::PromptContext,
        Self::ClassicUserPromptSubmit,
        Self::TurnStart,
        Self::ToolCall,
        Self::ClassicPostToolBatch,
        Self::ClassicStop,
        Self::TurnComplete,
        Self::SessionMeasure,
        Self::SessionCompact,
        Self::CommandRun,
        Self::SessionEnd,
        Self::EffectSettled,
    ];

    /// The event's name on the wire and in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClassicSessionStart => "classic.SessionStart",
            Self::ClassicUserPromptSubmit => "classic.UserPromptSubmit",
            Self::ClassicPostToolBatch => "classic.PostToolBatch",
            Self::ClassicStop => "classic.Stop",
            Self::SessionStart => "session.start",
            Self::SessionEnd => "session.end",
            Self::SessionMeasure => "session.measure",
            Self::SessionCompact => "session.compact",
            Self::TurnStart => "turn.start",
            Self::TurnComplete => "turn.complete",
            Self::PromptContext => "prompt.context",
            Self::CommandRun => "command.run",
            Self::ToolCall => "tool.call",
            Self::EffectSettled => "effect.settled",
        }
    }

    /// The event with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }
}

/// What the courier knows of the session. Every field may be missing; a handler that needs one says so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// The session's id (`$.session.id()`).
    pub session_id: Option<String>,
    /// The folder the session runs in, absolute (`$.session.cwd()`).
    pub cwd: Option<String>,
    /// The main loop's model (`$.session.model()`).
    pub model: Option<String>,
    /// The transcript, as the newest `classic.*` event named it. Never guessed.
    pub transcript_path: Option<String>,
    /// The client's version (`$.session.version()`), e.g. `2.1.332`.
    pub client_version: Option<String>,
    /// The plugin's root folder.
    pub plugin_root: Option<String>,
    /// True in a `-p` or SDK run, where nobody sees a screen.
    pub headless: bool,
    /// The subagent whose loop raised the event; absent on the main loop.
    pub agent_id: Option<String>,
    /// The plugin that caused the event (`next.origin.plugin`), when one did.
    pub origin_plugin: Option<String>,
    /// The `tool_use_id` of a `tool.call`.
    pub tool_use_id: Option<String>,
    /// The newest rows of the conversation, oldest first, at events that look up where it ends on disk: by uuid, or by the
    /// `tool_use_id` of a call in it where the client does not name rows.
    pub newest_rows: Vec<String>,
    /// The context's fill (`$.session.usage().context`); absent where the event costs nothing to answer without.
    pub usage: Option<Usage>,
    /// The turns of the main loop.
    pub turn: Turn,
    /// What the client's settings hold for us, as of the last plan.
    pub settings: Settings,
    /// Which names of ours could not be registered since another plugin has them.
    pub taken_names: Vec<String>,
}

/// The turns of the main loop, as the courier has heard them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Turn {
    /// Whether one runs now.
    pub running: bool,
    /// The running one's id.
    pub id: Option<String>,
    /// How many were completed (not aborted) since this session began.
    pub completed: u64,
}

/// The context's fill, `$.session.usage({breakdown:'summary'}).context` as it came.
///
/// Values, not numbers: these fields are partly undocumented, and one of an unexpected type must not take the rest
/// with it. `window::reset_point` guards each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Input tokens of the last response; absent right after a compaction.
    pub tokens: Option<Value>,
    /// The model's window in tokens.
    pub window: Option<Value>,
    /// `tokens` over `window`, 0 to 100.
    pub percent: Option<Value>,
    /// Older place of the threshold.
    #[serde(rename = "autoCompactThreshold")]
    pub auto_compact_threshold: Option<Value>,
    /// `{rawMaxTokens, autoCompactThreshold, isAutoCompactEnabled, …}`; other fields are dropped by the courier.
    pub breakdown: Option<Map<String, Value>>,
}

/// What the client's settings hold for us.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// From the merged settings: `notesoup`, `autoCompactEnabled`, `autoCompactWindow`, `modelSettings`.
    pub merged: Map<String, Value>,
    /// Options of our own plugin, as `register` received them.
    pub options: Options,
    /// `pluginConfigs` by source (`user`, `flag`, `policy`), only the entries of the older plugin.
    pub plugin_configs: BTreeMap<String, Value>,
    /// Names of variables that a project's or local settings file sets in its `env`.
    pub project_env: Vec<String>,
}

/// Options of our own plugin: `profile`, `resetMarginTokens`, … An unset field arrives as `""` and means not set.
pub type Options = Map<String, Value>;
