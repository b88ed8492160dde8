//! `notesoup install`.

use std::env;
use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::Global;
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
pub fn run(args: &InstallArgs, global: &Global) -> ExitCode {
    let mut report = Report::new(args.json);
    let outcome =
        request(args.scope, args.dry_run).and_then(|request| install(&request, &mut |step| report.step(step)));
    match outcome {
        Ok(()) => {
            report.end(|out| closing(out, args, report.changes(), &steps::notes_root(global)));
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

/// How to call a command for this scope.
pub(super) fn command(name: &str, scope: Scope) -> String {
    match scope {
        Scope::User => format!("notesoup {name}"),
        Scope::Project => format!("notesoup {name} --scope project"),
    }
}

fn closing(out: &mut dyn Write, args: &InstallArgs, changes: bool, notes: &str) {
    let _ = match (changes, args.dry_run) {
        (false, _) => writeln!(out, "notesoup {VERSION} was installed already; nothing was changed."),
        (true, true) => writeln!(
            out,
            "Nothing was changed. `{}` does it.",
            command("install", args.scope)
        ),
        (true, false) => writeln!(out, "\n{}", now_different(args.scope, notes)),
    };
}

/// What is different now, and what to type.
fn now_different(scope: Scope, notes: &str) -> String {
    let (place, others) = match scope {
        Scope::User => ("", String::new()),
        Scope::Project => (
            " in this project",
            format!(
                "\n`.claude/settings.json` names the plugin; whoever else works on the project runs `{}` once, too.",
                command("install", scope)
            ),
        ),
    };
    format!(
        "Claude Code now starts each window{place} with your notes and replaces a full one by a fresh one (open \
         sessions: /reload-plugins).\n\
         In a session type /notesoup to look around, /prune-preview to see what a cut would save, /fresh-window for a new \
         window.\n\
         Settings: /config, or `notesoup config edit`. Check: `notesoup doctor`. Take it back: `{}`; your notes stay in \
         {notes}.{others}",
        command("uninstall", scope)
    )
}
