//! `notesoup notes`: the store for a person and for scripts.

mod change;
mod edit;
mod look;

use std::env;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Global;
use super::answer::{print_json, refuse};
use crate::config;
use crate::handlers::catalog;
use crate::notes::{Identity, Notes};
use crate::outcome::{self, Refusal};
use crate::wire::Facts;

/// List, read, write, search and repair notes
#[derive(Debug, Args)]
#[command(after_help = "\
Addresses:
  @project/NAME   whoever works on the project of this folder
  @self/NAME      the agent            @model/NAME   the model (--model)
  @human/NAME     you                  NAME          one conversation (--session)

Examples:
  notesoup notes list '@project/**'
  notesoup notes read @project/MAP
  echo '# Taste' | notesoup notes write @human/taste
  notesoup notes search 'reset margin' --in '@project/**'
  notesoup notes edit @project/decisions
  notesoup notes history @project/decisions
  notesoup notes undo @project/decisions

Exit code 1 when a command is refused, or when doctor finds something wrong.")]
pub struct NotesArgs {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    command: Command,
}

/// Whose notes.
#[derive(Debug, Args)]
struct Who {
    /// The conversation whose notes have addresses without `@`: its id, or how it begins
    #[arg(long, value_name = "ID", global = true, help_heading = "Whose notes")]
    session: Option<String>,
    /// The folder whose project is meant, instead of this one
    #[arg(long, value_name = "DIR", global = true, help_heading = "Whose notes")]
    cwd: Option<PathBuf>,
    /// The key of the project's home, instead of the one made from the folder's path
    #[arg(long, value_name = "KEY", global = true, help_heading = "Whose notes")]
    project: Option<String>,
    /// The model of `@model/`
    #[arg(long, value_name = "NAME", global = true, help_heading = "Whose notes")]
    model: Option<String>,
    /// The agent of `@self/`
    #[arg(long, value_name = "NAME", global = true, help_heading = "Whose notes")]
    agent: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(look::ListArgs),
    Read(look::ReadArgs),
    Write(change::WriteArgs),
    Edit(edit::EditArgs),
    Search(look::SearchArgs),
    History(look::HistoryArgs),
    Undo(change::UndoArgs),
    Doctor(look::DoctorArgs),
    /// Run tools: a JSON object `{"tool", "input"}` a line in, an outcome a line out
    #[command(hide = true)]
    Call,
}

/// What a command ends with: an exit code, or a refusal that is still to be told.
type Ended = Result<ExitCode, Refusal>;

/// Runs a command on the notes.
pub fn run(args: &NotesArgs, global: &Global) -> ExitCode {
    let json = match &args.command {
        Command::List(args) => args.json,
        Command::Read(args) => args.json,
        Command::Write(args) => args.json,
        Command::Edit(args) => args.json,
        Command::Search(args) => args.json,
        Command::History(args) => args.json,
        Command::Undo(args) => args.json,
        Command::Doctor(args) => args.json,
        Command::Call => false,
    };
    let ended = open(&args.who, global).and_then(|notes| {
        // Traces of a writer that died.
        notes.recover();
        match &args.command {
            Command::List(args) => look::list(&notes, args),
            Command::Read(args) => look::read(&notes, args),
            Command::Write(args) => change::write(&notes, args),
            Command::Edit(args) => edit::edit(&notes, args),
            Command::Search(args) => look::search(&notes, args),
            Command::History(args) => look::history(&notes, args),
            Command::Undo(args) => change::undo(&notes, args),
            Command::Doctor(args) => look::doctor(&notes, args),
            Command::Call => call(&notes),
        }
    });
    match ended {
        Ok(code) => code,
        Err(refusal) => refuse(refusal, json),
    }
}

/// The conversation whose id begins so; the words themselves where no conversation has notes under such an id.
fn session(root: &Path, begins: &str) -> Result<String, Refusal> {
    let sessions = root.join("pi/session");
    if begins.is_empty() || sessions.join(begins).is_dir() {
        return Ok(begins.to_owned());
    }
    let names = fs::read_dir(sessions).into_iter().flatten().flatten();
    let mut found: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(begins))
        .collect();
    match (found.pop(), found.len()) {
        (None, _) => Ok(begins.to_owned()),
        (Some(only), 0) => Ok(only),
        (Some(_), others) => Err(Refusal::new(
            "invalid_arguments",
            format!(
                "{} conversations with notes have ids that begin with {begins}. Give more of it.",
                others + 1
            ),
        )),
    }
}

fn open(who: &Who, global: &Global) -> Result<Notes, Refusal> {
    let world = global.world();
    let cwd = who.cwd.clone().or_else(|| env::current_dir().ok()).unwrap_or_default();
    // Read only when something of it is needed.
    let options = match (&global.notes_home, &who.project) {
        (Some(_), Some(_)) => config::NotesOptions::default(),
        _ => {
            let facts = Facts {
                cwd: Some(cwd.to_string_lossy().into_owned()),
                ..Facts::default()
            };
            config::load(&world.sources(&facts), &catalog()).config.notes
        }
    };
    let root = world.notes_root(&options, &[]).ok_or_else(|| {
        Refusal::new(
            "io_error",
            "There is no place for notes: HOME is not set. Set it, or give --notes-home.",
        )
    })?;
    let session_id = who
        .session
        .as_deref()
        .map(|begins| session(&root, begins))
        .transpose()?;
    Ok(Notes::open(Identity {
        root,
        session_id: session_id.unwrap_or_default(),
        cwd,
        agent: who.agent.clone().unwrap_or_default(),
        model: who.model.clone(),
        project: who.project.clone().or(options.project),
        state_dir: world.state_dir,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    tool: String,
    input: Value,
}

fn call(notes: &Notes) -> Ended {
    let broken = |error: io::Error| Refusal::new("io_error", format!("Standard input cannot be read: {error}."));
    for line in io::stdin().lock().lines() {
        let line = line.map_err(broken)?;
        let outcome = match serde_json::from_str::<CallLine>(&line) {
            Ok(line) => notes.call(&line.tool, &line.input),
            Err(error) => Err(Refusal::new("invalid_arguments", format!("Not a call: {error}."))),
        };
        let mut out = io::stdout().lock();
        if writeln!(out, "{}", outcome::to_json(&outcome))
            .and_then(|()| out.flush())
            .is_err()
        {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a tool and prints its answer: the text for people, or all of it as JSON.
fn tool(notes: &Notes, name: &str, input: &Value, json: bool) -> Ended {
    let answer = notes.call(name, input)?;
    if json {
        print_json(&outcome::to_json(&Ok(answer)));
    } else {
        print(&answer.text);
    }
    Ok(ExitCode::SUCCESS)
}

fn ok_json(data: &impl serde::Serialize) -> Value {
    json!({ "ok": true, "data": data })
}

fn print(text: &str) {
    let _ = writeln!(crate::cli::out::stdout(), "{text}");
}
