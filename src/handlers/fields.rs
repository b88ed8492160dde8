//! The fields of an event that `when` can name, taken out of its input without parsing the rest.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::config::{FieldValue, Fields};
use crate::wire::{Event, Facts};

/// Tools of ours reach the model under this prefix.
const TOOL_PREFIX: &str = "mcp__notesoup__";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Probe {
    source: Option<String>,
    trigger: Option<String>,
    instructions: Option<String>,
    reason: Option<String>,
    command: Option<String>,
    args: Option<String>,
    tool: Option<String>,
    effect: Option<String>,
    ok: Option<bool>,
    #[serde(rename = "agentId", alias = "agent_id")]
    agent: Option<String>,
}

/// The fields of this event.
///
/// An input that is not what it should be has no fields of its own, so that only rows without conditions match.
pub fn fields_of(event: Event, e: Option<&RawValue>, facts: &Facts) -> Fields {
    let probe: Probe = e.and_then(|e| serde_json::from_str(e.get()).ok()).unwrap_or_default();
    let is_sub = facts.agent_id.is_some() || probe.agent.is_some();
    let mut fields = Fields::from([
        (
            "agent",
            FieldValue::Text(if is_sub { "sub" } else { "main" }.to_owned()),
        ),
        ("headless", FieldValue::Flag(facts.headless)),
        ("model", FieldValue::Text(facts.model.clone().unwrap_or_default())),
    ]);
    let mut text = |name, value: Option<String>| {
        fields.insert(name, FieldValue::Text(value.unwrap_or_default()));
    };
    match event {
        Event::ClassicSessionStart => text("source", probe.source),
        Event::SessionCompact => {
            text("trigger", probe.trigger);
            text("instructions", probe.instructions);
            text("plugin", facts.origin_plugin.clone());
        }
        Event::TurnComplete | Event::SessionEnd => text("reason", probe.reason),
        Event::CommandRun => {
            text("command", probe.command);
            text("args", probe.args);
        }
        Event::ToolCall => {
            text(
                "tool",
                probe
                    .tool
                    .map(|tool| tool.strip_prefix(TOOL_PREFIX).map_or(tool.clone(), str::to_owned)),
            );
        }
        Event::EffectSettled => {
            text("effect", probe.effect);
            fields.insert("ok", FieldValue::Flag(probe.ok.unwrap_or(false)));
        }
        _ => {}
    }
    fields
}
