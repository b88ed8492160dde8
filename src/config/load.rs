//! Reads the layers and merges them.
//!
//! Never fails. A file that is bad is left out with a word that says why, or stands as it last was good; a value that
//! comes through the client is left out alone. What is compiled in always stands.

use std::path::Path;

use figment::value::{Dict, Value};

use super::check::{self, Catalog};
use super::file;
use super::key;
use super::last_good::LastGood;
use super::layer::{Layer, LayerKind};
use super::merge::{combine, difference, lay_over, leaves, merge, remove};
use super::origin::Origin;
use super::problem::{Code, Consequence, Problem, suggestion};
use super::sources::Sources;
use super::{Config, DEFAULT_TEXT, Document, client, trust};

/// What [`load`] gives.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged config.
    pub config: Config,
    /// The layers that stand, lowest first.
    pub layers: Vec<Layer>,
    /// The layers that were left out, as far as they could be read.
    pub refused: Vec<Layer>,
    /// What is wrong with the layers or values that were left out, and what the person should know of the others.
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

/// Reads and merges the layers; a bad file is left out.
pub fn load(sources: &Sources, catalog: &Catalog<'_>) -> Loaded {
    load_keeping(sources, catalog, &LastGood::nowhere())
}

/// Reads and merges the layers; a bad file stands as it was when it was last good.
pub fn load_keeping(sources: &Sources, catalog: &Catalog<'_>, last_good: &LastGood) -> Loaded {
    let mut loading = Loading {
        catalog,
        last_good,
        layers: Vec::new(),
        below: Dict::new(),
        refused: Vec::new(),
        problems: Vec::new(),
    };
    loading.defaults();
    if let Some(path) = sources.plugin_file() {
        loading.file(LayerKind::PluginFile, &path);
    }
    if let Some(path) = &sources.user_file {
        loading.file(LayerKind::UserFile, path);
    }
    if let Some(path) = sources.project_file() {
        loading.file(LayerKind::ProjectFile, &path);
    }
    for layer in client::layers(sources, &mut loading.problems) {
        loading.client(layer);
    }
    if let Some(path) = &sources.command_line {
        loading.file(LayerKind::CommandLine, path);
    }
    loading.settle()
}

/// What is wrong with the text of a file, on top of what is compiled in: as far as the file alone shows it.
pub fn problems_of(kind: LayerKind, path: &Path, text: &str, catalog: &Catalog<'_>) -> Vec<Problem> {
    let mut loading = Loading {
        catalog,
        last_good: &LastGood::nowhere(),
        layers: Vec::new(),
        below: Dict::new(),
        refused: Vec::new(),
        problems: Vec::new(),
    };
    loading.defaults();
    match loading.parse(kind, path, path, text) {
        Ok(layer) => {
            loading.push(layer);
            loading.settle().problems
        }
        Err(problems) => [loading.problems, problems].concat(),
    }
}

struct Loading<'a> {
    catalog: &'a Catalog<'a>,
    last_good: &'a LastGood,
    /// The layers that were accepted so far, the profile's not among them.
    layers: Vec<Layer>,
    /// Their values, merged: what the next layer is checked upon.
    below: Dict,
    refused: Vec<Layer>,
    problems: Vec<Problem>,
}

impl Loading<'_> {
    fn defaults(&mut self) {
        let layer = match Document::parse(Path::new("hooks.toml"), DEFAULT_TEXT.to_owned()) {
            Ok(document) => Layer::of_document(LayerKind::Defaults, document),
            // A test parses what is compiled in.
            Err(problems) => {
                self.problems.extend(problems);
                Layer::empty(LayerKind::Defaults)
            }
        };
        self.push(layer);
    }

    fn push(&mut self, layer: Layer) {
        self.below = lay_over(std::mem::take(&mut self.below), &layer.dict);
        self.layers.push(layer);
    }

    fn file(&mut self, kind: LayerKind, path: &Path) {
        let text = match file::read(path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.last_good.forget(kind, path);
                if kind == LayerKind::CommandLine {
                    self.problems.push(missing(path));
                }
                return;
            }
            Err(problem) => {
                self.stand_in(kind, path, "", vec![problem]);
                return;
            }
        };
        // The untouched copy of the table is the usual case, and says nothing of its own.
        if kind == LayerKind::PluginFile && text == DEFAULT_TEXT {
            self.last_good.forget(kind, path);
            return;
        }
        match self.parse(kind, path, path, &text) {
            Ok(layer) => self.push(layer),
            Err(problems) => self.stand_in(kind, path, &text, problems),
        }
    }

    /// A layer of a file's text, checked on top of those below it. `path` is where the text was read, `original` where
    /// the layer belongs.
    fn parse(&mut self, kind: LayerKind, original: &Path, path: &Path, text: &str) -> Result<Layer, Vec<Problem>> {
        let document = Document::parse(path, text.to_owned())?;
        let mut layer = Layer::of_document(kind, document);
        layer.is_last_good = original != path;
        if kind == LayerKind::PluginFile {
            let defaults = self.layers.first().map(|layer| &layer.dict);
            layer.dict = difference(&layer.dict, defaults.unwrap_or(&Dict::new()));
        }
        let warnings = trust::look(kind, original);
        layer.distrusted = trust::distrust(&warnings);
        let mut notes = Vec::new();
        if kind.is_the_projects() {
            notes = client::keep_what_a_project_may_set(&mut layer);
        }
        let problems = check::alone(&layer, &self.below, self.catalog);
        if !problems.is_empty() {
            // A project's own slips are told beside what it may not set at all.
            return Err([notes, problems].concat());
        }
        if !layer.is_last_good {
            self.problems.extend(notes);
            self.problems.extend(warnings);
        }
        Ok(layer)
    }

    /// The last good copy of a file that is bad, or nothing.
    fn stand_in(&mut self, kind: LayerKind, path: &Path, text: &str, problems: Vec<Problem>) {
        let kept = self.recalled(kind, path, text);
        let consequence = match &kept {
            Some(_) => Consequence::LastGoodStands,
            None => Consequence::FileIgnored,
        };
        self.problems
            .extend(problems.into_iter().map(|problem| match problem.consequence {
                Some(_) => problem,
                None => problem.then(consequence),
            }));
        match kept {
            Some(layer) => self.push(layer),
            None => self.note_refused(kind, path, text),
        }
    }

    fn recalled(&mut self, kind: LayerKind, path: &Path, text: &str) -> Option<Layer> {
        let (copy, kept) = self.last_good.recall(kind, path)?;
        if kept == text {
            return None;
        }
        self.parse(kind, path, &copy, &kept).ok()
    }

    fn note_refused(&mut self, kind: LayerKind, path: &Path, text: &str) {
        if let Ok(document) = Document::parse(path, text.to_owned()) {
            self.refused.push(Layer::of_document(kind, document));
        }
    }

    /// A layer that comes through the client: only what is bad in it is left out.
    fn client(&mut self, mut layer: Layer) {
        if layer.kind.is_the_projects() {
            let refused = client::keep_what_a_project_may_set(&mut layer);
            self.problems.extend(refused);
        }
        loop {
            let problems = check::alone(&layer, &self.below, self.catalog);
            if problems.is_empty() {
                break;
            }
            for problem in problems {
                take_out(&mut layer, problem.key.as_deref());
                self.problems.push(problem.then(Consequence::ValueIgnored));
            }
        }
        if !layer.dict.is_empty() {
            self.push(layer);
        }
    }

    /// Merges; as long as layers do not go together, what the higher one of them says gives way.
    fn settle(mut self) -> Loaded {
        loop {
            let (found, laid) = match lay_profile(&self.layers) {
                Err((at, problem)) => (vec![(at, problem)], Vec::new()),
                Ok((laid, bases)) => {
                    let found = match merge(&laid) {
                        Ok(config) => {
                            let found = check::together(&config, &laid, self.catalog);
                            if found.is_empty() {
                                return self.finish(config, laid);
                            }
                            found
                        }
                        Err(error) => vec![check::of_merge(&error, &laid)],
                    };
                    let found = found.into_iter().map(|(at, problem)| {
                        let base = bases.get(at).copied().unwrap_or_default();
                        (base, problem)
                    });
                    (found.collect(), laid)
                }
            };
            let Some(culprit) = found.iter().map(|(at, _)| *at).find(|at| *at > 0) else {
                // Nobody's but what is compiled in, which tests keep from happening.
                self.problems.extend(found.into_iter().map(|(_, problem)| problem));
                if self.layers.len() > 1 {
                    self.refused.extend(self.layers.drain(1..));
                    continue;
                }
                let config = merge(&laid).unwrap_or_else(|_| fallback());
                return self.finish(config, laid);
            };
            let problems = found
                .into_iter()
                .filter(|(at, _)| *at == culprit)
                .map(|(_, problem)| problem)
                .collect();
            self.give_way(culprit, problems);
        }
    }

    /// Takes out of a layer what does not go together with the others: of a file everything, of another its value.
    fn give_way(&mut self, at: usize, problems: Vec<Problem>) {
        let layer = self.layers.remove(at);
        if !layer.kind.is_a_file() {
            let mut layer = layer;
            for problem in problems {
                take_out(&mut layer, problem.key.as_deref());
                self.problems.push(problem.then(Consequence::ValueIgnored));
            }
            if !layer.dict.is_empty() {
                self.layers.insert(at, layer);
            }
            return;
        }
        let document = layer.document.clone().filter(|_| !layer.is_last_good);
        let kept = document.and_then(|document| {
            self.below = self.layers[..at]
                .iter()
                .fold(Dict::new(), |below, layer| lay_over(below, &layer.dict));
            self.recalled(layer.kind, &document.path, &document.text)
        });
        let consequence = match &kept {
            Some(_) => Consequence::LastGoodStands,
            None => Consequence::FileIgnored,
        };
        self.problems
            .extend(problems.into_iter().map(|problem| problem.then(consequence)));
        if let Some(kept) = kept {
            self.layers.insert(at, kept);
        }
        self.refused.push(layer);
    }

    fn finish(self, config: Config, layers: Vec<Layer>) -> Loaded {
        for layer in &self.layers {
            let is_copied = layer.kind.is_a_file() && layer.kind != LayerKind::Defaults && !layer.is_last_good;
            if let Some(document) = layer.document.as_ref().filter(|_| is_copied) {
                self.last_good.remember(layer.kind, &document.path, &document.text);
            }
        }
        Loaded {
            config,
            layers,
            refused: self.refused,
            problems: self.problems,
        }
    }
}

fn missing(path: &Path) -> Problem {
    Problem::new(
        Code::Unreadable,
        super::Place::source(path.display().to_string()),
        "the file that --config names is not there",
    )
    .help("name a file that is there")
}

/// Takes a key out of a layer; one that is not there itself (it is missing) goes with the table that lacks it.
fn take_out(layer: &mut Layer, key: Option<&str>) {
    let mut key = key;
    while let Some(path) = key {
        if remove(&mut layer.dict, path) {
            return;
        }
        key = key::parent(path);
    }
    layer.dict.clear();
}

/// The layers with the profile's right above the defaults, and of each which of `layers` it belongs to. The profile is
/// resolved first, over all layers; each layer that has a table for it brings an overlay of its own.
fn lay_profile(layers: &[Layer]) -> Result<(Vec<Layer>, Vec<usize>), (usize, Problem)> {
    let named = layers
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, layer)| Some((at, layer, layer.value("profile")?.as_str()?)));
    let mut overlays = Vec::new();
    if let Some((at, layer, name)) = named {
        overlays = overlays_of(layers, name);
        if overlays.is_empty() {
            return Err((at, unknown_profile(layers, layer, name)));
        }
    }
    let (mut laid, mut bases): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    let mut rest = layers.iter().cloned().enumerate();
    let first = rest.next().map(|(at, layer)| (layer, at));
    let ordered = first
        .into_iter()
        .chain(overlays)
        .chain(rest.map(|(at, layer)| (layer, at)));
    for (layer, base) in ordered {
        laid.push(layer);
        bases.push(base);
    }
    Ok((laid, bases))
}

fn overlays_of(layers: &[Layer], name: &str) -> Vec<(Layer, usize)> {
    let prefix = key::join("profiles", name);
    let overlay = |(at, layer): (usize, &Layer)| {
        let dict = layer.value(&prefix)?.as_dict()?.clone();
        let below = format!("{prefix}.");
        let names = layer
            .names
            .iter()
            .filter_map(|(key, place)| Some((key.strip_prefix(&below)?.to_owned(), place.clone())))
            .collect();
        let overlay = Layer {
            kind: LayerKind::Profile,
            prefix: prefix.clone(),
            names,
            dict,
            ..layer.clone()
        };
        Some((overlay, at))
    };
    layers.iter().enumerate().filter_map(overlay).collect()
}

fn unknown_profile(layers: &[Layer], layer: &Layer, name: &str) -> Problem {
    let known = layers
        .iter()
        .filter_map(|layer| layer.value("profiles").and_then(Value::as_dict))
        .fold(Dict::new(), combine);
    Problem::new(
        Code::UnknownProfile,
        layer.place_of("profile"),
        format!("there is no profile `{}`", super::problem::shown(name)),
    )
    .key("profile")
    .help(suggestion(name, known.keys().map(String::as_str).collect::<Vec<_>>()))
}

/// The dotted keys that a layer gives.
pub fn keys_of(layer: &Layer) -> Vec<String> {
    leaves(&layer.dict, "")
}

/// The config of an empty table, if even what is compiled in does not stand: no row, so nothing is done.
fn fallback() -> Config {
    Config {
        schema_version: 1,
        profile: "both".to_owned(),
        ..Config::default()
    }
}
