//! Keys, types and ranges, by the schema of the types: every slip at once, each with what is allowed.
//!
//! Not a full reading of JSON Schema: as much of it as the types of the config use. The types stay the judge; what this
//! overlooks, the merge still refuses.

use std::sync::OnceLock;

use figment::value::{Num, Value};
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use crate::config::Config;
use crate::config::key::join;
use crate::config::problem::{Code, listed, nearest, shown, suggestion};

/// A slip: the dotted key below the one that was asked about, the kind, what was found, what to do.
pub(super) struct Slip {
    pub key: String,
    pub code: Code,
    pub message: String,
    pub help: String,
}

/// The schema of the whole config, each type in its place, without nulls.
pub fn schema() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
        without_null(&mut schema);
        schema
    })
}

/// Takes `null` out of what may be absent: TOML has none.
pub fn without_null(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(without_null),
        Json::Object(object) => {
            object.values_mut().for_each(without_null);
            if let Some(Json::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            for word in ["anyOf", "oneOf"] {
                let Some(Json::Array(variants)) = object.get_mut(word) else {
                    continue;
                };
                let before = variants.len();
                variants.retain(|variant| variant.get("type").is_none_or(|name| name != "null"));
                if before == variants.len() || variants.len() != 1 {
                    continue;
                }
                if let Some(Json::Object(only)) = variants.pop() {
                    object.remove(word);
                    for (name, value) in only {
                        object.entry(name).or_insert(value);
                    }
                }
            }
            if object.get("default") == Some(&Json::Null) {
                object.remove("default");
            }
        }
        _ => {}
    }
}

/// The schema of a part of the config, by its path; an unknown part has none.
pub fn part<'a>(schema: &'a Json, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(schema, |schema, name| property(schema, name))
}

fn property<'a>(schema: &'a Json, name: &str) -> Option<&'a Json> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
}

/// The names that a table of this schema has.
pub fn names(schema: &Json) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Looks for slips in a value that stands at `key`.
pub(super) fn walk(value: &Value, schema: &Json, key: &str, slips: &mut Vec<Slip>) {
    match value {
        Value::Dict(_, dict) if is_of(schema, "object") => {
            for (name, value) in dict {
                let key = join(key, name);
                match property(schema, name) {
                    Some(schema) => walk(value, schema, &key, slips),
                    None => slips.push(unknown_key(key, name, &names(schema))),
                }
            }
        }
        Value::Array(_, items) if is_of(schema, "array") => {
            let Some(of_items) = schema.get("items") else { return };
            for (index, item) in items.iter().enumerate() {
                walk(item, of_items, &format!("{key}.{index}"), slips);
            }
        }
        value if fits(value, schema) => {}
        value => slips.push(Slip {
            key: key.to_owned(),
            code: Code::InvalidValue,
            message: format!("found {}", found(value)),
            help: wanted(value, schema),
        }),
    }
}

/// A key that does not exist.
pub(super) fn unknown_key(key: String, name: &str, known: &[&str]) -> Slip {
    Slip {
        key,
        code: Code::UnknownKey,
        message: format!("there is no key `{}` here", shown(name)),
        help: suggestion(name, known.to_vec()),
    }
}

fn is_of(schema: &Json, kind: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(name)) => name == kind,
        Some(Json::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

fn fits(value: &Value, schema: &Json) -> bool {
    let Some(object) = schema.as_object() else { return true };
    if let Some(words) = words_of(schema) {
        return value.as_str().is_some_and(|found| words.contains(&found));
    }
    if !object.contains_key("type") {
        return true;
    }
    match value {
        Value::Bool(..) => is_of(schema, "boolean"),
        Value::String(..) | Value::Char(..) => is_of(schema, "string"),
        Value::Num(_, Num::F32(_) | Num::F64(_)) => is_of(schema, "number") && in_range(value.to_num(), schema),
        Value::Num(..) => (is_of(schema, "integer") || is_of(schema, "number")) && in_range(value.to_num(), schema),
        _ => false,
    }
}

fn in_range(number: Option<Num>, schema: &Json) -> bool {
    let Some(number) = number else { return false };
    if let Some(float) = number.to_f64() {
        let limit = |word: &str| schema.get(word).and_then(Json::as_f64);
        return float.is_finite()
            && limit("minimum").is_none_or(|min| float >= min)
            && limit("maximum").is_none_or(|max| float <= max);
    }
    let whole = number
        .to_i128()
        .or_else(|| number.to_u128().and_then(|number| i128::try_from(number).ok()));
    let (min, max) = limits(schema);
    whole.is_some_and(|whole| min.is_none_or(|min| whole >= min) && max.is_none_or(|max| whole <= max))
}

/// The least and the greatest whole number, as far as the schema or the type sets one.
fn limits(schema: &Json) -> (Option<i128>, Option<i128>) {
    let limit = |word: &str| {
        schema.get(word).and_then(|limit| {
            limit
                .as_i64()
                .map(i128::from)
                .or_else(|| limit.as_f64().map(|float| float as i128))
        })
    };
    let of_type = match schema.get("format").and_then(Json::as_str) {
        Some("uint8") => Some(i128::from(u8::MAX)),
        Some("uint16") => Some(i128::from(u16::MAX)),
        Some("uint32") => Some(i128::from(u32::MAX)),
        // TOML's own limit.
        _ => Some(i128::from(i64::MAX)),
    };
    let max = limit("maximum").into_iter().chain(of_type).min();
    (limit("minimum"), max)
}

/// The words that an enumeration allows.
fn words_of(schema: &Json) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return words.iter().map(Json::as_str).collect();
    }
    let word = |variant: &'_ Json| -> Option<_> { Some(variant.get("const")?.as_str()?.to_owned()) };
    let variants = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    if variants.iter().all(|variant| word(variant).is_some()) {
        return variants.iter().map(|variant| variant.get("const")?.as_str()).collect();
    }
    None
}

/// A value as a message shows it.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("the text `{}`", shown(text)),
        Value::Char(_, char) => format!("the text `{char}`"),
        Value::Bool(_, flag) => format!("`{flag}`"),
        Value::Num(_, number) => format!("`{}`", number_text(*number)),
        Value::Dict(..) => "a table".to_owned(),
        Value::Array(..) => "a list".to_owned(),
        Value::Empty(..) => "nothing".to_owned(),
    }
}

fn number_text(number: Num) -> String {
    if let Some(float) = number.to_f64() {
        return format!("{float:?}");
    }
    number.to_i128().map_or_else(
        || number.to_u128().map(|number| number.to_string()).unwrap_or_default(),
        |number| number.to_string(),
    )
}

fn wanted(value: &Value, schema: &Json) -> String {
    if let (Some(words), Some(found)) = (words_of(schema), value.as_str())
        && let Some(near) = nearest(found, words)
    {
        return format!("did you mean `{near}`?");
    }
    // A number in quotes is the usual slip.
    let is_quoted_number = |text: &str| text.parse::<i64>().is_ok() && is_of(schema, "integer");
    if value.as_str().is_some_and(is_quoted_number) {
        return format!("write it without quotes: {}", describe(schema));
    }
    let most = limits(schema).1;
    let is_above = |number: i128| most.is_some_and(|most| number > most);
    if let (true, Some(most)) = (value.to_i128().is_some_and(is_above), most)
        && schema.get("maximum").is_none()
    {
        return format!("give {}, {most} at most", describe(schema));
    }
    format!("give {}", describe(schema))
}

/// What a value may be, in words.
pub fn describe(schema: &Json) -> String {
    if let Some(words) = words_of(schema) {
        return format!("one of {}", listed(words));
    }
    let named: Vec<_> = ["boolean", "integer", "number", "string", "array", "object"]
        .into_iter()
        .filter(|kind| is_of(schema, kind))
        .map(|kind| match kind {
            "boolean" => "true or false".to_owned(),
            "integer" => whole_number(schema),
            "number" => "a number".to_owned(),
            "string" => "a text".to_owned(),
            "array" => match schema.get("items").map(describe) {
                Some(items) if items == "a text" => "a list of texts".to_owned(),
                Some(items) => format!("a list, each entry {items}"),
                None => "a list".to_owned(),
            },
            _ => "a table".to_owned(),
        })
        .collect();
    if !named.is_empty() {
        return named.join(" or ");
    }
    let variants = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))
        .and_then(Json::as_array);
    match variants {
        Some(variants) => variants.iter().map(describe).collect::<Vec<_>>().join(", or "),
        None => "any value".to_owned(),
    }
}

fn whole_number(schema: &Json) -> String {
    let limit = |word: &str| schema.get(word).and_then(Json::as_i64);
    match (limit("minimum"), limit("maximum")) {
        (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
        (Some(min), None) => format!("a whole number, {min} or more"),
        (None, Some(max)) => format!("a whole number, {max} or less"),
        (None, None) => "a whole number".to_owned(),
    }
}
