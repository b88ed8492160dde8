//! A project's `.claude/notesoup.toml`: numbers and switches of two sections.

use serde_json::{Map, Value, json};

use super::hooks::take;
use super::tidy;
use crate::config::Config;
use crate::config::check::shape::without_null;

/// The sections of which a project may set numbers and switches.
const SECTIONS: &[&str] = &["window", "prune"];

/// The schema of the file.
pub(super) fn schema() -> Value {
    let mut config = super::of::<Config>();
    without_null(&mut config);
    let defs = take(&mut config, "$defs");
    let properties: Map<String, Value> = take(&mut config, "properties")
        .into_iter()
        .filter(|(name, _)| SECTIONS.contains(&name.as_str()))
        .map(|(name, section)| (name, numbers_and_switches(section, &defs)))
        .collect();
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": ".claude/notesoup.toml",
        "description": "What a project may set of notesoup: numbers and switches of [window] and [prune]. Texts, paths \
            and rows are the person's alone, and are refused here.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    tidy::titles(&mut schema);
    schema
}

/// The section with its definitions in place, without what is neither a number nor a switch.
fn numbers_and_switches(section: Value, defs: &Map<String, Value>) -> Value {
    let mut section = in_place(section, defs);
    let Value::Object(object) = &mut section else {
        return section;
    };
    object.remove("default");
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        let all = std::mem::take(properties);
        for (name, property) in all {
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            match kind {
                "integer" | "number" | "boolean" => {
                    properties.insert(name, property);
                }
                "object" => {
                    properties.insert(name, numbers_and_switches(property, defs));
                }
                _ => {}
            }
        }
    }
    if let Some(inner) = object.get_mut("additionalProperties").filter(|inner| inner.is_object()) {
        *inner = numbers_and_switches(inner.take(), defs);
    }
    section
}

fn in_place(schema: Value, defs: &Map<String, Value>) -> Value {
    match schema {
        Value::Array(items) => items.into_iter().map(|item| in_place(item, defs)).collect(),
        Value::Object(mut object) => {
            let target = object
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|target| target.rsplit('/').next());
            if let Some(Value::Object(definition)) = target.and_then(|name| defs.get(name)).cloned() {
                object.remove("$ref");
                for (name, value) in definition {
                    object.entry(name).or_insert(value);
                }
            }
            let parts = object.into_iter().map(|(name, value)| (name, in_place(value, defs)));
            Value::Object(parts.collect())
        }
        other => other,
    }
}
