//! One key's story: what it means, what each layer says of it, and what holds.

use figment::value::Value as Layered;
use serde::Serialize;
use serde_json::Value;

use super::check::shape::{describe, part, schema};
use super::check::{Catalog, HandlerInfo};
use super::key;
use super::layer::{Layer, LayerKind};
use super::load::Loaded;
use super::origin::Origin;
use super::problem::{Place, nearest};
use super::{Config, Row};
use crate::texts::catalog::{self, Text};
use crate::wire::Event;

/// What became of what a layer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It holds.
    Holds,
    /// It holds beside that of other layers (a table, a pool with `add`).
    Joins,
    /// A higher layer says otherwise.
    Overridden,
    /// A higher layer names another handler, to which these options mean nothing.
    Dropped,
    /// The layer was left out.
    Refused,
}

/// What one layer says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// Which layer.
    pub layer: LayerKind,
    /// Where.
    pub place: Place,
    /// What.
    pub value: Value,
    /// Whether it holds.
    pub standing: Standing,
    /// True: the file is broken now, and this is from its last good copy.
    pub is_last_good: bool,
}

/// A key below the one that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Below {
    /// The whole dotted key.
    pub key: String,
    /// What holds.
    pub value: Value,
    /// Where it comes from; absent where no layer says it and the type's own default holds.
    pub origin: Option<Origin>,
}

/// Whether a row runs, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Liveness {
    /// Whether it is live.
    pub is_live: bool,
    /// Why or why not, in a sentence.
    pub because: String,
    /// The rows of the same event, in their order, with this one among them.
    pub beside: Vec<String>,
}

/// A key's story.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Story {
    /// The dotted key.
    pub key: String,
    /// What it means.
    pub about: Option<String>,
    /// What it may be, in words.
    pub allowed: Option<String>,
    /// What holds; absent where nothing does.
    pub value: Option<Value>,
    /// Each layer's word, lowest first.
    pub said: Vec<Said>,
    /// Of a table, its keys.
    pub below: Vec<Below>,
    /// Of a row, whether it is live.
    pub row: Option<Liveness>,
    /// Of a text, the placeholders that it may use.
    pub placeholders: Option<Vec<&'static str>>,
}

/// Every dotted key that holds, with its value and origin; rows, texts and profiles included.
pub fn all(loaded: &Loaded) -> Vec<Below> {
    let values = serde_json::to_value(&loaded.config).unwrap_or_default();
    let mut found = Vec::new();
    flatten(&values, "", &mut found);
    found
        .into_iter()
        .map(|(key, value)| Below {
            origin: loaded.origin(&key),
            key,
            value,
        })
        .collect()
}

fn flatten(value: &Value, prefix: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) if !object.is_empty() || prefix.is_empty() => {
            for (name, value) in object {
                flatten(value, &key::join(prefix, name), found);
            }
        }
        value => found.push((prefix.to_owned(), value.clone())),
    }
}

/// The story of a key.
///
/// # Errors
/// When there is no such key: the nearest that there is, if one is near.
pub fn story(loaded: &Loaded, catalog: &Catalog<'_>, asked: &str) -> Result<Story, Option<String>> {
    let path = key::split(asked);
    let asked = path.iter().fold(String::new(), |key, part| key::join(&key, part));
    let all = all(loaded);
    let value = value_of(&loaded.config, &path);
    let said = said(loaded, &asked);
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let documented = part(schema(), &names);
    let is_known = documented.is_some_and(|_| !is_open(&path)) || value.is_some() || !said.is_empty();
    if !is_known {
        return Err(nearest_key(&asked, &all));
    }
    let below = match &value {
        Some(Value::Object(_)) => {
            let prefix = format!("{asked}.");
            all.into_iter().filter(|below| below.key.starts_with(&prefix)).collect()
        }
        _ => Vec::new(),
    };
    let (mut about, mut allowed, mut row, mut placeholders) = (None, None, None, None);
    match names.as_slice() {
        ["hooks", id] => {
            let own = loaded.config.hooks.get(*id);
            about = own.and_then(|row| row.why.clone());
            row = own.map(|row| liveness(loaded, catalog, id, row));
        }
        ["texts", name] | ["texts", name, ..] => {
            if let Some(Text {
                about: meaning,
                placeholders: names,
                ..
            }) = catalog::find(name)
            {
                about = Some((*meaning).to_owned());
                placeholders = Some(names.to_vec());
            }
        }
        _ => {}
    }
    if let Some(schema) = documented {
        let described = schema.get("description").and_then(Value::as_str);
        about = about.or_else(|| described.map(one_line_each));
        if below.is_empty() && row.is_none() {
            allowed = Some(describe(schema));
        }
    }
    if let ["hooks", id, "options"] = names.as_slice()
        && let Some(handler) = loaded.config.hooks.get(*id).and_then(|row| catalog.find(&row.run))
    {
        allowed = Some(format!("the options of the handler `{}`", handler.name));
    }
    Ok(Story {
        key: asked,
        about,
        allowed,
        value,
        said,
        below,
        row,
        placeholders,
    })
}

fn one_line_each(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n")
}

/// Tables whose names are a person's own, so that the schema allows any.
fn is_open(path: &[String]) -> bool {
    matches!(path.first().map(String::as_str), Some("hooks" | "profiles" | "texts")) && path.len() > 1
}

fn value_of(config: &Config, path: &[String]) -> Option<Value> {
    let values = serde_json::to_value(config).ok()?;
    path.iter().try_fold(values, |value, part| match value {
        Value::Object(mut object) => object.remove(part),
        Value::Array(mut items) => {
            let index = part.parse::<usize>().ok().filter(|index| *index < items.len())?;
            Some(items.swap_remove(index))
        }
        _ => None,
    })
}

fn said(loaded: &Loaded, asked: &str) -> Vec<Said> {
    let mut words: Vec<Said> = Vec::new();
    for layer in &loaded.layers {
        if let Some(value) = layer.value(asked) {
            words.push(word(layer, asked, value, Standing::Holds));
        }
    }
    settle(loaded, asked, &mut words);
    for layer in &loaded.refused {
        if let Some(value) = layer.value(asked) {
            words.push(word(layer, asked, value, Standing::Refused));
        }
    }
    words.sort_by_key(|word| word.layer);
    words
}

fn word(layer: &Layer, asked: &str, value: &Layered, standing: Standing) -> Said {
    Said {
        layer: layer.kind,
        place: layer.place_of(asked),
        value: serde_json::to_value(value).unwrap_or_default(),
        standing,
        is_last_good: layer.is_last_good,
    }
}

/// Of several words the highest holds; tables join, pools that add join, options of another handler are dropped.
fn settle(loaded: &Loaded, asked: &str, words: &mut [Said]) {
    let Some((highest, lower)) = words.split_last_mut() else {
        return;
    };
    let path = key::split(asked);
    let adds = |layer: LayerKind| {
        let add = key::parent(asked)
            .map(|table| format!("{table}.add"))
            .unwrap_or_default();
        loaded
            .layers
            .iter()
            .any(|of| of.kind == layer && of.value(&add).and_then(Layered::to_bool) == Some(true))
    };
    let mut joins = highest.value.is_object();
    let mut is_pool =
        path.first().is_some_and(|first| first == "texts") && path.last().is_some_and(|last| last == "pool");
    is_pool = is_pool && adds(highest.layer);
    if (joins || is_pool) && !lower.is_empty() {
        highest.standing = Standing::Joins;
    }
    let dropped_below = dropped_below(loaded, &path);
    for word in lower.iter_mut().rev() {
        word.standing = match dropped_below {
            Some(kind) if word.layer < kind => Standing::Dropped,
            _ if joins || is_pool => Standing::Joins,
            _ => Standing::Overridden,
        };
        joins = joins && word.value.is_object();
        is_pool = is_pool && adds(word.layer);
    }
}

/// The layer whose handler the options of a row belong to: what lies below it is dropped.
fn dropped_below(loaded: &Loaded, path: &[String]) -> Option<LayerKind> {
    let [hooks, id, options, ..] = path else { return None };
    if hooks != "hooks" || options != "options" {
        return None;
    }
    let run = format!("{}.run", key::join("hooks", id));
    let mut handler: Option<&Layered> = None;
    let mut changed = None;
    for layer in &loaded.layers {
        if let Some(value) = layer.value(&run) {
            if handler.is_some_and(|below| below != value) {
                changed = Some(layer.kind);
            }
            handler = Some(value);
        }
    }
    changed
}

fn liveness(loaded: &Loaded, catalog: &Catalog<'_>, id: &str, row: &Row) -> Liveness {
    let origin = |name: &str| {
        let origin = loaded.origin(&format!("{}.{name}", key::join("hooks", id)));
        origin.map_or_else(|| "the default".to_owned(), |origin| origin.to_string())
    };
    let rows = loaded.config.rows_of(&row.event);
    let beside = rows
        .iter()
        .map(|(id, row)| format!("{} {id} → {}", row.order, row.run))
        .collect();
    let because = if !row.enabled {
        format!("`enabled = false` says {}", origin("enabled"))
    } else if Event::from_name(&row.event).is_none() {
        format!("there is no event `{}`", row.event)
    } else if let Some(HandlerInfo { name, .. }) = catalog.find(&row.run) {
        format!("enabled, and `{name}` serves `{}`", row.event)
    } else {
        format!("there is no handler `{}`", row.run)
    };
    Liveness {
        is_live: row.enabled && Event::from_name(&row.event).is_some() && catalog.find(&row.run).is_some(),
        because,
        beside,
    }
}

fn nearest_key(asked: &str, all: &[Below]) -> Option<String> {
    let mut known: Vec<String> = Vec::new();
    for below in all {
        let mut key = Some(below.key.as_str());
        while let Some(name) = key {
            known.push(name.to_owned());
            key = key::parent(name);
        }
    }
    known.sort();
    known.dedup();
    let near = nearest(asked, known.iter().map(String::as_str));
    // A last part alone is often what is remembered: `reset_margin_tokens`.
    let ends = || known.iter().find(|key| key.rsplit('.').next() == Some(asked));
    let begins = || known.iter().find(|key| key.starts_with(asked));
    near.map(str::to_owned).or_else(|| ends().or_else(begins).cloned())
}
