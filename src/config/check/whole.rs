//! What only the merged layers show.

use std::collections::BTreeMap;

use figment::error::Kind;

use super::Catalog;
use super::layer::Findings;
use crate::config::Config;
use crate::config::key::join;
use crate::config::layer::Layer;
use crate::config::problem::{Code, Problem, suggestion};
use crate::config::table::Row;

/// Checks the merged config. Each problem comes with the layer whose doing it is, as an index.
pub(in crate::config) fn together(config: &Config, layers: &[Layer], catalog: &Catalog<'_>) -> Vec<(usize, Problem)> {
    let mut problems = Vec::new();
    for (id, row) in config.hooks.iter().filter(|(_, row)| row.enabled) {
        // A row may fit its own layer and not the merged table.
        let at = height(layers, &join("hooks", id));
        if at > 0
            && let Some(layer) = layers.get(at)
        {
            problems.extend(row_in(layer, id, row, catalog).into_iter().map(|problem| (at, problem)));
        }
    }
    problems.extend(same_order(config, layers));
    problems.extend(texts_without_a_voice(config, layers));
    problems
}

fn row_in(layer: &Layer, id: &str, row: &Row, catalog: &Catalog<'_>) -> Vec<Problem> {
    let below = figment::value::Dict::new();
    let mut found = Findings {
        layer,
        below: &below,
        catalog,
        problems: Vec::new(),
    };
    super::row::meaning(&mut found, &join("hooks", id), row);
    found.problems
}

/// The highest layer that has a key.
fn height(layers: &[Layer], key: &str) -> usize {
    layers.iter().rposition(|layer| layer.has(key)).unwrap_or(0)
}

fn same_order(config: &Config, layers: &[Layer]) -> Vec<(usize, Problem)> {
    let mut taken: BTreeMap<(&str, u32), &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for (id, row) in config.hooks.iter().filter(|(_, row)| row.enabled) {
        let Some(other) = taken.insert((row.event.as_str(), row.order), id) else {
            continue;
        };
        // Of the two, the one is at fault that the higher layer has brought here: by its order, event or switch.
        let said = |id: &str| {
            let words = ["order", "event", "enabled"].into_iter();
            let at = words.map(|word| {
                let key = join(&join("hooks", id), word);
                (height(layers, &key), key)
            });
            // `max_by_key` gives the last of equals; the order is to be named first.
            at.rev().max_by_key(|(at, _)| *at).unwrap_or_default()
        };
        let (mine, others) = (said(id), said(other));
        let ((at, key), other) = if others.0 > mine.0 {
            (others, id.as_str())
        } else {
            (mine, other)
        };
        let Some(layer) = layers.get(at) else { continue };
        let problem = Problem::new(
            Code::DuplicateOrder,
            layer.place_of(&key),
            format!("`{other}` has order {} for {} already", row.order, row.event),
        )
        .key(layer.key_in_file(&key))
        .help(free_orders(config, &row.event));
        problems.push((at, problem));
    }
    problems
}

fn free_orders(config: &Config, event: &str) -> String {
    let taken: Vec<_> = config
        .rows_of(event)
        .iter()
        .map(|(id, row)| format!("{} ({id})", row.order))
        .collect();
    format!(
        "give each live row of an event its own order; taken: {}",
        taken.join(", ")
    )
}

/// A text whose variants are all of another language, or for some sessions only, would be an empty one.
fn texts_without_a_voice(config: &Config, layers: &[Layer]) -> Vec<(usize, Problem)> {
    let is_silent = |name: &str| config.texts.is_silent(name, config.language.as_deref());
    let names = config.texts.pools().keys().filter(|name| is_silent(name));
    let problem = |name: &String| {
        let key = join(&join("texts", name), "pool");
        let (language_at, pool_at) = (height(layers, "language"), height(layers, &key));
        let (at, key) = if language_at > pool_at {
            (language_at, "language".to_owned())
        } else {
            (pool_at, key)
        };
        let layer = layers.get(at)?;
        let language = config.language.as_deref().unwrap_or("none");
        let problem = Problem::new(
            Code::EmptyPool,
            layer.place_of(&key),
            format!("the text `{name}` has no variant for every session in the language that is chosen ({language})"),
        )
        .key(layer.key_in_file(&key))
        .help("give it a variant without `lang` and `when`, which serves always, or set `language`");
        Some((at, problem))
    };
    names.filter_map(problem).collect()
}

/// Says of a merge's error where its value stands: a net below the checks, which see these things first.
pub(in crate::config) fn of_merge(error: &figment::Error, layers: &[Layer]) -> (usize, Problem) {
    let mut key = error.path.iter().fold(String::new(), |key, part| join(&key, part));
    let (code, message, help) = match &error.kind {
        Kind::UnknownField(name, known) => {
            key = join(&key, name);
            let help = suggestion(name, known.iter().copied());
            (Code::UnknownKey, format!("there is no key `{name}` here"), help)
        }
        Kind::MissingField(name) => (
            Code::MissingKey,
            format!("the key `{name}` is missing"),
            format!("add `{name}`"),
        ),
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            (Code::InvalidValue, format!("found {found}"), format!("give {expected}"))
        }
        other => (
            Code::InvalidValue,
            other.to_string(),
            "mend it, or take it out".to_owned(),
        ),
    };
    let at = layers
        .iter()
        .rposition(|layer| layer.has(&key))
        .unwrap_or(layers.len().saturating_sub(1));
    let (place, key) = layers.get(at).map_or_else(Default::default, |layer| {
        let place = match code {
            Code::UnknownKey => layer.place_of_key(&key),
            _ => layer.place_of(&key),
        };
        (place, layer.key_in_file(&key))
    });
    (at, Problem::new(code, place, message).key(key).help(help))
}
