//! The layers, lowest first, and their merge.
//!
//! A layer that is bad is left out with a word that says why, or stands as it last was good; the session runs on the
//! others. A value that comes through the client is checked alone, and only it is left out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use figment::value::{Dict, Map as FigmentMap, Value};
use figment::{Figment, Metadata, Profile, Provider};
use serde::{Deserialize, Serialize};

use super::check::{self, Catalog};
use super::client;
use super::document::Document;
use super::origin::Origin;
use super::problem::{Code, Place, Problem, suggestion};
use super::{Config, DEFAULT_TEXT};
use crate::wire::Settings;

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
}

/// One layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Which kind.
    pub kind: LayerKind,
    /// The file it was read from, with the places of its keys.
    pub document: Option<Document>,
    /// The source of a layer that is not a file, and the source's own name of each of our keys.
    pub names: BTreeMap<String, Place>,
    /// Its values.
    pub dict: Dict,
}

impl Layer {
    fn of_document(kind: LayerKind, document: Document) -> Self {
        let dict = document.dict.clone();
        Self {
            kind,
            document: Some(document),
            names: BTreeMap::new(),
            dict,
        }
    }

    /// Where the layer has this dotted key.
    pub fn place_of(&self, key: &str) -> Place {
        match &self.document {
            Some(document) => document.place_of(key),
            None => self
                .names
                .get(key)
                .cloned()
                .unwrap_or_else(|| Place::source(self.kind.title())),
        }
    }

    /// Whether the layer itself has this dotted key.
    pub fn has(&self, key: &str) -> bool {
        find(&self.dict, key).is_some()
    }

    /// The layer's own value of this dotted key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        find(&self.dict, key)
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.kind.title())
    }

    fn data(&self) -> Result<FigmentMap<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

/// Where layers are to be found.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The plugin's root folder, whose `hooks.toml` is a layer.
    pub plugin_root: Option<PathBuf>,
    /// The person's `hooks.toml`.
    pub user_file: Option<PathBuf>,
    /// The project's folder; its `.claude/notesoup.toml` is a layer.
    pub project: Option<PathBuf>,
    /// What the client's settings hold for us.
    pub settings: Settings,
    /// `NOTESOUP_CONFIG__…` variables, by name.
    pub variables: BTreeMap<String, OsString>,
    /// `--config FILE`.
    pub command_line: Option<PathBuf>,
}

impl Sources {
    /// The variables of the process that are config.
    pub fn variables_of_process() -> BTreeMap<String, OsString> {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(client::VARIABLE_PREFIX))
            .collect()
    }

    /// The project's file, whether it is there or not.
    pub fn project_file(&self) -> Option<PathBuf> {
        self.project
            .as_ref()
            .map(|folder| folder.join(".claude").join("notesoup.toml"))
    }

    /// The plugin's table, whether it is there or not.
    pub fn plugin_file(&self) -> Option<PathBuf> {
        self.plugin_root.as_ref().map(|root| root.join("hooks.toml"))
    }

    /// The files whose change changes the config.
    pub fn files(&self) -> Vec<PathBuf> {
        [
            self.plugin_file(),
            self.user_file.clone(),
            self.project_file(),
            self.command_line.clone(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// What [`load`] gives.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged config.
    pub config: Config,
    /// The layers that stand, lowest first.
    pub layers: Vec<Layer>,
    /// What is wrong with the layers or values that were left out.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// The layer that gave the value of this dotted key, and its place there.
    pub fn origin(&self, key: &str) -> Option<Origin> {
        let layer = self.layers.iter().rev().find(|layer| layer.has(key))?;
        Some(Origin {
            layer: layer.kind,
            place: layer.place_of(key),
        })
    }
}

/// Reads and merges the layers.
///
/// Never fails: what is compiled in always stands.
pub fn load(sources: &Sources, catalog: &Catalog<'_>) -> Loaded {
    let mut problems = Vec::new();
    let defaults = Document::parse(Path::new("hooks.toml"), DEFAULT_TEXT.to_owned())
        .map(|document| Layer::of_document(LayerKind::Defaults, document));
    let defaults = match defaults {
        Ok(layer) => layer,
        // A test parses what is compiled in.
        Err(problem) => {
            problems.push(problem);
            Layer {
                kind: LayerKind::Defaults,
                document: None,
                names: BTreeMap::new(),
                dict: Dict::new(),
            }
        }
    };

    let mut above = Vec::new();
    if let Some(path) = sources.plugin_file() {
        above.extend(plugin_layer(&path, &defaults, catalog, &mut problems));
    }
    if let Some(path) = &sources.user_file {
        above.extend(file_layer(LayerKind::UserFile, path, &defaults, catalog, &mut problems));
    }
    if let Some(path) = sources.project_file() {
        above.extend(file_layer(
            LayerKind::ProjectFile,
            &path,
            &defaults,
            catalog,
            &mut problems,
        ));
    }
    for layer in client::layers(sources, &mut problems) {
        above.extend(accept(layer, &defaults, catalog, &mut problems));
    }
    if let Some(path) = &sources.command_line {
        if !path.exists() {
            problems.push(Problem::new(
                Code::Unreadable,
                Place::source(path.display().to_string()),
                "the file that --config names is not there",
            ));
        }
        above.extend(file_layer(
            LayerKind::CommandLine,
            path,
            &defaults,
            catalog,
            &mut problems,
        ));
    }

    let mut layers = vec![defaults];
    layers.extend(above);
    lay_profile(&mut layers, &mut problems);
    settle(layers, catalog, problems)
}

/// Merges, and as long as layers do not go together takes the highest off.
fn settle(mut layers: Vec<Layer>, catalog: &Catalog<'_>, mut problems: Vec<Problem>) -> Loaded {
    loop {
        let found = match merge(&layers) {
            Ok(config) => {
                let found = check::together(&config, &layers, catalog);
                if found.is_empty() || layers.len() == 1 {
                    problems.extend(found);
                    return Loaded {
                        config,
                        layers,
                        problems,
                    };
                }
                found
            }
            Err(error) => vec![problem_of(&error, &layers)],
        };
        // What is wrong is the doing of the highest layer that has the key; without it, the rest may stand.
        let culprit = found
            .iter()
            .filter_map(|problem| problem.key.as_deref())
            .find_map(|key| {
                let at = layers.iter().rposition(|layer| layer.has(key))?;
                (at > 0).then_some(at)
            });
        problems.extend(found);
        if layers.len() == 1 {
            return Loaded {
                config: fallback(),
                layers,
                problems,
            };
        }
        layers.remove(culprit.unwrap_or(layers.len() - 1));
    }
}

fn merge(layers: &[Layer]) -> Result<Config, figment::Error> {
    let mut figment = Figment::new();
    for layer in layers {
        figment = figment.merge(layer);
    }
    let mut config: Config = figment.extract()?;
    add_to_pools(&mut config, layers);
    Ok(config)
}

/// Gives a pool with `add = true` the variants of the layers below.
fn add_to_pools(config: &mut Config, layers: &[Layer]) {
    for (name, pool) in config.texts.0.iter_mut().filter(|(_, pool)| pool.add) {
        let key = format!("texts.{name}.pool");
        let mut variants = Vec::new();
        for layer in layers {
            let Some(own) = layer.value(&key).and_then(|value| value.deserialize::<Vec<_>>().ok()) else {
                continue;
            };
            let adds = layer.value(&format!("texts.{name}.add")).and_then(Value::to_bool) == Some(true);
            if !adds {
                variants.clear();
            }
            variants.extend::<Vec<crate::texts::Variant>>(own);
        }
        pool.pool = variants;
    }
}

/// The config of an empty table, if even what is compiled in does not stand: no row, so nothing is done.
fn fallback() -> Config {
    Config {
        schema_version: 1,
        profile: "both".to_owned(),
        language: None,
        window: Default::default(),
        prune: Default::default(),
        boot: Default::default(),
        notes: Default::default(),
        helper: Default::default(),
        dream: Default::default(),
        hooks: BTreeMap::new(),
        profiles: BTreeMap::new(),
        texts: Default::default(),
    }
}

/// Puts the profile's overlay right above the defaults. The profile is resolved first, over all layers.
fn lay_profile(layers: &mut Vec<Layer>, problems: &mut Vec<Problem>) {
    loop {
        let Some(at) = layers.iter().rposition(|layer| layer.has("profile")) else {
            return;
        };
        let Some(name) = layers[at].value("profile").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let mut overlay = Dict::new();
        let mut place = None;
        for layer in layers.iter() {
            let key = format!("profiles.{name}");
            if let Some(own) = layer.value(&key).and_then(Value::as_dict) {
                overlay = combine(std::mem::take(&mut overlay), own);
                place = Some(layer.document.clone());
            }
        }
        if let Some(document) = place {
            // The overlay's keys stand below `profiles.<name>` in their file.
            let names = leaves(&overlay, "")
                .into_iter()
                .map(|key| {
                    let place = document.as_ref().map_or_else(Place::default, |document| {
                        document.place_of(&format!("profiles.{name}.{key}"))
                    });
                    (key, place)
                })
                .collect();
            layers.insert(
                1,
                Layer {
                    kind: LayerKind::Profile,
                    document: None,
                    names,
                    dict: overlay,
                },
            );
            return;
        }
        let known: Vec<String> = layers
            .iter()
            .filter_map(|layer| layer.value("profiles").and_then(Value::as_dict))
            .flat_map(|profiles| profiles.keys().cloned())
            .collect();
        problems.push(
            Problem::new(
                Code::UnknownProfile,
                layers[at].place_of("profile"),
                format!("there is no profile `{name}`"),
            )
            .key("profile")
            .help(suggestion(&name, known.iter().map(String::as_str).collect::<Vec<_>>())),
        );
        layers[at].dict.remove("profile");
    }
}

fn file_layer(
    kind: LayerKind,
    path: &Path,
    defaults: &Layer,
    catalog: &Catalog<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Layer> {
    let document = read(path, problems)?;
    accept(Layer::of_document(kind, document), defaults, catalog, problems)
}

/// Reads a file that may be missing.
fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<Document> {
    let unreadable = |message: String| {
        Problem::new(Code::Unreadable, Place::source(path.display().to_string()), message)
            .help("the layers below stand")
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return None,
        Err(error) => {
            problems.push(unreadable(format!("cannot be read: {error}")));
            return None;
        }
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            problems.push(unreadable(format!("is not UTF-8 (byte {at})")));
            return None;
        }
    };
    Document::parse(path, text)
        .map_err(|problem| problems.push(problem))
        .ok()
}

/// The plugin's table, as far as it differs from what is compiled in: the untouched copy says nothing of its own, so
/// that it does not hide the profile.
fn plugin_layer(path: &Path, defaults: &Layer, catalog: &Catalog<'_>, problems: &mut Vec<Problem>) -> Option<Layer> {
    // The untouched copy is the usual case, and comparing it costs less than parsing it.
    if std::fs::read(path).is_ok_and(|bytes| bytes == DEFAULT_TEXT.as_bytes()) {
        return None;
    }
    let document = read(path, problems)?;
    let mut layer = Layer::of_document(LayerKind::PluginFile, document);
    layer.dict = difference(&layer.dict, &defaults.dict);
    if layer.dict.is_empty() {
        None
    } else {
        accept(layer, defaults, catalog, problems)
    }
}

fn difference(dict: &Dict, base: &Dict) -> Dict {
    let mut own = Dict::new();
    for (key, value) in dict {
        match (value, base.get(key)) {
            (Value::Dict(_, inner), Some(Value::Dict(_, base))) => {
                let inner = difference(inner, base);
                if !inner.is_empty() {
                    own.insert(key.clone(), inner.into());
                }
            }
            (value, base) if base != Some(value) => {
                own.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    own
}

/// Checks a layer alone, on top of the defaults. A project's layer loses what it may not set; any other is refused
/// whole when it is bad.
fn accept(mut layer: Layer, defaults: &Layer, catalog: &Catalog<'_>, problems: &mut Vec<Problem>) -> Option<Layer> {
    if layer.kind.is_the_projects() {
        problems.extend(client::keep_what_a_project_may_set(&mut layer));
    }
    let found = check::alone(&layer, defaults, catalog);
    if found.is_empty() {
        return Some(layer);
    }
    problems.extend(found);
    None
}

/// The config that a layer makes on top of the defaults alone.
pub(super) fn extract_on_defaults(layer: &Layer, defaults: &Layer) -> Result<Config, Box<Problem>> {
    let layers = [defaults.clone(), layer.clone()];
    merge(&layers).map_err(|error| Box::new(problem_of(&error, &layers)))
}

/// Says of a figment error where its value stands.
fn problem_of(error: &figment::Error, layers: &[Layer]) -> Problem {
    use figment::error::Kind;
    let mut key = error.path.join(".");
    let (code, message, help) = match &error.kind {
        Kind::UnknownField(name, known) => {
            if !key.is_empty() {
                key.push('.');
            }
            key.push_str(name);
            (
                Code::UnknownKey,
                format!("there is no key `{name}` here"),
                Some(suggestion(name, known.iter().copied())),
            )
        }
        Kind::MissingField(name) => (
            Code::MissingKey,
            format!("the key `{name}` is missing"),
            Some(format!("a new row needs `event`, `run` and `order`; add `{name}`")),
        ),
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            (Code::InvalidValue, format!("found {found}, expected {expected}"), None)
        }
        other => (Code::InvalidValue, other.to_string(), None),
    };
    let layer = layers
        .iter()
        .rev()
        .find(|layer| layer.has(&key))
        .or_else(|| layers.last());
    let place = layer.map(|layer| match (&code, &layer.document) {
        (Code::UnknownKey, Some(document)) => document.place_of_key(&key),
        _ => layer.place_of(&key),
    });
    let problem = Problem::new(code, place.unwrap_or_default(), message).key(key);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn find<'a>(dict: &'a Dict, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => dict.get(key),
        Some((first, rest)) => match dict.get(first)? {
            Value::Dict(_, inner) => find(inner, rest),
            Value::Array(_, items) => {
                let (index, rest) = rest
                    .split_once('.')
                    .map_or((rest, None), |(index, rest)| (index, Some(rest)));
                let item = items.get(index.parse::<usize>().ok()?)?;
                match rest {
                    None => Some(item),
                    Some(rest) => item.find_ref(rest),
                }
            }
            _ => None,
        },
    }
}

/// Lays one table over another: tables key by key, everything else replaced.
pub(super) fn combine(mut below: Dict, above: &Dict) -> Dict {
    for (key, value) in above {
        let merged = match (below.remove(key), value) {
            (Some(Value::Dict(_, below)), Value::Dict(_, above)) => combine(below, above).into(),
            (_, value) => value.clone(),
        };
        below.insert(key.clone(), merged);
    }
    below
}

/// The dotted keys of all values that are not tables.
pub(super) fn leaves(dict: &Dict, prefix: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in dict {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            Value::Dict(_, inner) if !inner.is_empty() => keys.extend(leaves(inner, &path)),
            _ => keys.push(path),
        }
    }
    keys
}
