//! A text: its name, its variants, its placeholders.

use figment::value::Value;

use super::layer::Findings;
use super::row::reason;
use super::shape;
use crate::config::key::join;
use crate::config::problem::{Code, nearest, shown, suggestion};
use crate::texts::catalog::{self, Text};
use crate::texts::{Pool, Variant, compile, placeholders};

/// Checks a text that a layer gives under `table` (`texts`, or a profile's).
pub(super) fn check(found: &mut Findings<'_>, table: &str, name: &str, value: &Value) {
    let key = join(table, name);
    let Some(text) = catalog::find(name) else {
        let known: Vec<_> = catalog::ALL.iter().map(|text| text.name).collect();
        let help = nearest(name, known).map_or_else(
            || "`notesoup config show texts` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        found.name(
            Code::UnknownKey,
            key,
            format!("there is no text `{}`", shown(name)),
            help,
        );
        return;
    };
    let Some(table) = found.as_table(&key, value) else {
        return;
    };
    let before = found.problems.len();
    for (name, value) in table {
        let key = join(&key, name);
        match (name.as_str(), value) {
            ("pool", Value::Array(_, variants)) => {
                for (index, variant) in variants.iter().enumerate() {
                    shape_of_variant(found, &format!("{key}.{index}"), variant);
                }
            }
            ("pool", other) => {
                let message = format!("found {}", shape::found(other));
                found.value(
                    Code::InvalidValue,
                    key,
                    message,
                    "give a list of texts, also for one alone: `[\"…\"]`",
                );
            }
            ("add", Value::Bool(..)) => {}
            ("add", other) => {
                let message = format!("found {}", shape::found(other));
                found.value(Code::InvalidValue, key, message, "give true or false");
            }
            (name, _) => found.slip(shape::unknown_key(key, name, &["pool", "add"])),
        }
    }
    if found.problems.len() > before || !table.contains_key("pool") {
        return;
    }
    if let Ok(pool) = value.deserialize::<Pool>() {
        meaning(found, &key, text, &pool);
    }
}

fn shape_of_variant(found: &mut Findings<'_>, key: &str, variant: &Value) {
    match variant {
        Value::String(..) | Value::Char(..) => {}
        Value::Dict(_, table) => {
            let schema = shape::part(shape::schema(), &["texts", "", "pool"])
                .and_then(|pool| pool.get("items")?.get("anyOf")?.as_array()?.last())
                .unwrap_or(&serde_json::Value::Null);
            found.shape(variant, schema, key);
            if !table.contains_key("text") {
                found.value(Code::MissingKey, key, "the variant has no `text`", "add `text`");
            }
        }
        other => {
            let message = format!("found {}", shape::found(other));
            found.value(Code::InvalidValue, key, message, "give a text, or a table with `text`");
        }
    }
}

fn meaning(found: &mut Findings<'_>, key: &str, text: &Text, pool: &Pool) {
    let pool_key = join(key, "pool");
    if pool.pool.is_empty() {
        found.value(
            Code::EmptyPool,
            &pool_key,
            "the pool has no text",
            "give it one at least",
        );
        return;
    }
    if pool.pool.iter().all(|variant| variant.weight() == 0) {
        found.value(
            Code::EmptyPool,
            &pool_key,
            "no text of the pool is ever chosen: each has the weight 0",
            "give one of them a weight above 0",
        );
    }
    for (index, variant) in pool.pool.iter().enumerate() {
        let key = format!("{pool_key}.{index}");
        if variant.text().trim().is_empty() {
            found.value(Code::EmptyPool, &key, "the text is empty", "write it, or take it out");
            continue;
        }
        if let Some(pattern) = variant.when().and_then(|when| when.model.as_ref())
            && let Err(error) = compile(pattern)
        {
            found.value(
                Code::InvalidPattern,
                format!("{key}.when.model"),
                format!("the pattern does not compile: {}", reason(&error)),
                "mend the regular expression",
            );
        }
        unknown_placeholders(found, &key, text, variant);
    }
}

fn unknown_placeholders(found: &mut Findings<'_>, key: &str, text: &Text, variant: &Variant) {
    for name in placeholders(variant.text()) {
        if text.placeholders.contains(&name) {
            continue;
        }
        let help = if text.placeholders.is_empty() {
            "it has none; write a literal brace twice: `{{`".to_owned()
        } else {
            suggestion(name, text.placeholders.iter().copied())
        };
        let message = format!("the text `{}` has no placeholder `{{{}}}`", text.name, shown(name));
        found.value(Code::UnknownPlaceholder, key, message, help);
        let place = found.layer.document.as_ref().map(|document| {
            let placeholder = format!("{{{name}}}");
            document.place_within(&found.layer.key_in_file(key), &placeholder)
        });
        if let (Some(place), Some(problem)) = (place, found.problems.last_mut()) {
            problem.place = place;
        }
    }
}
