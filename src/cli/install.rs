//! `notesoup install`.

use std::env;
use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::steps::{self, Report};
use crate::package::install::{Request, Scope, install};
use crate::package::{PackageError, VERSION};

/// Put the plugin into Claude Code
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup install                  for every project of yours
  notesoup install --dry-run        say what would be done
  notesoup install --scope project  for the project in this folder
  NOTESOUP_CLAUDE=~/bin/claude notesoup install

Run it again after an update of the program: it brings the plugin up to it, and changes nothing else.")]
pub struct InstallArgs {
    /// For whom the plugin is switched on
    #[arg(long, value_enum, default_value_t)]
    pub scope: Scope,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the steps as JSON
    #[arg(long)]
    pub json: bool,
}

/// Installs, and prints what was done. Exit code 1 when it could not be done.
pub fn run(args: &InstallArgs) -> ExitCode {
    let mut report = Report::new(args.json);
    let outcome =
        request(args.scope, args.dry_run).and_then(|request| install(&request, &mut |step| report.step(step)));
    match outcome {
        Ok(()) => {
            report.end(|out, changed| closing(out, args, changed));
            ExitCode::SUCCESS
        }
        Err(err) => report.fail(&err),
    }
}

/// What install and uninstall are asked for.
pub(super) fn request(scope: Scope, dry_run: bool) -> Result<Request, PackageError> {
    let program = env::current_exe().map_err(|err| PackageError::read("this program".as_ref(), err))?;
    let cwd = env::current_dir().map_err(|err| PackageError::read("the current folder".as_ref(), err))?;
    Ok(Request {
        scope,
        dry_run,
        files_only: false,
        program,
        cwd,
    })
}

fn closing(out: &mut dyn Write, args: &InstallArgs, changed: bool) {
    if args.dry_run {
        let _ = writeln!(out, "Nothing was changed. `notesoup install` does it.");
        return;
    }
    if !changed {
        let _ = writeln!(out, "notesoup {VERSION} was installed already; nothing was changed.");
        return;
    }
    let _ = writeln!(
        out,
        "\nClaude Code now starts each window with your notes and replaces a full one by a fresh one (open sessions: \
         /reload-plugins).\n\
         In a session type /notesoup to look around, /prune-preview to see what a cut would save, /fresh-window for a new \
         window.\n\
         Settings: /config, or `notesoup config edit`. Check: `notesoup doctor`. Take it back: `notesoup uninstall`; your \
         notes stay in {}.",
        steps::notes_root()
    );
}
