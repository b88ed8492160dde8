//! `notesoup config explain`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::Value;

use super::event::{self, EventArgs};
use super::layers::Here;
use super::show::{origin, short};
use crate::cli::{Global, fail};
use crate::config::explain::{Said, Standing, Story, story};
use crate::config::{Origin, shown};
use crate::handlers::catalog;
use crate::window::reset_point::{Environment, derive};
use crate::wire::Usage;

/// The derivation that is explained beside the keys of the config.
const RESET_POINT: &str = "window.reset_point";

/// Say where a value comes from, why a row is live or not, or which rows answer an event
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup config explain window.reset_margin_tokens
  notesoup config explain hooks.handoff
  notesoup config explain texts.forced_reset
  notesoup config explain --event session.compact --trigger manual --instructions prune
  notesoup config explain window.reset_point --window 200000 --tokens 150000

With --event, the rows run on an empty conversation in a folder of their own; nothing of yours is changed, \
and programs that rows start are not started.")]
pub struct ExplainArgs {
    /// The dotted key, e.g. window.reset_margin_tokens
    #[arg(required_unless_present = "event", conflicts_with = "event")]
    key: Option<String>,
    #[command(flatten)]
    event: EventArgs,
    #[command(flatten)]
    facts: FactArgs,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// What the client would say of its context, for `window.reset_point`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Facts for window.reset_point")]
struct FactArgs {
    /// The model's window, in tokens
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// Where the client says that it compacts, in tokens
    #[arg(long, value_name = "TOKENS")]
    threshold: Option<u64>,
    /// What the context holds now, in tokens
    #[arg(long, value_name = "TOKENS")]
    tokens: Option<u64>,
    /// How full the context is, in percent
    #[arg(long, value_name = "PERCENT")]
    percent: Option<f64>,
}

/// Explains. Exit code 1 when there is no such key or event.
pub fn run(args: &ExplainArgs, global: &Global) -> ExitCode {
    let here = Here::new(global);
    let Some(key) = &args.key else {
        return event::run(&args.event, here, args.json);
    };
    if key == RESET_POINT {
        return reset_point(args, &here);
    }
    let loaded = here.load();
    let story = match story(&loaded, &catalog(), key) {
        Ok(story) => story,
        Err(near) => {
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`notesoup config show --json` lists them".to_owned(),
            };
            return fail(&format!("there is no key `{}`; {help}", shown(key)));
        }
    };
    let mut out = crate::cli::out::stdout();
    if args.json {
        let _ = writeln!(out, "{:#}", serde_json::to_value(&story).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let _ = write!(out, "{}", text(&story));
    here.say_what_was_read();
    ExitCode::SUCCESS
}

fn text(story: &Story) -> String {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let mut text = String::new();
    let value = match &story.value {
        Some(Value::Object(_)) | None => String::new(),
        Some(value) => format!(" = {}", short(value)),
    };
    let _ = writeln!(text, "{bold}{}{value}{bold:#}", story.key);
    for line in story.about.iter().flat_map(|about| about.lines()) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(allowed) = &story.allowed {
        let _ = writeln!(text, "  {dim}allowed:{dim:#} {allowed}");
    }
    if let Some(names) = &story.placeholders {
        let names: Vec<_> = names.iter().map(|name| format!("{{{name}}}")).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        };
        let _ = writeln!(text, "  {dim}placeholders:{dim:#} {names}");
    }
    if let Some(row) = &story.row {
        let word = if row.is_live { "live" } else { "not live" };
        let _ = writeln!(text, "  {word}: {}", row.because);
    }
    if !story.said.is_empty() {
        let _ = writeln!(text, "\nEach layer's word, lowest first:");
        for said in &story.said {
            let _ = writeln!(text, "  {}", said_line(said));
        }
    } else if story.value.is_some() && story.below.is_empty() {
        let _ = writeln!(text, "\nNo layer says it; this is the built-in default.");
    } else if story.value.is_none() && story.below.is_empty() {
        let _ = writeln!(text, "\nNo layer says it: it is not set.");
    }
    if !story.below.is_empty() {
        let _ = writeln!(text, "\nIts values:");
        let width = story.below.iter().map(|below| below.key.len()).max().unwrap_or(0);
        for below in &story.below {
            let from = origin(below.origin.as_ref());
            let _ = writeln!(
                text,
                "  {:width$}  {}  {dim}{from}{dim:#}",
                below.key,
                short(&below.value)
            );
        }
    }
    if let Some(row) = &story.row {
        let _ = writeln!(text, "\nLive rows of the event, in order:");
        for beside in &row.beside {
            let _ = writeln!(text, "  {beside}");
        }
    }
    text
}

fn said_line(said: &Said) -> String {
    let (style, word) = match said.standing {
        Standing::Holds => (AnsiColor::Green.on_default(), "holds"),
        Standing::Joins => (AnsiColor::Green.on_default(), "joins"),
        Standing::Overridden => (Style::new().dimmed(), "overridden"),
        Standing::Dropped => (Style::new().dimmed(), "dropped: another handler runs"),
        Standing::Refused => (AnsiColor::Red.on_default(), "refused: `notesoup config check` says why"),
    };
    let from = origin(Some(&Origin {
        layer: said.layer,
        place: said.place.clone(),
    }));
    let last_good = if said.is_last_good {
        ", as it was when last good"
    } else {
        ""
    };
    format!("{from}{last_good}: {} {style}[{word}]{style:#}", short(&said.value))
}

fn reset_point(args: &ExplainArgs, here: &Here) -> ExitCode {
    let FactArgs {
        window,
        threshold,
        tokens,
        percent,
    } = &args.facts;
    let usage = Usage {
        tokens: tokens.map(Value::from),
        window: window.map(Value::from),
        percent: percent.map(Value::from),
        auto_compact_threshold: None,
        breakdown: threshold.map(|threshold| {
            let mut breakdown = serde_json::Map::new();
            breakdown.insert("autoCompactThreshold".to_owned(), threshold.into());
            breakdown
        }),
    };
    let is_known = window.is_some() || threshold.is_some() || percent.is_some() || tokens.is_some();
    let config = here.load().config;
    let environment = Environment::from_lookup(|name| std::env::var(name).ok());
    let derivation = derive(
        is_known.then_some(&usage),
        &here.sources.settings,
        &environment,
        &config.window,
        args.event.model.as_deref(),
    );
    let mut out = crate::cli::out::stdout();
    if args.json {
        let _ = writeln!(out, "{:#}", derivation.to_json());
        return ExitCode::SUCCESS;
    }
    let _ = write!(out, "{}", derivation.to_text());
    if let (Some(marks), Some(fill)) = (derivation.marks, derivation.marks.and_then(|marks| marks.fill(&usage))) {
        let place = match fill {
            fill if fill >= marks.reset_at => "past the reset mark",
            fill if marks.warn_at.is_some_and(|warn_at| fill >= warn_at) => "between the warning and the reset",
            _ => "below both marks",
        };
        let _ = writeln!(out, "  now: {fill}, {place}");
    }
    if !is_known {
        let _ = writeln!(
            out,
            "  Give what the client would say: --window, --threshold, --tokens, --percent."
        );
    }
    here.say_what_was_read();
    ExitCode::SUCCESS
}
