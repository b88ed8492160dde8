//! What comes through the client: the `notesoup` object of its settings, and options of plugins.

use serde_json::{Value, json};

use super::tidy;
use crate::config::{OlderOptions, PluginOptions, SettingsObject};

/// The part of Claude Code's settings that is ours; everything else in them is not looked at.
pub(super) fn schema() -> Value {
    let options = |schema: Value| {
        json!({
            "type": "object",
            "properties": { "options": schema },
        })
    };
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "notesoup in Claude Code's settings.json",
        "description": "What Claude Code's settings may hold for notesoup. Other keys are the client's own.",
        "type": "object",
        "properties": {
            "notesoup": part(super::of::<SettingsObject>()),
            "pluginConfigs": {
                "description": "Options of plugins. Read from your own, the command line's and managed settings, never from a project's.",
                "type": "object",
                "patternProperties": {
                    "^notesoup(@.*)?$": options(part(super::of::<PluginOptions>())),
                    "^compact-shaper(@.*)?$": options(part(super::of::<OlderOptions>())),
                },
            },
        },
    });
    tidy::titles(&mut schema);
    schema
}

/// The options that `/config` shows.
pub(super) fn plugin_options() -> Value {
    let mut schema = super::of::<PluginOptions>();
    tidy::titles(&mut schema);
    schema
}

fn part(mut schema: Value) -> Value {
    if let Value::Object(object) = &mut schema {
        object.remove("$schema");
    }
    schema
}
