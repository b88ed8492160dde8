//! What the courier is to watch, register and show: `notesoup plan`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Watch;

/// The plan for a session: which events have live rows, what to register, which marks to watch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The wire's version.
    pub v: u32,
    /// Changes when anything the plan was made from changes (files, settings, variables, model). A request for a plan
    /// that names the current one is answered with `unchanged: true` and nothing else.
    pub fingerprint: String,
    /// True: the plan that the request named still stands; the other fields are empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Events with a live row; all others start no process.
    #[serde(default)]
    pub events: BTreeMap<String, EventPlan>,
    /// Commands to register, all at once.
    #[serde(default)]
    pub commands: Vec<CommandSpec>,
    /// Tools to register, all at once.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// The marks to watch.
    #[serde(default)]
    pub watch: Watch,
    /// Lines to show the person, each once a session.
    #[serde(default)]
    pub notices: Vec<String>,
}

/// How an event is watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventPlan {
    /// Any of these starts the helper.
    pub wake: Vec<Wake>,
    /// How long the helper may take, in milliseconds.
    pub timeout_ms: u64,
}

/// What makes an event start the helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wake {
    /// Every time.
    Always,
    /// The fill has reached `watch.warn_at`.
    WarnMark,
    /// The fill has reached `watch.reset_at`.
    ResetMark,
    /// The fill has fallen below `watch.warned_at`, as it does when the person rewinds.
    Rewound,
    /// `watch.pending` is true.
    Pending,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandSpec {
    /// Without the slash.
    pub name: String,
    /// The line in the menu.
    pub description: String,
    /// Shown dim behind the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// True: runs while a turn runs, too.
    #[serde(default)]
    pub immediate: bool,
}

/// A tool of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// Without the prefix `mcp__notesoup__`.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// The JSON Schema of the parameters.
    pub input_schema: Value,
}
