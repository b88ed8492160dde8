//! `notesoup uninstall`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::install::request;
use super::steps::{self, Report};
use crate::package::install::Scope;
use crate::package::uninstall::uninstall;

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
pub fn run(args: &UninstallArgs) -> ExitCode {
    let mut report = Report::new(args.json);
    let outcome =
        request(args.scope, args.dry_run).and_then(|request| uninstall(&request, &mut |step| report.step(step)));
    match outcome {
        Ok(()) => {
            report.end(|out, _| kept(out));
            ExitCode::SUCCESS
        }
        Err(err) => report.fail(&err),
    }
}

fn kept(out: &mut dyn Write) {
    let shown = |path: Option<std::path::PathBuf>| path.map_or_else(|| "-".to_owned(), |path| steps::tilde(&path));
    let _ = writeln!(
        out,
        "\nKept: your notes in {}, settings in {}, side files (history index, records of cuts) in {}.",
        steps::notes_root(),
        shown(crate::paths::config_dir()),
        shown(crate::paths::state_dir()),
    );
}
