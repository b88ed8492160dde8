//! A tool's parameters, read strictly but with patience for what models send.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Refusal;

/// The JSON Schema of a tool's parameters or answer, all in one place: a model reads no references.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    let mut schema = schema.to_value();
    join_lines(&mut schema);
    schema
}

/// A description is one line, however the comment that it comes from was broken.
fn join_lines(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            for (name, value) in entries {
                match value {
                    Value::String(text) if name == "description" => *text = text.replace('\n', " "),
                    _ => join_lines(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(join_lines),
        _ => {}
    }
}

/// Reads a tool's parameters. A model that sends an optional one empty (`null`, `""`, `[]`, `{}`, `0`) means to leave
/// it out.
///
/// # Errors
/// `invalid_arguments` for what is no object, for a name that is unknown, and for a value of the wrong kind.
pub fn parse<I: DeserializeOwned + JsonSchema>(input: &Value) -> Result<I, Refusal> {
    let empty = Map::new();
    let given = match input {
        Value::Object(given) => given,
        Value::Null => &empty,
        _ => {
            let message = "The parameters of a tool are a JSON object.";
            return Err(Refusal::new("invalid_arguments", message));
        }
    };
    let schema = schema::<I>();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let known: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let mut kept = Map::new();
    for (name, value) in given {
        if !known.contains(&name.as_str()) {
            return Err(unknown(name, &known));
        }
        if required.contains(&name.as_str()) || !is_filler(value) {
            kept.insert(name.clone(), value.clone());
        }
    }
    serde_json::from_value(Value::Object(kept)).map_err(|error| {
        let mut message = format!("{error}. The parameters are: {}", known.join(", "));
        if required.is_empty() {
            message.push('.');
        } else {
            message.push_str(&format!(" (required: {}).", required.join(", ")));
        }
        Refusal::new("invalid_arguments", message)
    })
}

fn is_filler(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(_) => false,
    }
}

fn unknown(name: &str, known: &[&str]) -> Refusal {
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&shown, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    let hint = nearest
        .map(|(_, candidate)| format!(" Did you mean `{candidate}`?"))
        .unwrap_or_default();
    let message = format!(
        "There is no parameter `{shown}`.{hint} The parameters are: {}.",
        known.join(", ")
    );
    Refusal::new("invalid_arguments", message).with_details(json!({ "parameter": shown }))
}
