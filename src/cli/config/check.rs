//! `notesoup config check`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::diagnostic;
use super::examine::{self, Examined};
use super::layers::Here;
use crate::cli::Global;
use crate::paths::tilde;

/// Find every mistake in the config, each with its line
#[derive(Debug, Args)]
#[command(after_help = "\
Without FILE, all layers of this folder are looked at, Claude's settings and variables included.
A FILE named notesoup.toml is taken for a project's, any other for a person's hooks.toml.

Exit codes:
  0  nothing is wrong (there may be warnings)
  1  there is an error, or with --deny-warnings a warning
  2  the command line is wrong

Examples:
  notesoup config check
  notesoup config check hooks.toml .claude/notesoup.toml
  notesoup config check --github .claude/notesoup.toml      annotations in a GitHub workflow
  notesoup config check --sarif > notesoup.sarif            for code scanning")]
pub struct CheckArgs {
    /// Look at these files alone
    files: Vec<PathBuf>,
    /// Take every FILE for a project's (true) or a person's (false)
    #[arg(long, value_name = "BOOL", requires = "files")]
    project: Option<bool>,
    /// Print the problems as JSON
    #[arg(long, group = "format")]
    json: bool,
    /// Print the problems as SARIF 2.1.0
    #[arg(long, group = "format")]
    sarif: bool,
    /// Print the problems as annotations of a GitHub workflow
    #[arg(long, group = "format")]
    github: bool,
    /// Exit with 1 on a warning, too
    #[arg(long)]
    deny_warnings: bool,
}

/// Checks, and prints what is wrong.
pub fn run(args: &CheckArgs, global: &Global) -> ExitCode {
    let examined = if args.files.is_empty() {
        examine::layers(&Here::new(global))
    } else {
        examine::files(&args.files, args.project)
    };
    let mut out = crate::cli::out::stdout();
    let _ = if args.json {
        writeln!(out, "{:#}", diagnostic::as_json(&examined.problems, examined.errors()))
    } else if args.sarif {
        writeln!(out, "{:#}", diagnostic::as_sarif(&examined.problems))
    } else if args.github {
        diagnostic::for_github(&mut out, &examined.problems)
    } else {
        diagnostic::for_people(&mut out, &examined.problems).and_then(|()| sum_up(&mut out, &examined))
    };
    if examined.errors() > 0 || (args.deny_warnings && examined.warnings() > 0) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn sum_up(out: &mut dyn std::io::Write, examined: &Examined) -> std::io::Result<()> {
    let files = match examined.files.as_slice() {
        [] => "no file, options and variables".to_owned(),
        files => files.iter().map(|path| tilde(path)).collect::<Vec<_>>().join(", "),
    };
    let (green, red, yellow, plain) = (
        AnsiColor::Green.on_default(),
        AnsiColor::Red.on_default(),
        AnsiColor::Yellow.on_default(),
        Style::new(),
    );
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        number => format!("{number} {word}s"),
    };
    let (errors, warnings) = (examined.errors(), examined.warnings());
    let (style, text) = match (errors, warnings) {
        (0, 0) => (green, "ok".to_owned()),
        (0, warnings) => (yellow, count(warnings, "warning")),
        (errors, 0) => (red, count(errors, "error")),
        (errors, warnings) => (
            red,
            format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
        ),
    };
    writeln!(out, "{style}{text}{style:#}{plain}: {files}{plain:#}")
}
