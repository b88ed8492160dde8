//! What the generator leaves to be done: formats that are no formats, titles, examples, and the older draft.

use serde_json::{Map, Value, json};

/// Takes out formats that only Rust knows, and says in their place how large a number may be.
pub(super) fn formats(schema: &mut Value) {
    each_object(schema, &mut |object| {
        let Some(format) = object.get("format").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let max = match format.as_str() {
            "uint8" => Some(u64::from(u8::MAX)),
            "uint16" => Some(u64::from(u16::MAX)),
            "uint32" => Some(u64::from(u32::MAX)),
            "uint" | "uint64" | "int64" | "double" | "float" => None,
            _ => return,
        };
        object.remove("format");
        if let (Some(max), None) = (max, object.get("maximum")) {
            object.insert("maximum".to_owned(), json!(max));
        }
    });
}

/// Gives every property a title made from its name, and its default as an example, where it has none of its own.
pub(super) fn titles(schema: &mut Value) {
    each_object(schema, &mut |object| {
        let Some(Value::Object(properties)) = object.get_mut("properties") else {
            return;
        };
        for (name, property) in properties {
            let Value::Object(property) = property else { continue };
            property.entry("title").or_insert_with(|| json!(title(name)));
            if let Some(default) = property.get("default").filter(|default| is_plain(default)).cloned() {
                property.entry("examples").or_insert_with(|| json!([default]));
            }
        }
    });
}

fn is_plain(value: &Value) -> bool {
    value.is_number() || value.is_boolean() || value.is_string()
}

/// Makes one line of each paragraph of a description: the breaks are those of the source.
pub(super) fn prose(schema: &mut Value) {
    each_object(schema, &mut |object| {
        if let Some(Value::String(text)) = object.get_mut("description") {
            let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
            *text = paragraphs.collect::<Vec<_>>().join("\n\n");
        }
    });
}

fn title(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        match char {
            '_' | '-' => words.push(' '),
            upper if upper.is_ascii_uppercase() => words.extend([' ', upper.to_ascii_lowercase()]),
            other => words.push(other),
        }
    }
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => words,
    }
}

/// The same schema in draft-07: other names for the definitions, and a reference stands alone.
pub(super) fn draft_07(schema: Value) -> Value {
    let mut schema = older(schema);
    if let Value::Object(object) = &mut schema {
        object.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    }
    schema
}

fn older(schema: Value) -> Value {
    match schema {
        Value::Array(items) => items.into_iter().map(older).collect(),
        Value::Object(object) => {
            let mut new = Map::new();
            let is_alone = object.len() == 1;
            for (name, value) in object {
                match (name.as_str(), value) {
                    ("$defs", value) => {
                        new.insert("definitions".to_owned(), older(value));
                    }
                    ("$ref", Value::String(target)) => {
                        let target = json!(target.replace("#/$defs/", "#/definitions/"));
                        if is_alone {
                            new.insert("$ref".to_owned(), target);
                        } else {
                            new.insert("allOf".to_owned(), json!([{ "$ref": target }]));
                        }
                    }
                    (_, value) => {
                        new.insert(name, older(value));
                    }
                }
            }
            Value::Object(new)
        }
        other => other,
    }
}

/// Visits every object, the inner ones first.
pub(super) fn each_object(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| each_object(item, visit)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| each_object(value, visit));
            visit(object);
        }
        _ => {}
    }
}
