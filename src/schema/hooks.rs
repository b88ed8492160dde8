//! `hooks.toml`: the types of its sections, and the table with every event, handler, field, row and text by name.

use serde_json::{Map, Value, json};

use super::tidy;
use crate::config::check::shape::without_null;
use crate::config::{COMMON_FIELDS, Config, DEFAULT_TEXT, Field, Row, fields_of};
use crate::handlers;
use crate::texts::catalog;
use crate::wire::Event;

const ID: &str = "^[a-z0-9-]{1,64}$";

/// The schema of the whole file.
pub(super) fn schema() -> Value {
    let mut config = super::of::<Config>();
    without_null(&mut config);
    let mut sections = take(&mut config, "properties");
    let mut defs = take(&mut config, "$defs");
    for name in ["hooks", "profiles", "texts", "schema_version", "profile"] {
        sections.remove(name);
    }
    if let Some(Value::Object(language)) = sections.get_mut("language") {
        language.insert("pattern".to_owned(), json!("^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"));
        language.insert("examples".to_owned(), json!(["de", "de-AT", "en"]));
    }
    for name in ["Row", "Condition", "Texts"] {
        defs.remove(name);
    }
    pool(&mut defs);
    defs.insert("hooks".to_owned(), rows());
    defs.insert("texts".to_owned(), texts());
    defs.insert("new-row".to_owned(), new_row());
    defs.insert("when".to_owned(), any_when());
    defs.insert("condition".to_owned(), condition());
    defs.insert("event".to_owned(), events(Event::ALL));
    defs.insert("handler".to_owned(), handlers_of(None));
    for event in Event::ALL {
        let about = "Conditions on the event's fields; all must hold.";
        defs.insert(when_name(*event), when_of(fields(*event), about));
        defs.insert(run_name(*event), handlers_of(Some(*event)));
    }
    defs.insert("overlay".to_owned(), overlay(&sections));

    let mut properties = Map::new();
    properties.insert(
        "schema_version".to_owned(),
        json!({
            "description": "The version of this format. A file of a later one is refused with a word to update.",
            "const": 1, "default": 1,
        }),
    );
    properties.insert(
        "profile".to_owned(),
        json!({
            "description": "Which of `profiles` is laid over the defaults, below your own values.",
            "default": "both",
            "anyOf": [
                { "oneOf": profiles_of_the_table() },
                { "type": "string", "pattern": ID, "description": "A profile of your own." },
            ],
        }),
    );
    properties.extend(sections);
    properties.insert("hooks".to_owned(), json!({ "$ref": "#/$defs/hooks" }));
    properties.insert(
        "profiles".to_owned(),
        json!({
            "description": "What each profile lays over the defaults: the shape of this very file.",
            "type": "object",
            "propertyNames": { "pattern": ID },
            "additionalProperties": { "$ref": "#/$defs/overlay" },
        }),
    );
    properties.insert("texts".to_owned(), json!({ "$ref": "#/$defs/texts" }));
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hooks.toml of notesoup",
        "description": "What notesoup does in Claude Code, and when: a table of rows, the numbers they go by, and every \
            sentence that the model or you will read. Write into your own file only what you want otherwise: a table is \
            merged key by key with the one below it, a list is replaced.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": defs,
    });
    tidy::titles(&mut schema);
    schema
}

pub(super) fn take(schema: &mut Value, name: &str) -> Map<String, Value> {
    match schema.get_mut(name).map(Value::take) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn overlay(sections: &Map<String, Value>) -> Value {
    let mut properties = sections.clone();
    properties.insert("hooks".to_owned(), json!({ "$ref": "#/$defs/hooks" }));
    properties.insert("texts".to_owned(), json!({ "$ref": "#/$defs/texts" }));
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn profiles_of_the_table() -> Vec<Value> {
    // The comments of the table say the same to those who read it.
    [
        (
            "both",
            "A full window is replaced by a fresh one, /compact writes a handoff, /compact prune cuts.",
        ),
        (
            "notesoup",
            "A full window is replaced by a fresh one; /compact is refused.",
        ),
        (
            "compact-shaper",
            "Every compaction is a handoff-shaped summary, /compact prune cuts; no boot, no reset.",
        ),
    ]
    .into_iter()
    .map(|(name, about)| json!({ "const": name, "description": about }))
    .collect()
}

/// The rows: those of the table by id, each with its own fields; any other is a new one.
fn rows() -> Value {
    let table: toml::Table = DEFAULT_TEXT.parse().unwrap_or_default();
    let rows = table
        .get("hooks")
        .and_then(toml::Value::as_table)
        .cloned()
        .unwrap_or_default();
    let mut properties = Map::new();
    for (id, row) in rows {
        if let Ok(row) = row.try_into::<Row>() {
            properties.insert(id, known_row(&row));
        }
    }
    json!({
        "description": "The table. Rows of one event run by `order`; the first that answers ends it.",
        "type": "object",
        "propertyNames": { "pattern": ID },
        "properties": properties,
        "additionalProperties": { "$ref": "#/$defs/new-row" },
    })
}

fn known_row(row: &Row) -> Value {
    let event = Event::from_name(&row.event);
    let mut properties = row_properties(event);
    let mut default = |name: &str, value: Value| {
        if let Some(Value::Object(property)) = properties.get_mut(name) {
            property.insert("default".to_owned(), value);
        }
    };
    default("event", json!(row.event));
    default("run", json!(row.run));
    default("order", json!(row.order));
    default("enabled", json!(row.enabled));
    if !row.when.is_empty() {
        default("when", json!(row.when));
    }
    if !row.options.is_empty() {
        default("options", json!(row.options));
    }
    let about = match &row.why {
        Some(why) => format!("`{}` → `{}`: {why}.", row.event, row.run),
        None => format!("`{}` → `{}`.", row.event, row.run),
    };
    json!({ "description": about, "type": "object", "properties": properties, "additionalProperties": false })
}

fn new_row() -> Value {
    let by_event: Vec<Value> = Event::ALL
        .iter()
        .map(|event| {
            let fields: Vec<_> = fields(*event).map(|field| field.name).collect();
            json!({
                "if": { "properties": { "event": { "const": event.name() } }, "required": ["event"] },
                "then": { "properties": {
                    "run": { "enum": serving(*event) },
                    "when": { "propertyNames": { "enum": fields } },
                } },
            })
        })
        .collect();
    let by_handler: Vec<Value> = handlers::option_schemas()
        .into_iter()
        .map(|(name, schema)| {
            json!({
                "if": { "properties": { "run": { "const": name } }, "required": ["run"] },
                "then": { "properties": { "options": embedded(schema) } },
            })
        })
        .collect();
    json!({
        "description": "A row of your own.",
        "type": "object",
        "properties": row_properties(None),
        "required": ["event", "run", "order"],
        "additionalProperties": false,
        "allOf": by_event.into_iter().chain(by_handler).collect::<Vec<Value>>(),
        "examples": [{ "event": "session.compact", "when": { "trigger": "manual" }, "run": "handoff", "order": 70 }],
    })
}

fn row_properties(event: Option<Event>) -> Map<String, Value> {
    let part = |name: String| json!({ "$ref": format!("#/$defs/{name}") });
    let run = part(event.map_or_else(|| "handler".to_owned(), run_name));
    let when = part(event.map_or_else(|| "when".to_owned(), when_name));
    let row = super::of::<Row>();
    let about = |name: &str| row["properties"][name]["description"].clone();
    let mut properties = Map::new();
    let mut put = |name: &str, mut schema: Value| {
        if let Value::Object(object) = &mut schema {
            object.insert("description".to_owned(), about(name));
        }
        properties.insert(name.to_owned(), schema);
    };
    put("event", json!({ "$ref": "#/$defs/event" }));
    put("when", when);
    put("run", run);
    put(
        "order",
        json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX, "examples": [70] }),
    );
    put("enabled", json!({ "type": "boolean", "default": true }));
    put("options", json!({ "type": "object" }));
    put("why", json!({ "type": "string" }));
    properties
}

fn run_name(event: Event) -> String {
    format!("run.{}", event.name())
}

fn when_name(event: Event) -> String {
    format!("when.{}", event.name())
}

fn fields(event: Event) -> impl Iterator<Item = &'static Field> {
    COMMON_FIELDS.iter().chain(fields_of(event))
}

fn serving(event: Event) -> Vec<&'static str> {
    let serves = handlers::ALL.iter().filter(|handler| handler.events.contains(&event));
    serves.map(|handler| handler.name).collect()
}

fn events(events: &[Event]) -> Value {
    let documented = super::of::<Event>();
    let about = |name: &str| {
        let variants = documented["oneOf"].as_array().into_iter().flatten();
        variants
            .filter(|variant| variant["const"] == name)
            .map(|variant| variant["description"].clone())
            .next()
    };
    let variants: Vec<_> = events
        .iter()
        .map(|event| json!({ "const": event.name(), "description": about(event.name()) }))
        .collect();
    json!({ "oneOf": variants })
}

fn handlers_of(event: Option<Event>) -> Value {
    let variants: Vec<_> = handlers::ALL
        .iter()
        .filter(|handler| event.is_none_or(|event| handler.events.contains(&event)))
        .map(|handler| {
            let events: Vec<_> = handler
                .events
                .iter()
                .map(|event| format!("`{}`", event.name()))
                .collect();
            json!({ "const": handler.name, "description": format!("Serves {}.", events.join(", ")) })
        })
        .collect();
    json!({ "oneOf": variants })
}

fn when_of(fields: impl Iterator<Item = &'static Field>, about: &str) -> Value {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.to_owned(), field_condition(field));
    }
    json!({ "description": about, "type": "object", "properties": properties, "additionalProperties": false })
}

fn field_condition(field: &Field) -> Value {
    if field.name != "agent" {
        return json!({ "description": field.about, "$ref": "#/$defs/condition" });
    }
    let words = json!({ "enum": ["main", "sub", "any"] });
    json!({
        "description": field.about,
        "default": "main",
        "anyOf": [words, { "type": "array", "items": words, "minItems": 1 }],
    })
}

/// The fields of all events together, for a row whose event is not known yet.
fn any_when() -> Value {
    let mut seen: Vec<&'static Field> = Vec::new();
    for field in Event::ALL.iter().flat_map(|event| fields(*event)) {
        if seen.iter().all(|other| other.name != field.name) {
            seen.push(field);
        }
    }
    when_of(seen.into_iter(), "Conditions on the event's fields; all must hold.")
}

fn condition() -> Value {
    json!({
        "anyOf": [
            { "type": "string", "description": "A regular expression over the whole value, trimmed (and without regard to case for `instructions`)." },
            { "type": "array", "items": { "type": "string" }, "description": "Any of these values, exactly." },
            { "type": "boolean", "description": "The field is this flag." },
        ],
        "examples": ["manual", ["manual", "plugin"], "prune(\\s.*)?"],
    })
}

fn texts() -> Value {
    let mut properties = Map::new();
    for text in catalog::ALL {
        let placeholders: Vec<_> = text.placeholders.iter().map(|name| format!("{{{name}}}")).collect();
        let about = match placeholders.as_slice() {
            [] => format!(
                "{} No placeholders; a literal brace is written twice: {{{{.",
                text.about
            ),
            some => format!("{} Placeholders: {}.", text.about, some.join(" ")),
        };
        properties.insert(
            text.name.to_owned(),
            json!({ "description": about, "$ref": "#/$defs/Pool" }),
        );
    }
    json!({
        "description": "Every sentence that a model or a person reads. `{name}` is filled in; a text may leave a \
            placeholder out, but may use only those that are listed for it.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A layer may say `add` alone, or `pool` alone.
fn pool(defs: &mut Map<String, Value>) {
    if let Some(Value::Object(pool)) = defs.get_mut("Pool") {
        pool.remove("required");
        if let Some(Value::Object(list)) = pool.get_mut("properties").and_then(|all| all.get_mut("pool")) {
            list.insert("minItems".to_owned(), json!(1));
        }
    }
    if let Some(Value::Object(text)) = defs
        .get_mut("Weighted")
        .and_then(|weighted| weighted.get_mut("properties")?.get_mut("text"))
    {
        text.insert("minLength".to_owned(), json!(1));
    }
}

/// A schema as a part of another.
fn embedded(mut schema: Value) -> Value {
    if let Value::Object(object) = &mut schema {
        object.remove("$schema");
        object.remove("title");
    }
    without_null(&mut schema);
    schema
}
