//! What a schema cannot say: events and handlers exist, patterns compile, texts use known placeholders, orders are
//! unique.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::layers::{self, Layer};
use super::problem::{Code, Place, Problem, suggestion};
use super::table::{COMMON_FIELDS, Condition, Row, compile, fields_of};
use super::{Config, Document};
use crate::texts::{catalog, placeholders};
use crate::wire::Event;

/// What the table may name in `run`. The handlers give it, so that the config need not know them.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    /// The handlers.
    pub handlers: &'a [HandlerInfo],
}

/// A handler, as far as a row's check needs it.
#[derive(Debug, Clone, Copy)]
pub struct HandlerInfo {
    /// Its name in `run`.
    pub name: &'static str,
    /// The events it serves.
    pub events: &'static [Event],
    /// Says what is wrong with a row's `options`.
    pub check_options: fn(&Map<String, Value>) -> Result<(), String>,
}

impl Catalog<'_> {
    fn find(&self, name: &str) -> Option<&HandlerInfo> {
        self.handlers.iter().find(|handler| handler.name == name)
    }
}

/// Checks one layer on top of the defaults.
pub(super) fn alone(layer: &Layer, defaults: &Layer, catalog: &Catalog<'_>) -> Vec<Problem> {
    let config = match layers::extract_on_defaults(layer, defaults) {
        Ok(config) => config,
        Err(problem) => return vec![*problem],
    };
    let mut problems = Vec::new();
    for (id, row) in &config.hooks {
        if layer.has(&format!("hooks.{id}")) {
            check_row(id, row, layer, catalog, &mut problems);
        }
    }
    for (name, pool) in &config.texts.0 {
        if layer.has(&format!("texts.{name}")) {
            check_text(name, pool, layer, &mut problems);
        }
    }
    if config.schema_version != 1 {
        problems.push(
            Problem::new(
                Code::InvalidValue,
                layer.place_of("schema_version"),
                format!(
                    "this program reads version 1, the file is of version {}",
                    config.schema_version
                ),
            )
            .key("schema_version")
            .help("update notesoup, or set it to 1"),
        );
    }
    problems
}

/// Checks what only the merged rows show.
pub(super) fn together(config: &Config, layers: &[Layer], catalog: &Catalog<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut taken: BTreeMap<(&str, u32), &str> = BTreeMap::new();
    for (id, row) in config.hooks.iter().filter(|(_, row)| row.enabled) {
        // A row that a person's layer changed may fit its own layer alone and not the merged table.
        if let Some(top) = layers.iter().rev().find(|layer| layer.has(&format!("hooks.{id}"))) {
            check_row(id, row, top, catalog, &mut problems);
        }
        let key = format!("hooks.{id}.order");
        if let Some(other) = taken.insert((row.event.as_str(), row.order), id) {
            // Of the two, the one that the higher layer gives is meant.
            let height = |key: &str| layers.iter().rposition(|layer| layer.has(key)).unwrap_or(0);
            let other_key = format!("hooks.{other}.order");
            let (key, other) = if height(&other_key) > height(&key) {
                (other_key, id.as_str())
            } else {
                (key, other)
            };
            let place = layers
                .iter()
                .rev()
                .find(|layer| layer.has(&key))
                .map(|layer| layer.place_of(&key));
            problems.push(
                Problem::new(
                    Code::DuplicateOrder,
                    place.unwrap_or_default(),
                    format!("`{other}` has order {} for {} already", row.order, row.event),
                )
                .key(key)
                .help("give each live row of an event its own order"),
            );
        }
    }
    problems
}

fn check_row(id: &str, row: &Row, layer: &Layer, catalog: &Catalog<'_>, problems: &mut Vec<Problem>) {
    let at = |field: &str| format!("hooks.{id}.{field}");
    if !id
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        || id.is_empty()
    {
        let key = format!("hooks.{id}");
        problems.push(
            Problem::new(
                Code::UnknownKey,
                place_of_key(layer, &key),
                format!("`{id}` is no id for a row"),
            )
            .key(key)
            .help("use lower-case letters, digits and `-`"),
        );
    }
    let Some(event) = Event::from_name(&row.event) else {
        let key = at("event");
        problems.push(
            Problem::new(
                Code::UnknownEvent,
                layer.place_of(&key),
                format!("there is no event `{}`", row.event),
            )
            .key(key)
            .help(suggestion(
                &row.event,
                Event::ALL.iter().map(|event| event.name()).collect::<Vec<_>>(),
            )),
        );
        return;
    };
    match catalog.find(&row.run) {
        None => {
            let key = at("run");
            problems.push(
                Problem::new(
                    Code::UnknownHandler,
                    layer.place_of(&key),
                    format!("there is no handler `{}`", row.run),
                )
                .key(key)
                .help(suggestion(
                    &row.run,
                    catalog.handlers.iter().map(|handler| handler.name).collect::<Vec<_>>(),
                )),
            );
        }
        Some(handler) if !handler.events.contains(&event) => {
            let key = at("run");
            let serves: Vec<_> = handler
                .events
                .iter()
                .map(|event| format!("`{}`", event.name()))
                .collect();
            problems.push(
                Problem::new(
                    Code::UnknownHandler,
                    layer.place_of(&key),
                    format!("`{}` does not serve `{}`", row.run, row.event),
                )
                .key(key)
                .help(format!("it serves {}", serves.join(", "))),
            );
        }
        Some(handler) => {
            if let Err(message) = (handler.check_options)(&row.options) {
                let key = at("options");
                problems.push(Problem::new(Code::InvalidValue, layer.place_of(&key), message).key(key));
            }
        }
    }
    check_when(id, row, event, layer, problems);
}

fn check_when(id: &str, row: &Row, event: Event, layer: &Layer, problems: &mut Vec<Problem>) {
    for (field, condition) in &row.when {
        let key = format!("hooks.{id}.when.{field}");
        let known = || COMMON_FIELDS.iter().chain(fields_of(event)).map(|field| field.name);
        if !known().any(|name| name == field) {
            problems.push(
                Problem::new(
                    Code::UnknownField,
                    place_of_key(layer, &key),
                    format!("`{}` has no field `{field}`", event.name()),
                )
                .key(key)
                .help(suggestion(field, known().collect::<Vec<_>>())),
            );
            continue;
        }
        if field == "agent" {
            let words = match condition {
                Condition::Matches(word) => vec![word.as_str()],
                Condition::AnyOf(words) => words.iter().map(String::as_str).collect(),
                Condition::Is(_) => vec!["true"],
            };
            if let Some(word) = words.into_iter().find(|word| !matches!(*word, "main" | "sub" | "any")) {
                problems.push(
                    Problem::new(
                        Code::InvalidValue,
                        layer.place_of(&key),
                        format!("there is no agent `{word}`"),
                    )
                    .key(key)
                    .help("use `main`, `sub` or `any`"),
                );
            }
        } else if let Condition::Matches(pattern) = condition
            && let Err(error) = compile(field, pattern)
        {
            // The last line of the message is the reason, the others draw the pattern.
            let reason = error.to_string();
            let reason = reason
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            problems.push(
                Problem::new(
                    Code::InvalidPattern,
                    layer.place_of(&key),
                    format!("the pattern does not compile: {reason}"),
                )
                .key(key)
                .help("mend the regular expression, or give a list of exact values"),
            );
        }
    }
}

fn check_text(name: &str, pool: &crate::texts::Pool, layer: &Layer, problems: &mut Vec<Problem>) {
    let key = format!("texts.{name}");
    let Some(text) = catalog::find(name) else {
        let known: Vec<_> = catalog::ALL.iter().map(|text| text.name).collect();
        let help = super::problem::nearest(name, known).map_or_else(
            || "`notesoup config show texts` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        problems.push(
            Problem::new(
                Code::UnknownKey,
                place_of_key(layer, &key),
                format!("there is no text `{name}`"),
            )
            .key(key)
            .help(help),
        );
        return;
    };
    if pool.pool.iter().all(|variant| variant.text().trim().is_empty()) {
        let key = format!("{key}.pool");
        problems.push(
            Problem::new(Code::EmptyPool, layer.place_of(&key), "the pool has no text")
                .key(key)
                .help("give it one at least"),
        );
    }
    for (index, variant) in pool.pool.iter().enumerate() {
        for found in placeholders(variant.text()) {
            if text.placeholders.contains(&found) {
                continue;
            }
            let key = format!("{key}.pool.{index}");
            let help = if text.placeholders.is_empty() {
                "it has none; write a literal brace twice: `{{`".to_owned()
            } else {
                suggestion(found, text.placeholders.iter().copied())
            };
            problems.push(
                Problem::new(
                    Code::UnknownPlaceholder,
                    layer.place_of(&key),
                    format!("the text `{name}` has no placeholder `{{{found}}}`"),
                )
                .key(key)
                .help(help),
            );
        }
    }
}

fn place_of_key(layer: &Layer, key: &str) -> Place {
    layer
        .document
        .as_ref()
        .map_or_else(|| layer.place_of(key), |document: &Document| document.place_of_key(key))
}
