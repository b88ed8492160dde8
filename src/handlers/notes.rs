//! `notes`: the five tools on the notes, for the main conversation and its subagents alike.

use serde_json::{Map, Value};

use super::{Call, Failure, Handler, Registrations, no_options};
use crate::notes::{Identity, Notes, tools};
use crate::outcome::to_text;
use crate::wire::{Answer, Event, ToolSpec};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "notes",
    events: &[Event::ToolCall],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

fn registers(registrations: &mut Registrations) {
    registrations
        .tools
        .extend(tools::specs().into_iter().map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: tool.input_schema,
        }));
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let (name, parameters) = tool_call(call)?;
    let outcome = open(call)?.call(&name, &parameters);
    Ok(Some(Answer::Tool {
        text: to_text(&outcome),
        is_error: outcome.is_err(),
    }))
}

/// The name of the tool without our prefix, and its parameters as the model gave them: without what the client adds, and
/// with those that stand aside since the client's own fields have their names.
pub(super) fn tool_call(call: &Call<'_>) -> Result<(String, Value), Failure> {
    let mut e: Map<String, Value> = call.input()?;
    let tool = e.remove("tool");
    let name = tool.as_ref().and_then(Value::as_str).unwrap_or_default();
    let name = name.strip_prefix("mcp__notesoup__").unwrap_or(name).to_owned();
    for envelope in ["tool_use_id", "agentId", "requestMeta", "consent"] {
        e.remove(envelope);
    }
    if let Some(Value::Object(shadowed)) = e.remove("$shadowed") {
        e.extend(shadowed);
    }
    Ok((name, Value::Object(e)))
}

/// The store of this session: a subagent's calls use the main session's identity.
///
/// # Errors
/// When there is no home folder to keep notes in.
pub(super) fn open(call: &Call<'_>) -> Result<Notes, Failure> {
    let facts = call.facts;
    let root = call
        .world
        .notes_root(&call.config.notes, &facts.settings.project_env)
        .ok_or_else(|| Failure("there is no home folder to keep notes in; set NOTESOUP_HOME".to_owned()))?;
    Ok(Notes::open(Identity {
        root,
        session_id: facts.session_id.clone().unwrap_or_default(),
        cwd: facts.cwd.clone().unwrap_or_default().into(),
        agent: String::new(),
        model: facts.model.clone(),
        project: call.config.notes.project.clone(),
        state_dir: call.world.state_dir.clone(),
    }))
}
