//! One layer of the config: its values, and where each of them stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use figment::value::{Dict, Value};
use serde::{Deserialize, Serialize};

use super::document::Document;
use super::key;
use super::merge::find;
use super::problem::Place;

/// The kinds of layers, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// What is compiled in.
    Defaults,
    /// What the profile lays over it.
    Profile,
    /// The plugin's own `hooks.toml`, where it differs from what is compiled in.
    PluginFile,
    /// The person's `hooks.toml`.
    UserFile,
    /// The project's `.claude/notesoup.toml`: numbers and switches of `[window]` and `[prune]` only.
    ProjectFile,
    /// Variables that a project's settings set: the same few keys as the project's file.
    ProjectVariables,
    /// Options of the older plugin: `pluginConfigs["compact-shaper…"].options`.
    OlderPlugin,
    /// Options of this plugin, as `/config` shows them.
    PluginOptions,
    /// The `notesoup` object of the client's merged settings.
    SettingsObject,
    /// `NOTESOUP_CONFIG__…` variables.
    Variables,
    /// `--config FILE`.
    CommandLine,
}

impl LayerKind {
    /// Every kind, lowest first.
    pub const ALL: &[Self] = &[
        Self::Defaults,
        Self::Profile,
        Self::PluginFile,
        Self::UserFile,
        Self::ProjectFile,
        Self::ProjectVariables,
        Self::OlderPlugin,
        Self::PluginOptions,
        Self::SettingsObject,
        Self::Variables,
        Self::CommandLine,
    ];

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Defaults => "default",
            Self::Profile => "profile",
            Self::PluginFile => "plugin's hooks.toml",
            Self::UserFile => "user's hooks.toml",
            Self::ProjectFile => "project's notesoup.toml",
            Self::ProjectVariables => "variable set by the project's settings",
            Self::OlderPlugin => "options of compact-shaper",
            Self::PluginOptions => "plugin option",
            Self::SettingsObject => "notesoup object of the settings",
            Self::Variables => "environment variable",
            Self::CommandLine => "--config file",
        }
    }

    /// Whether a project brings the layer, so that only numbers and switches may come with it.
    pub(super) const fn is_the_projects(self) -> bool {
        matches!(self, Self::ProjectFile | Self::ProjectVariables)
    }

    /// Whether the layer is a file: a bad one is refused whole, while of the others only the bad value is.
    pub const fn is_a_file(self) -> bool {
        matches!(
            self,
            Self::Defaults | Self::PluginFile | Self::UserFile | Self::ProjectFile | Self::CommandLine
        )
    }
}

/// One layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Which kind.
    pub kind: LayerKind,
    /// The file it was read from, with the places of its keys.
    pub document: Option<Arc<Document>>,
    /// The table of the file that the layer is, e.g. `profiles.both`; the whole file where it is empty.
    pub prefix: String,
    /// The source of a layer that is not a file, and the source's own name of each of our keys.
    pub names: BTreeMap<String, Place>,
    /// Its values.
    pub dict: Dict,
    /// True: the file is broken now, and this is how it was when it was last good.
    pub is_last_good: bool,
    /// Why the file may not start programs (others may write to it); absent where it may.
    pub distrusted: Option<String>,
}

impl Layer {
    /// A layer without values.
    pub(super) fn empty(kind: LayerKind) -> Self {
        Self {
            kind,
            document: None,
            prefix: String::new(),
            names: BTreeMap::new(),
            dict: Dict::new(),
            is_last_good: false,
            distrusted: None,
        }
    }

    pub(super) fn of_document(kind: LayerKind, document: Document) -> Self {
        let dict = document.dict.clone();
        Self {
            document: Some(Arc::new(document)),
            dict,
            ..Self::empty(kind)
        }
    }

    /// Where the value of this dotted key stands in the layer.
    pub fn place_of(&self, key: &str) -> Place {
        match &self.document {
            Some(document) => document.place_of(&self.key_in_file(key)),
            None => self.named_place(key),
        }
    }

    /// Where the key itself stands, for a word about its name.
    pub fn place_of_key(&self, key: &str) -> Place {
        match &self.document {
            Some(document) => document.place_of_key(&self.key_in_file(key)),
            None => self.named_place(key),
        }
    }

    /// The dotted key as the layer's file has it.
    pub fn key_in_file(&self, key: &str) -> String {
        match (self.prefix.as_str(), key) {
            ("", key) => key.to_owned(),
            (prefix, "") => prefix.to_owned(),
            (prefix, key) => format!("{prefix}.{key}"),
        }
    }

    /// Whether the layer itself has this dotted key.
    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The layer's own value of this dotted key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        find(&self.dict, key)
    }

    fn named_place(&self, key: &str) -> Place {
        let mut above = Some(key);
        while let Some(key) = above {
            if let Some(place) = self.names.get(key) {
                return place.clone();
            }
            above = key::parent(key);
        }
        // A word about a table is a word about the first value in it.
        let below = format!("{key}.");
        self.names
            .iter()
            .find(|(name, _)| name.starts_with(&below))
            .map_or_else(|| Place::source(self.kind.title()), |(_, place)| place.clone())
    }
}
