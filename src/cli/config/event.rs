//! `notesoup config explain --event`: which rows match in order, and which one answers.

use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;

use super::layers::Here;
use crate::cli::fail;
use crate::config::Row;
use crate::handlers::{Trial, Verdict, World, fields_of, trial};
use crate::wire::{Answer, Event, Request, VERSION};

/// An event, by the fields that `when` can name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Event")]
pub(super) struct EventArgs {
    /// The event, e.g. session.compact
    #[arg(long)]
    pub event: Option<String>,
    /// session.compact: manual, auto, plugin or precompute
    #[arg(long, requires = "event")]
    trigger: Option<String>,
    /// session.compact: what was typed after /compact
    #[arg(long, requires = "event", allow_hyphen_values = true)]
    instructions: Option<String>,
    /// session.compact: the plugin that asked for it
    #[arg(long, requires = "event")]
    plugin: Option<String>,
    /// classic.SessionStart: startup, resume, clear, compact or fork
    #[arg(long, requires = "event")]
    source: Option<String>,
    /// turn.complete, session.end: why
    #[arg(long, requires = "event")]
    reason: Option<String>,
    /// command.run: the command, without its slash
    #[arg(long, requires = "event")]
    command: Option<String>,
    /// command.run: what was typed behind it
    #[arg(long, requires = "event", allow_hyphen_values = true)]
    args: Option<String>,
    /// tool.call: the tool, without its prefix
    #[arg(long, requires = "event")]
    tool: Option<String>,
    /// effect.settled: the effect
    #[arg(long, requires = "event")]
    effect: Option<String>,
    /// effect.settled: whether it happened
    #[arg(long, requires = "event", value_name = "BOOL")]
    ok: Option<bool>,
    /// main or sub
    #[arg(long, requires = "event", default_value = "main", value_parser = ["main", "sub"])]
    agent: String,
    /// A -p or SDK run
    #[arg(long, requires = "event")]
    headless: bool,
    /// The session's model
    #[arg(long)]
    pub model: Option<String>,
}

/// Takes the event through the table. Exit code 1 when there is no such event.
pub(super) fn run(args: &EventArgs, here: Here, as_json: bool) -> ExitCode {
    let name = args.event.clone().unwrap_or_default();
    let Ok(folder) = tempfile::tempdir() else {
        return fail("no temporary folder can be made to try the event in");
    };
    let mut world = World::alone_in(folder.path());
    world.user_file = here.world.user_file.clone();
    world.config_file = here.world.config_file.clone();
    let mut facts = here.facts;
    facts.settings = here.sources.settings.clone();
    facts.session_id = Some("explain".to_owned());
    facts.model = args.model.clone();
    // An empty conversation is one that can be read, and has nothing in it.
    let transcript = folder.path().join("conversation.jsonl");
    if let Err(error) = fs::write(&transcript, "") {
        return fail(&format!("{} cannot be written: {error}", transcript.display()));
    }
    facts.transcript_path = Some(transcript.display().to_string());
    facts.headless = args.headless;
    facts.origin_plugin = args.plugin.clone();
    facts.agent_id = (args.agent == "sub").then(|| "agent".to_owned());
    let input = json!({
        "trigger": args.trigger,
        "instructions": args.instructions,
        "source": args.source,
        "reason": args.reason,
        "command": args.command,
        "args": args.args,
        "tool": args.tool,
        "effect": args.effect,
        "ok": args.ok,
        "messages": [],
    });
    let Ok(input) = RawValue::from_string(input.to_string()) else {
        return fail("the event cannot be written as JSON");
    };
    let request = Request {
        v: VERSION,
        event: name.as_str().into(),
        e: Some(&input),
        facts,
        state: None,
    };
    let trial = match trial(&request, &mut world) {
        Ok(trial) => trial,
        Err(error) => return fail(&error.to_string()),
    };
    let mut out = crate::cli::out::stdout();
    if as_json {
        let _ = writeln!(out, "{:#}", serde_json::to_value(&trial).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let fields = Event::from_name(&name).map(|event| fields_of(event, request.e, &request.facts));
    let found = |field: &str| {
        let value = fields.as_ref().and_then(|fields| fields.get(field));
        value.map(|value| value.as_text().to_owned()).unwrap_or_default()
    };
    let _ = write!(out, "{}", text(&name, &trial, &found));
    ExitCode::SUCCESS
}

fn text(event: &str, trial: &Trial, found: &dyn Fn(&str) -> String) -> String {
    if trial.rows.is_empty() {
        return format!("No live row answers {event}: the event goes on as if notesoup were not there.\n");
    }
    let (green, dim, yellow) = (
        AnsiColor::Green.on_default().bold(),
        Style::new().dimmed(),
        AnsiColor::Yellow.on_default(),
    );
    let width = trial.rows.iter().map(|tried| tried.id.len()).max().unwrap_or(0);
    let mut lines = vec![format!(
        "Live rows of {event}, in order, tried on an empty conversation:"
    )];
    for tried in &trial.rows {
        let (style, word) = match &tried.verdict {
            Verdict::Mismatch { field } => (dim, mismatch(&tried.row, field, &found(field))),
            Verdict::Passed => (
                Style::new(),
                "matches; its handler leaves it to the next row".to_owned(),
            ),
            Verdict::Answered { answer } => (green, format!("matches and answers ({answer})")),
            Verdict::Failed { reason } => (
                yellow,
                format!("matches, but its handler cannot do its work here: {reason}"),
            ),
            Verdict::NotRun => (
                yellow,
                "matches; it starts a program, which is not done here".to_owned(),
            ),
            Verdict::NotReached => (dim, "not reached".to_owned()),
        };
        lines.push(format!(
            "  {:>4}  {:width$}  {:<14} {style}{word}{style:#}",
            tried.row.order, tried.id, tried.row.run
        ));
    }
    lines.push(match &trial.reply.answer {
        Some(answer) => format!(
            "\n{}",
            answer_line(trial.reply.row.as_deref().unwrap_or_default(), answer)
        ),
        None => "\nNo row answers: the event goes on.".to_owned(),
    });
    lines.push(String::new());
    lines.join("\n")
}

fn mismatch(row: &Row, field: &str, found: &str) -> String {
    let wanted = match row.when.get(field) {
        Some(condition) => serde_json::to_value(condition)
            .map(|wanted| super::show::short(&wanted))
            .unwrap_or_default(),
        None => "main".to_owned(),
    };
    let found = if found.is_empty() { "empty" } else { found };
    format!("does not match: {field} is {found}, wanted {wanted}")
}

fn answer_line(row: &str, answer: &Answer) -> String {
    let does = match answer {
        Answer::Next { instructions: Some(_) } => "lets the client write its summary, along our structure".to_owned(),
        Answer::Next { instructions: None } => "lets the event go on".to_owned(),
        Answer::Skip { reason } => format!("refuses: \"{reason}\""),
        Answer::Messages { .. } => "puts a new conversation in its place".to_owned(),
        Answer::Context { .. } => "adds text for the model".to_owned(),
        Answer::Blocks { .. } => "adds blocks at the head of the conversation".to_owned(),
        Answer::Lines { .. } => "shows lines to you".to_owned(),
        Answer::Tool { .. } => "gives the tool's result".to_owned(),
    };
    format!("`{row}` answers: it {does}.")
}
