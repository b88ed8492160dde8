//! `notesoup uninstall`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Global;
use super::install::{command, request};
use super::steps::{self, Report};
use crate::package::install::Scope;
use crate::package::uninstall::uninstall;
use crate::paths::tilde;

/// Take the plugin out of Claude Code; notes and settings stay
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup uninstall
  notesoup uninstall --scope project
  notesoup uninstall --dry-run")]
pub struct UninstallArgs {
    /// Where it is switched off
    #[arg(long, value_enum, default_value_t)]
    pub scope: Scope,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the steps as JSON
    #[arg(long)]
    pub json: bool,
}

/// Uninstalls, and prints what was done and what stays. Exit code 1 when it could not be done.
pub fn run(args: &UninstallArgs, global: &Global) -> ExitCode {
    let mut report = Report::new(args.json);
    let outcome =
        request(args.scope, args.dry_run).and_then(|request| uninstall(&request, &mut |step| report.step(step)));
    match outcome {
        Ok(()) => {
            report.end(|out| closing(out, args, report.changes(), &steps::notes_root(global)));
            ExitCode::SUCCESS
        }
        Err(err) => report.fail(&err),
    }
}

fn closing(out: &mut dyn Write, args: &UninstallArgs, changes: bool, notes: &str) {
    let _ = match (changes, args.dry_run) {
        (false, _) => writeln!(
            out,
            "notesoup was not installed ({} scope); nothing was changed.",
            args.scope.name()
        ),
        (true, true) => writeln!(
            out,
            "Nothing was changed. `{}` does it.",
            command("uninstall", args.scope)
        ),
        (true, false) => Ok(()),
    };
    let shown = |path: Option<PathBuf>| path.map_or_else(|| "-".to_owned(), |path| tilde(&path));
    let _ = writeln!(
        out,
        "\nKept: your notes in {notes}, settings in {}, side files (history index, records of cuts) in {}.",
        shown(crate::paths::config_dir()),
        shown(crate::paths::state_dir()),
    );
    let _ = writeln!(
        out,
        "The program itself stays too; `cargo uninstall notesoup` takes it away."
    );
}
