//! A file against its published schema: the second opinion of `notesoup config check`, beside the checks of the layers.
//! Never on the hook path.

use figment::value::Value as Layered;
use serde_json::Value;

use crate::config::{Code, Document, LayerKind, Problem, key};

/// What the published schema says against a file.
pub fn problems(kind: LayerKind, document: &Document) -> Vec<Problem> {
    let schema = match kind {
        LayerKind::ProjectFile => super::project::schema(),
        _ => super::hooks::schema(),
    };
    let Ok(validator) = jsonschema::validator_for(&schema) else {
        // A test compiles every schema.
        return Vec::new();
    };
    let file = json(&Layered::from(document.dict.clone()));
    let problem = |error: jsonschema::ValidationError<'_>| {
        let key = error
            .instance_path()
            .as_str()
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .fold(String::new(), |key, part| key::join(&key, &part));
        Problem::new(Code::InvalidValue, document.place_of(&key), error.masked().to_string())
            .key(key)
            .help("see `notesoup schema hooks` for what is allowed")
    };
    validator.iter_errors(&file).map(problem).collect()
}

fn json(value: &Layered) -> Value {
    match value {
        Layered::Dict(_, dict) => dict.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
        Layered::Array(_, items) => items.iter().map(json).collect(),
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    }
}
