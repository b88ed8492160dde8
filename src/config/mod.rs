//! The configuration: layers, merged and typed, with the origin of every value.
//!
//! [`Config`] is what handlers see. [`load`] merges the layers with figment; [`cache`] keeps the result between hook
//! runs, so that an event that answers nothing does not pay for the merge.

pub mod cache;
pub mod check;
pub mod claude;
mod client;
mod document;
pub mod explain;
mod file;
mod fingerprint;
pub mod key;
mod last_good;
mod layer;
mod load;
mod merge;
mod notice;
mod origin;
mod problem;
mod sources;
mod table;
mod trust;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use check::{Catalog, HandlerInfo};
pub use client::{OlderOptions, PluginOptions, RESERVED_VARIABLES, SettingsObject};
pub use document::Document;
pub use fingerprint::Fingerprint;
pub use last_good::LastGood;
pub use layer::{Layer, LayerKind};
pub use load::{Loaded, keys_of, load, load_keeping, problems_of};
pub use notice::notices;
pub use origin::Origin;
pub use problem::{Code, Consequence, Place, Problem, Severity, listed, nearest, shown, suggestion};
pub use sources::Sources;
pub use table::{COMMON_FIELDS, Condition, Field, FieldValue, Fields, Row, compile, fields_of};

use crate::dream::DreamOptions;
use crate::prune::PruneOptions;
use crate::texts::Texts;
use crate::window::WindowOptions;

/// The table and all defaults, as they are compiled in: the top-level `hooks.toml`.
pub const DEFAULT_TEXT: &str = include_str!("../../hooks.toml");

/// Everything that the layers say, merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this format; 1.
    pub schema_version: u32,
    /// Which of `profiles` is laid over the defaults.
    pub profile: String,
    /// The language of the texts, where a pool has several, e.g. `de`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When the model is warned and when a fresh window is opened.
    #[serde(default)]
    pub window: WindowOptions,
    /// What `/compact prune` cuts.
    #[serde(default)]
    pub prune: PruneOptions,
    /// What a fresh window begins with.
    #[serde(default)]
    pub boot: BootOptions,
    /// Where the notes are.
    #[serde(default)]
    pub notes: NotesOptions,
    /// How long the program may take.
    #[serde(default)]
    pub helper: HelperOptions,
    /// When `notesoup dream` reviews the notes, and how.
    #[serde(default)]
    pub dream: DreamOptions,
    /// The table: rows by id (lower-case letters, digits and `-`).
    #[serde(default)]
    pub hooks: BTreeMap<String, Row>,
    /// What each profile lays over the rest; the shape of this very file.
    #[serde(default)]
    pub profiles: BTreeMap<String, Map<String, Value>>,
    /// Every sentence that a model or a person reads.
    #[serde(default)]
    pub texts: Texts,
}

/// What a fresh window begins with. Sizes are code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BootOptions {
    /// The most that a boot may take. What does not fit is left out, shelf by shelf in fair shares, and counted.
    #[schemars(range(min = 2000, max = 200_000))]
    pub budget_chars: usize,
    /// How many of the freshest notes each shelf shows, by title, address and age.
    #[schemars(range(max = 100))]
    pub freshest_notes: usize,
    /// How much of a home's `MAP.md` is shown.
    pub map_chars: usize,
    /// How much of the newest checkpoint of the conversation is shown.
    pub checkpoint_chars: usize,
}

impl Default for BootOptions {
    fn default() -> Self {
        Self {
            budget_chars: 24_000,
            freshest_notes: 3,
            map_chars: 4096,
            checkpoint_chars: 8000,
        }
    }
}

/// Where the notes are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NotesOptions {
    /// The folder of all homes; `~/` is the home folder. `--notes-home` and `NOTESOUP_HOME` go before it,
    /// `PI_NOTES_HOME` and `~/.agents/notes` come after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The key of the project's home, for a checkout that was moved; without it, it is made from the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// How long the program may take, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HelperOptions {
    /// For one event. The client itself gives a hook ten seconds.
    #[schemars(range(min = 100, max = 30_000))]
    pub timeout_ms: u64,
    /// For a compaction.
    #[schemars(range(min = 1000, max = 120_000))]
    pub compaction_timeout_ms: u64,
}

impl Default for HelperOptions {
    fn default() -> Self {
        Self {
            timeout_ms: 5000,
            compaction_timeout_ms: 20_000,
        }
    }
}

impl Config {
    /// The live rows of an event, in their order.
    pub fn rows_of(&self, event: &str) -> Vec<(&str, &Row)> {
        let mut rows: Vec<_> = self
            .hooks
            .iter()
            .filter(|(_, row)| row.enabled && row.event == event)
            .map(|(id, row)| (id.as_str(), row))
            .collect();
        rows.sort_by_key(|(_, row)| row.order);
        rows
    }

    /// The text of this name in the chosen language, filled in.
    pub fn text(&self, name: &str, values: &[(&str, &str)]) -> String {
        self.texts.fill(name, self.language.as_deref(), values)
    }
}
