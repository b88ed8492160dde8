//! The tools: what each takes, and what the data of its answer are.

use serde_json::Value;

use super::Published;
use crate::handlers;
use crate::notes;

/// Two schemas for each tool, as far as it has both.
pub(super) fn schemas() -> Vec<Published> {
    let outputs: Vec<(&str, Value)> = notes::tools::specs()
        .into_iter()
        .map(|tool| (tool.name, tool.output_schema))
        .collect();
    let mut schemas = Vec::new();
    for tool in handlers::all_tools() {
        let name = &tool.name;
        schemas.push(Published::new(
            format!("tool.{name}.input"),
            format!("the parameters of the tool {name}"),
            tool.input_schema.clone(),
        ));
        if let Some((_, output)) = outputs.iter().find(|(of, _)| of == name) {
            schemas.push(Published::new(
                format!("tool.{name}.output"),
                format!("the data that the tool {name} gives"),
                output.clone(),
            ));
        }
    }
    schemas
}
