//! Layers that come through the client: options, the settings object, variables. And the short list of what a project
//! may set.

use std::collections::BTreeMap;

use figment::value::{Dict, Value};

use super::layers::{Layer, LayerKind, Sources, combine, leaves};
use super::problem::{Code, Place, Problem};

/// Variables that begin like this are config: `NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS`.
pub(super) const VARIABLE_PREFIX: &str = "NOTESOUP_CONFIG__";

/// Variables that choose the program or its files; a project's settings may not set them.
pub const RESERVED_VARIABLES: &[&str] = &["NOTESOUP_BIN", "NOTESOUP_HOME", "NOTESOUP_LOG"];

/// The options that the client knows by name, and the keys they set. `min` is the least number.
struct OptionKey {
    name: &'static str,
    key: &'static str,
    min: i64,
}

const MARGINS: &[OptionKey] = &[
    OptionKey {
        name: "resetMarginTokens",
        key: "window.reset_margin_tokens",
        min: 1,
    },
    OptionKey {
        name: "warningRunwayTokens",
        key: "window.warning_runway_tokens",
        min: 1,
    },
];

const CUTS: &[OptionKey] = &[
    OptionKey {
        name: "preserveRecentMessages",
        key: "prune.preserve_recent_messages",
        min: 0,
    },
    OptionKey {
        name: "keepHeadChars",
        key: "prune.keep_head_chars",
        min: 0,
    },
];

/// The layers that come through the client, lowest first. A value that is not what it should be is left out alone.
pub(super) fn layers(sources: &Sources, problems: &mut Vec<Problem>) -> Vec<Layer> {
    let settings = &sources.settings;
    let (of_project, of_person): (BTreeMap<_, _>, BTreeMap<_, _>) = sources
        .variables
        .clone()
        .into_iter()
        .partition(|(name, _)| settings.project_env.contains(name));
    for name in settings
        .project_env
        .iter()
        .filter(|name| RESERVED_VARIABLES.contains(&name.as_str()))
    {
        problems.push(
            Problem::new(
                Code::NotAllowedHere,
                Place::source("the project's settings"),
                format!("the variable {name} is refused: a project must not choose the program or its files"),
            )
            .key(format!("env.{name}"))
            .help("set it in your own settings, or in the shell"),
        );
    }

    let mut layers = Vec::new();
    layers.extend(variables(LayerKind::ProjectVariables, &of_project));
    let mut older = Builder::new(LayerKind::OlderPlugin);
    // Managed settings stand over the command line's, and those over the person's.
    for source in ["user", "flag", "policy"] {
        let Some(configs) = settings.plugin_configs.get(source).and_then(|value| value.as_object()) else {
            continue;
        };
        for (name, config) in configs.iter().filter(|(name, _)| is_older_plugin(name)) {
            let Some(options) = config.get("options").and_then(|options| options.as_object()) else {
                continue;
            };
            let place = format!("pluginConfigs[\"{name}\"].options ({source} settings)");
            older.numbers(&place, options, CUTS, problems);
        }
    }
    layers.extend(older.finish());

    let mut own = Builder::new(LayerKind::PluginOptions);
    let place = "options of notesoup (/config)";
    own.numbers(place, &settings.options, MARGINS, problems);
    own.numbers(place, &settings.options, CUTS, problems);
    own.profile(place, &settings.options, problems);
    layers.extend(own.finish());

    let mut object = Builder::new(LayerKind::SettingsObject);
    match settings.merged.get("notesoup") {
        Some(serde_json::Value::Object(values)) => {
            object.numbers("settings, notesoup", values, MARGINS, problems);
        }
        None | Some(serde_json::Value::Null) => {}
        Some(other) => problems.push(
            Problem::new(
                Code::InvalidValue,
                Place::source("settings"),
                format!("found {other}, expected an object"),
            )
            .key("notesoup"),
        ),
    }
    layers.extend(object.finish());
    layers.extend(variables(LayerKind::Variables, &of_person));
    layers
}

fn is_older_plugin(name: &str) -> bool {
    name == "compact-shaper" || name.starts_with("compact-shaper@")
}

struct Builder {
    layer: Layer,
}

impl Builder {
    fn new(kind: LayerKind) -> Self {
        Self {
            layer: Layer {
                kind,
                document: None,
                names: BTreeMap::new(),
                dict: Dict::new(),
            },
        }
    }

    fn numbers(
        &mut self,
        place: &str,
        values: &serde_json::Map<String, serde_json::Value>,
        keys: &[OptionKey],
        problems: &mut Vec<Problem>,
    ) {
        for OptionKey { name, key, min } in keys {
            let Some(value) = values.get(*name).filter(|value| !is_unset(value)) else {
                continue;
            };
            let place = Place::source(format!("{place}: {name}"));
            match value.as_i64().filter(|number| number >= min) {
                Some(number) => self.set(key, Value::from(number), place),
                None => problems.push(
                    Problem::new(Code::InvalidValue, place, format!("{value} is ignored"))
                        .key(*key)
                        .help(if *min > 0 {
                            "give a positive whole number"
                        } else {
                            "give a whole number, 0 or more"
                        }),
                ),
            }
        }
    }

    fn profile(
        &mut self,
        place: &str,
        values: &serde_json::Map<String, serde_json::Value>,
        problems: &mut Vec<Problem>,
    ) {
        let Some(value) = values.get("profile").filter(|value| !is_unset(value)) else {
            return;
        };
        let place = Place::source(format!("{place}: profile"));
        match value.as_str() {
            Some(name) => self.set("profile", Value::from(name.trim()), place),
            None => problems.push(
                Problem::new(Code::InvalidValue, place, format!("{value} is ignored"))
                    .key("profile")
                    .help("give the name of a profile"),
            ),
        }
    }

    fn set(&mut self, key: &str, value: Value, place: Place) {
        self.layer.names.insert(key.to_owned(), place);
        if let Value::Dict(_, nested) = figment::util::nest(key, value) {
            self.layer.dict = combine(std::mem::take(&mut self.layer.dict), &nested);
        }
    }

    fn finish(self) -> Option<Layer> {
        (!self.layer.dict.is_empty()).then_some(self.layer)
    }
}

/// An option that nobody has set arrives as `""`, also where it is a number.
fn is_unset(value: &serde_json::Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn variables(kind: LayerKind, variables: &BTreeMap<String, std::ffi::OsString>) -> Option<Layer> {
    let mut builder = Builder::new(kind);
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(VARIABLE_PREFIX) else {
            continue;
        };
        let key = key.to_lowercase().replace("__", ".");
        let Some(value) = value.to_str() else { continue };
        let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
        builder.set(&key, value, Place::source(format!("variable {name}")));
    }
    builder.finish()
}

/// Takes from a project's layer all that a project may not set: everything but numbers and switches of `[window]` and
/// `[prune]`. A cloned repository must not bring texts, paths or rows.
pub(super) fn keep_what_a_project_may_set(layer: &mut Layer) -> Vec<Problem> {
    let mut problems = Vec::new();
    for key in leaves(&layer.dict, "") {
        let section = key.split('.').next().unwrap_or_default();
        let plain = layer
            .value(&key)
            .is_some_and(|value| matches!(value, Value::Num(..) | Value::Bool(..)));
        let known = matches!(section, "window" | "prune");
        if known && (plain || is_empty_table(layer.value(&key))) {
            continue;
        }
        let place = match &layer.document {
            Some(document) => document.place_of_key(&key),
            None => layer.place_of(&key),
        };
        problems.push(
            Problem::new(Code::NotAllowedHere, place, "a project may not set this")
                .key(&key)
                .help(
                    "a project sets numbers and switches of [window] and [prune] only; put it into your own hooks.toml",
                ),
        );
        remove(&mut layer.dict, &key);
    }
    problems
}

fn is_empty_table(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Dict(_, inner)) if inner.is_empty())
}

fn remove(dict: &mut Dict, key: &str) {
    match key.split_once('.') {
        None => {
            dict.remove(key);
        }
        Some((first, rest)) => {
            let Some(Value::Dict(_, inner)) = dict.get_mut(first) else {
                return;
            };
            remove(inner, rest);
            if inner.is_empty() {
                dict.remove(first);
            }
        }
    }
}
