//! Any value through the client: options, the settings object and variables.
#![no_main]

use libfuzzer_sys::fuzz_target;
use notesoup::config::{Sources, load};
use notesoup::handlers::catalog;
use serde_json::Value;

fuzz_target!(|given: (&str, &str, &str)| {
    let (json, name, value) = given;
    let mut sources = Sources::default();
    if let Ok(Value::Object(object)) = serde_json::from_str(json) {
        sources.settings.options = object.clone();
        sources.settings.plugin_configs.insert("user".to_owned(), Value::Object(object.clone()));
        sources.settings.merged = object;
    }
    sources.variables.insert(format!("NOTESOUP_CONFIG__{name}"), value.into());
    for is_the_projects in [false, true] {
        if is_the_projects {
            sources.settings.project_env.push(format!("NOTESOUP_CONFIG__{name}"));
        }
        let loaded = load(&sources, &catalog());
        assert!(!loaded.config.hooks.is_empty());
    }
});
