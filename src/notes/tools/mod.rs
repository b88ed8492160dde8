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
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::notes::home::Homes;
use crate::notes::lock;
use crate::outcome::input::{parse, schema};
use crate::outcome::{Answer, Outcome, Refusal, ToolDescription, unknown_tool};

pub use bounds::{Unavailable, size};
pub use gather::Skipped;
pub use list::{Listing, Row as ListRow};
pub use search::{Match, Matches, Row as SearchRow};

pub(in crate::notes) use list::all as list_all;
pub(in crate::notes) use near::not_found;
pub(in crate::notes) use search::all as search_all;
pub(in crate::notes) use write::check_writable;

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
        return Err(unknown_tool("notes", name, TOOLS.iter().map(|tool| tool.name)));
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
