//! The five tools: what they are called, what they take and give, and how they are run.

mod bounds;
mod edits;
mod gather;
mod list;
mod near;
mod read;
mod search;
mod update;
mod write;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::notes::home::Homes;
use crate::notes::lock;
use crate::outcome::{Answer, Outcome, Refusal};

pub use bounds::{Unavailable, size};
pub use gather::Skipped;
pub use list::{Listing, Row as ListRow};
pub use search::{Match, Matches, Row as SearchRow};

pub(in crate::notes) use list::all as list_all;
pub(in crate::notes) use near::not_found;
pub(in crate::notes) use search::all as search_all;
pub(in crate::notes) use write::check_writable;

/// What a model is told of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolDescription {
    /// The tool's name, without a prefix.
    pub name: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// The JSON Schema of its parameters.
    pub input_schema: Value,
    /// The JSON Schema of `data` in its answer.
    pub output_schema: Value,
}

/// What a tool gives: the data and the text made from the same selection.
pub struct Reply<T> {
    data: T,
    text: String,
}

struct Tool {
    name: &'static str,
    description: &'static str,
    schemas: fn() -> (Value, Value),
    run: fn(&Homes, &Value) -> Outcome,
}

/// In the order in which they are offered.
const TOOLS: [Tool; 5] = [
    Tool {
        name: "notes_write",
        description: write::DESCRIPTION,
        schemas: schemas::<write::Input, write::Output>,
        run: |homes, input| run(homes, input, write::run),
    },
    Tool {
        name: "notes_update",
        description: update::DESCRIPTION,
        schemas: schemas::<update::Input, update::Output>,
        run: |homes, input| run(homes, input, update::run),
    },
    Tool {
        name: "notes_read",
        description: read::DESCRIPTION,
        schemas: schemas::<read::Input, read::Output>,
        run: |homes, input| run(homes, input, read::run),
    },
    Tool {
        name: "notes_list",
        description: list::DESCRIPTION,
        schemas: schemas::<list::Input, list::Output>,
        run: |homes, input| run(homes, input, list::run),
    },
    Tool {
        name: "notes_search",
        description: search::DESCRIPTION,
        schemas: schemas::<search::Input, search::Output>,
        run: |homes, input| run(homes, input, search::run),
    },
];

/// The five tools as a client registers them.
pub fn specs() -> Vec<ToolDescription> {
    let describe = |tool: &Tool| {
        let (input_schema, output_schema) = (tool.schemas)();
        ToolDescription {
            name: tool.name,
            description: tool.description,
            input_schema,
            output_schema,
        }
    };
    TOOLS.iter().map(describe).collect()
}

/// Runs a tool by name. First, what a writer that died may have left is cleared away.
pub fn call(homes: &Homes, name: &str, input: &Value) -> Outcome {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
        let message = format!(
            "There is no notes tool called `{name}`; there are {}.",
            names.join(", ")
        );
        return Err(Refusal::new("invalid_arguments", message));
    };
    lock::recover(homes.root());
    (tool.run)(homes, input)
}

fn run<I, O>(homes: &Homes, input: &Value, tool: fn(&Homes, I) -> Result<Reply<O>, Refusal>) -> Outcome
where
    I: DeserializeOwned + JsonSchema,
    O: Serialize,
{
    let reply = tool(homes, parse(input)?)?;
    let data = serde_json::to_value(reply.data).map_err(|error| Refusal::new("io_error", error.to_string()))?;
    Ok(Answer { data, text: reply.text })
}

fn schemas<I: JsonSchema, O: JsonSchema>() -> (Value, Value) {
    (schema::<I>(), schema::<O>())
}

fn schema<T: JsonSchema>() -> Value {
    // Everything in one place: a model reads no references.
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
fn parse<I: DeserializeOwned + JsonSchema>(input: &Value) -> Result<I, Refusal> {
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
        let message = format!(
            "{error}. The parameters are: {} (required: {}).",
            known.join(", "),
            required.join(", ")
        );
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
