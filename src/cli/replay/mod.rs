//! `notesoup replay`.

mod chart;
mod page;

use std::env;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::Global;
use super::history::newest_ones;
use super::table::width;
use crate::config::claude;
use crate::config::{self, Config};
use crate::handlers::{World, catalog};
use crate::paths::{self, tilde};
use crate::prune::parse_tokens;
use crate::replay::{Replay, ReplayError, ReplayInput, replay};
use crate::wire::Facts;

/// The width of lines that go into a file or a pipe.
const PLAIN_WIDTH: usize = 100;
/// Bytes from which on a bar shows how far the replay is.
const LONG: u64 = 4 * 1024 * 1024;

/// Take recorded conversations through the table: what would have been warned, reset and cut, and when
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup replay ~/.claude/projects/-my-project/0b1c….jsonl
  notesoup replay --last 3                  the three newest conversations of this folder
  notesoup replay --last --config try.toml  the newest, under settings that are only tried
  notesoup replay FILE --window 1m --json   for a model with a window of a million tokens

The settings are those of this folder, as for a session that runs in it. Figures behind the first reset are computed: the \
window grows by what the recorded one grew. Commands and calls of our tools are not replayed, and nothing is written.

Exit code 1 when a conversation could not be replayed.")]
pub struct ReplayArgs {
    /// The transcripts of the conversations
    #[arg(value_name = "FILE", required_unless_present = "last")]
    pub files: Vec<PathBuf>,
    /// The newest conversations that were held in this folder
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", conflicts_with = "files",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub last: Option<u16>,
    /// The model's window in tokens (200k, 1m); without it, by how much the conversation has held
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub window: Option<u64>,
    /// Where the conversation ends: the uuid of a row; without it, the last row of the main conversation
    #[arg(long, value_name = "UUID", conflicts_with = "last")]
    pub head: Option<String>,
    /// Print what came of it as JSON
    #[arg(long)]
    pub json: bool,
}

fn tokens(text: &str) -> Result<u64, String> {
    parse_tokens(text)
        .filter(|tokens| *tokens >= 1_000)
        .ok_or_else(|| "write a number of tokens, such as 200k or 1000000".to_owned())
}

/// Replays. Exit code 1 when a transcript cannot be read.
pub fn run(args: &ReplayArgs, global: &Global) -> ExitCode {
    let world = global.world();
    let cwd = env::current_dir().ok();
    let mut facts = Facts {
        cwd: cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned()),
        settings: claude::read(paths::claude_dir().as_deref(), cwd.as_deref()).settings,
        ..Facts::default()
    };
    // Outside the client a project's settings have set no variable.
    facts.settings.project_env.clear();
    let config = config::load(&world.sources(&facts), &catalog()).config;
    let files = match args.last {
        None => Ok(args.files.clone()),
        Some(count) => newest(usize::from(count), cwd.as_deref()),
    };
    let files = match files {
        Ok(files) => files,
        Err(line) => return super::fail(&line),
    };
    let mut told = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for (place, file) in files.iter().enumerate() {
        match one(args, file, (&world, &facts, &config)) {
            Ok(replay) if args.json => told.push(replay),
            Ok(replay) => print(&replay, place),
            Err(error) => code = super::fail(&named(file, &error.to_string())),
        }
    }
    if args.json {
        let _ = writeln!(crate::cli::out::stdout(), "{:#}", json!({ "conversations": told }));
    }
    code
}

/// The error with the file's name, once.
fn named(file: &Path, error: &str) -> String {
    if error.contains(&file.display().to_string()) {
        return error.to_owned();
    }
    format!("{}: {error}", tilde(file))
}

fn one(
    args: &ReplayArgs,
    file: &Path,
    (world, facts, config): (&World, &Facts, &Config),
) -> Result<Replay, ReplayError> {
    let input = ReplayInput {
        transcript: file,
        head: args.head.as_deref(),
        window: args.window,
        world,
        facts,
        config,
    };
    let bar = bar(file);
    let told = replay(&input, &mut |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    told
}

/// A bar for a long conversation, where somebody looks.
fn bar(file: &Path) -> ProgressBar {
    let is_long = fs::metadata(file).is_ok_and(|metadata| metadata.len() >= LONG);
    if !is_long || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  {bar:40} {percent:>3} %  {eta} left");
    ProgressBar::new(1).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print(replay: &Replay, place: usize) {
    let mut out = crate::cli::out::stdout();
    if place > 0 {
        let _ = writeln!(out);
    }
    let _ = write!(out, "{}", page::page(replay, width().unwrap_or(PLAIN_WIDTH)));
}

/// The newest transcripts of this folder, the newest last.
pub(super) fn newest(count: usize, cwd: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let cwd = cwd.ok_or("the current folder cannot be read; name a transcript")?;
    newest_ones(cwd, count).map_err(|why| format!("{why} Name a transcript."))
}
