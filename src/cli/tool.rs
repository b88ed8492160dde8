//! `notesoup tool`: one of the model's tools, by hand.

use std::env;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Global;
use super::answer::{print_json, refuse};
use crate::config;
use crate::handlers::{World, all_tools, catalog, dispatch};
use crate::history::{Head, tools as history};
use crate::notes::{Identity, Notes, tools as notes};
use crate::outcome::{Answer, Outcome, Refusal, to_json};
use crate::wire::{self, Effect, Event, Facts, Request, VERSION};

/// Run one of the model's tools by hand: its parameters as JSON on standard input, its answer as JSON on standard output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{}' | notesoup tool notes_list
  echo '{\"address\": \"@project/MAP\"}' | notesoup tool notes_read --text
  echo '{\"query\": \"margin\"}' | notesoup tool history_list --transcript FILE
  notesoup schema tool.history_list.input        what its parameters are

Exit code 1 when the tool refuses.")]
pub struct ToolArgs {
    /// The tool, e.g. notes_read
    name: String,
    /// The conversation's id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The folder that the conversation is in, instead of this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The conversation's transcript, for the tools on its history
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Where the conversation ends: the uuid of a row; without it, the last row of the main conversation
    #[arg(long, value_name = "UUID")]
    head: Option<String>,
    /// Call as the subagent with this id
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Print the text that the model would read instead
    #[arg(long)]
    text: bool,
}

/// Runs a tool.
pub fn run(args: &ToolArgs, global: &Global) -> ExitCode {
    let outcome = parameters().and_then(|parameters| call(args, global, &parameters));
    match outcome {
        Ok(answer) if args.text => {
            let _ = writeln!(super::out::stdout(), "{}", answer.text);
            ExitCode::SUCCESS
        }
        Ok(answer) => {
            print_json(&to_json(&Ok(answer)));
            ExitCode::SUCCESS
        }
        Err(refusal) => refuse(refusal, !args.text),
    }
}

/// Nothing at all is as good as no parameters.
fn parameters() -> Result<Value, Refusal> {
    let invalid = |message| Refusal::new("invalid_arguments", message);
    let mut text = Vec::new();
    io::stdin()
        .lock()
        .take(wire::MAX_REQUEST_BYTES)
        .read_to_end(&mut text)
        .map_err(|error| invalid(format!("Standard input cannot be read: {error}.")))?;
    if text.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    wire::mend(&mut text);
    serde_json::from_slice(&text).map_err(|error| invalid(format!("Standard input is not JSON: {error}.")))
}

fn call(args: &ToolArgs, global: &Global, parameters: &Value) -> Outcome {
    let world = global.world();
    let cwd = args.cwd.clone().or_else(|| env::current_dir().ok()).unwrap_or_default();
    let facts = Facts {
        session_id: args.session.clone(),
        cwd: Some(cwd.to_string_lossy().into_owned()),
        model: args.model.clone(),
        transcript_path: args.transcript.as_ref().map(|path| path.to_string_lossy().into_owned()),
        agent_id: args.agent.clone(),
        ..Facts::default()
    };
    if notes::specs().iter().any(|tool| tool.name == args.name) {
        return open_notes(args, cwd, world, &facts)?.call(&args.name, parameters);
    }
    if history::specs().iter().any(|tool| tool.name == args.name) {
        let context = history::Context {
            transcript: args.transcript.as_deref(),
            head: args.head.as_deref().map_or(Head::AssumeLast, Head::Uuid),
            state_dir: world.state_dir.as_deref(),
            is_subagent: args.agent.is_some(),
            wait: Duration::ZERO,
        };
        return history::call(&args.name, parameters, &context);
    }
    let known: Vec<String> = all_tools().into_iter().map(|tool| tool.name).collect();
    if !known.contains(&args.name) {
        let message = format!("There is no tool `{}`; there are {}.", args.name, known.join(", "));
        return Err(Refusal::new("unknown_tool", message));
    }
    through_the_table(&args.name, parameters, facts, world)
}

fn open_notes(args: &ToolArgs, cwd: PathBuf, world: World, facts: &Facts) -> Result<Notes, Refusal> {
    let options = config::load(&world.sources(facts), &catalog()).config.notes;
    let root = world.notes_root(&options, &[]).ok_or_else(|| {
        let message = "There is no place for notes: HOME is not set. Set it, or give --notes-home.";
        Refusal::new("io_error", message)
    })?;
    Ok(Notes::open(Identity {
        root,
        session_id: args.session.clone().unwrap_or_default(),
        cwd,
        agent: String::new(),
        model: args.model.clone(),
        project: options.project,
        state_dir: world.state_dir,
    }))
}

/// A tool that only a row of the table knows.
fn through_the_table(name: &str, parameters: &Value, facts: Facts, mut world: World) -> Outcome {
    let failed = |message: String| Refusal::new("not_available", message);
    let mut e: Map<String, Value> = parameters.as_object().cloned().unwrap_or_default();
    e.insert("tool".to_owned(), json!(name));
    let e: Box<RawValue> =
        serde_json::value::to_raw_value(&e).map_err(|error| failed(format!("The call cannot be made: {error}.")))?;
    let request = Request {
        v: VERSION,
        event: Event::ToolCall.name().into(),
        e: Some(&e),
        facts,
        state: None,
    };
    let reply = dispatch(&request, &mut world).map_err(|error| failed(error.to_string()))?;
    let asks_the_client = reply.effects.iter().any(|effect| !matches!(effect, Effect::Log { .. }));
    match reply.answer {
        Some(wire::Answer::Tool { text, is_error: false }) if !asks_the_client => Ok(Answer {
            data: serde_json::from_str(&text).unwrap_or_else(|_| json!(text)),
            text,
        }),
        Some(wire::Answer::Tool { text, is_error: true }) => Err(failed(text)),
        Some(wire::Answer::Tool { .. }) => Err(failed(format!(
            "`{name}` acts on a session of Claude Code; there is none here."
        ))),
        _ => Err(failed(format!(
            "No live row of the table answers `{name}`. `notesoup config explain --event tool.call --tool {name}` shows the rows."
        ))),
    }
}
