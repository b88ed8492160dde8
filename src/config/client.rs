//! Layers that come through the client: options, the settings object, variables. And the short list of what a project
//! may set.

use std::collections::BTreeMap;

use figment::value::{Dict, Value};
use schemars::JsonSchema;

use super::check::shape::{part, schema};
use super::document::value_of_text;
use super::key;
use super::layer::{Layer, LayerKind};
use super::merge::{insert, leaves};
use super::problem::{Code, Consequence, Place, Problem, shown, suggestion};
use super::sources::Sources;

/// Variables that begin like this are config: `NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS`.
pub(super) const VARIABLE_PREFIX: &str = "NOTESOUP_CONFIG__";

/// Variables that choose the program or its files; a project's settings may not set them.
pub const RESERVED_VARIABLES: &[&str] = &[
    "NOTESOUP_BIN",
    "NOTESOUP_HOME",
    "NOTESOUP_LOG",
    "NOTESOUP_CLAUDE",
    "PI_NOTES_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "HOME",
];

/// The `notesoup` object of the client's settings.
#[derive(Debug, Default, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "documents what `layers` reads key by key, so that one bad value takes no other with it"
)]
pub struct SettingsObject {
    /// How far below the client's own automatic compaction the window is started fresh, in tokens; 8192 where no layer
    /// says otherwise.
    #[schemars(range(min = 1), extend("examples" = [8192]))]
    reset_margin_tokens: Option<u64>,
    /// How far below that reset the model is warned, in tokens; 16384 where no layer says otherwise.
    #[schemars(range(min = 1), extend("examples" = [16384]))]
    warning_runway_tokens: Option<u64>,
}

/// The options of this plugin, as `/config` shows them. One that is empty is not set.
#[derive(Debug, Default, JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "documents what `layers` reads key by key, so that one bad value takes no other with it"
)]
pub struct PluginOptions {
    /// What a compaction does: the name of a profile.
    #[schemars(extend("examples" = ["both", "notesoup", "compact-shaper"]))]
    profile: Option<String>,
    /// How far below the client's own automatic compaction the window is started fresh, in tokens.
    #[schemars(with = "Option<Unset<Positive>>", extend("examples" = [8192]))]
    reset_margin_tokens: (),
    /// How far below that reset the model is warned, in tokens.
    #[schemars(with = "Option<Unset<Positive>>", extend("examples" = [16384]))]
    warning_runway_tokens: (),
    /// How many of the newest messages /compact prune never cuts.
    #[schemars(with = "Option<Unset<NotNegative>>", extend("examples" = [6]))]
    preserve_recent_messages: (),
    /// How many characters of a cut tool output stay.
    #[schemars(with = "Option<Unset<NotNegative>>", extend("examples" = [300]))]
    keep_head_chars: (),
}

/// The options of the older plugin compact-shaper, which go on to count.
#[derive(Debug, Default, JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "documents what `layers` reads key by key, so that one bad value takes no other with it"
)]
pub struct OlderOptions {
    /// How many of the newest messages /compact prune never cuts.
    #[schemars(with = "Option<Unset<NotNegative>>", extend("examples" = [6]))]
    preserve_recent_messages: (),
    /// How many characters of a cut tool output stay.
    #[schemars(with = "Option<Unset<NotNegative>>", extend("examples" = [300]))]
    keep_head_chars: (),
}

/// A number, or the empty text that stands for none.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "a shape for the schema")]
enum Unset<T> {
    Set(T),
    Empty(Empty),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "a shape for the schema")]
enum Empty {
    #[schemars(rename = "")]
    Empty,
}

#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "a shape for the schema")]
struct Positive(#[schemars(range(min = 1))] u64);

#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "a shape for the schema")]
struct NotNegative(u64);

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
            .help("set it in your own settings, or in the shell")
            .then(Consequence::ValueIgnored),
        );
    }

    let mut layers = Vec::new();
    layers.extend(variables(LayerKind::ProjectVariables, &of_project, problems));
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
            let known = || MARGINS.iter().map(|key| key.name);
            for name in values.keys().filter(|name| known().all(|known| known != name.as_str())) {
                problems.push(
                    Problem::new(
                        Code::UnknownKey,
                        Place::source(format!("settings, notesoup: {}", shown(name))),
                        format!("there is no key `{}` here", shown(name)),
                    )
                    .key(key::join("notesoup", name))
                    .help(suggestion(name, known().collect::<Vec<_>>()))
                    .then(Consequence::ValueIgnored),
                );
            }
        }
        None | Some(serde_json::Value::Null) => {}
        Some(other) => problems.push(
            ignored(other, Place::source("settings"), "notesoup")
                .help("give an object with `resetMarginTokens` and `warningRunwayTokens`, or leave it out"),
        ),
    }
    layers.extend(object.finish());
    layers.extend(variables(LayerKind::Variables, &of_person, problems));
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
            layer: Layer::empty(kind),
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
            match whole(value).filter(|number| number >= min) {
                Some(number) => self.set(key, Value::from(number), place),
                None => problems.push(ignored(value, place, key).help(if *min > 0 {
                    "give a positive whole number, or leave it out"
                } else {
                    "give a whole number, 0 or more, or leave it out"
                })),
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
            None => problems.push(ignored(value, place, "profile").help("give the name of a profile")),
        }
    }

    fn set(&mut self, key: &str, value: Value, place: Place) {
        insert(&mut self.layer.dict, &key::split(key), value);
        self.layer.names.insert(key.to_owned(), place);
    }

    fn finish(self) -> Option<Layer> {
        (!self.layer.dict.is_empty()).then_some(self.layer)
    }
}

fn ignored(value: &serde_json::Value, place: Place, key: &str) -> Problem {
    Problem::new(
        Code::InvalidValue,
        place,
        format!("found `{}`", shown(&value.to_string())),
    )
    .key(key)
    .then(Consequence::ValueIgnored)
}

/// A JSON number that is whole, e.g. `8192` or `8192.0`; no string, and nothing that a 64-bit number cannot hold.
fn whole(value: &serde_json::Value) -> Option<i64> {
    // 2^53: above it a float no longer names one whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= EXACT && !value.is_u64()).then_some(float as i64)
    })
}

/// An option that nobody has set arrives as `""`, also where it is a number.
fn is_unset(value: &serde_json::Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn variables(
    kind: LayerKind,
    variables: &BTreeMap<String, std::ffi::OsString>,
    problems: &mut Vec<Problem>,
) -> Option<Layer> {
    let mut builder = Builder::new(kind);
    for (name, value) in variables {
        let Some(rest) = name.strip_prefix(VARIABLE_PREFIX) else {
            continue;
        };
        let key = key_of_variable(rest);
        let place = Place::source(format!("variable {name}"));
        match value.to_str() {
            Some(text) => builder.set(&key, value_of_text(text), place),
            None => problems.push(
                Problem::new(Code::InvalidValue, place, "the value is not UTF-8")
                    .key(key)
                    .help("set it again, or unset it")
                    .then(Consequence::ValueIgnored),
            ),
        }
    }
    builder.finish()
}

/// `WINDOW__RESET_MARGIN_TOKENS` is `window.reset_margin_tokens`, `HOOKS__OUR_RESET__ENABLED` is
/// `hooks.our-reset.enabled`: a variable's name has no `-`, and ids of rows and profiles have no `_`.
fn key_of_variable(name: &str) -> String {
    let mut key = String::new();
    let mut before = String::new();
    for part in name.split("__") {
        let mut part = part.to_lowercase();
        if matches!(before.as_str(), "hooks" | "profiles") {
            part = part.replace('_', "-");
        }
        key = key::join(&key, &part);
        before = part;
    }
    key
}

fn is_open(section: &str) -> bool {
    matches!(section, "window" | "prune")
}

/// Whether the types want a number or a switch there. A value of another kind, and a key that is not there at all, are
/// left to the check, which knows what to say of them.
fn may_be_a_projects(path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    if names.len() < 2 || !names.first().is_some_and(|section| is_open(section)) {
        return false;
    }
    match part(schema(), &names) {
        Some(schema) => {
            let kind = schema.get("type").and_then(serde_json::Value::as_str);
            matches!(kind, Some("integer" | "number" | "boolean"))
        }
        None => names.len() == 2,
    }
}

/// Leaves of a project's layer only what a project may set: numbers and switches of `[window]` and `[prune]`. A cloned
/// repository must not bring texts, paths or rows.
pub(super) fn keep_what_a_project_may_set(layer: &mut Layer) -> Vec<Problem> {
    let mut kept = Dict::new();
    let mut problems = Vec::new();
    for key in leaves(&layer.dict, "") {
        let path = key::split(&key);
        match layer.value(&key) {
            Some(Value::Dict(_, inner)) if inner.is_empty() && path.first().is_some_and(|name| is_open(name)) => {}
            Some(value) if may_be_a_projects(&path) => insert(&mut kept, &path, value.clone()),
            _ => problems.push(
                Problem::new(
                    Code::NotAllowedHere,
                    layer.place_of_key(&key),
                    "a project may not set this",
                )
                .key(&key)
                .help(
                    "a project sets numbers and switches of [window] and [prune] only; put it into your own hooks.toml",
                )
                .then(Consequence::ValueIgnored),
            ),
        }
    }
    layer.dict = kept;
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_names_a_key() {
        for (name, key) in [
            ("WINDOW__RESET_MARGIN_TOKENS", "window.reset_margin_tokens"),
            ("HOOKS__OUR_RESET__ENABLED", "hooks.our-reset.enabled"),
            (
                "PROFILES__COMPACT_SHAPER__HOOKS__BOOT_AGAIN__WHEN__AGENT",
                "profiles.compact-shaper.hooks.boot-again.when.agent",
            ),
            ("LANGUAGE", "language"),
        ] {
            assert_eq!(key_of_variable(name), key);
        }
    }

    #[test]
    fn only_a_whole_number_is_one() {
        for (value, expected) in [
            ("8192", Some(8192)),
            ("8192.0", Some(8192)),
            ("-1", Some(-1)),
            ("0.5", None),
            ("1e300", None),
            ("18446744073709551615", None),
            ("\"NaN\"", None),
            ("\"8192\"", None),
            ("true", None),
            ("[1]", None),
        ] {
            assert_eq!(whole(&serde_json::from_str(value).unwrap()), expected, "{value}");
        }
    }
}
