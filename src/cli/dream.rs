//! `notesoup dream`.

use std::borrow::Cow;
use std::env;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Global;
use super::table::local;
use crate::config;
use crate::dream::{
    DreamError, Gate, Outcome, Progress, Request, Survey, Undone, arguments, counted, dream, survey, undo,
};
use crate::handlers::catalog;
use crate::notes::{Identity, Notes};
use crate::package::client::Client;
use crate::package::store;
use crate::paths::tilde;
use crate::wire::Facts;

/// How many addresses are listed for a person.
const LISTED: usize = 20;

/// The exit code of a dream that was stopped, as a shell's for Ctrl-C.
const STOPPED: u8 = 130;

/// Have Claude Code review the notes: merge, correct, map, by a playbook
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup dream --dry-run    what would be looked at, and whether it is worth it
  notesoup dream              when enough is new and the last one was long enough ago
  notesoup dream --force      now
  notesoup dream --undo       take the last one back

The model gets the five notes tools and nothing else. There is a commit in the notes folder before and one after; the \
report goes to dreams/ there.

Every night, by cron:
  0 4 * * * cd ~/project && notesoup dream

Ctrl-C stops it: what it had changed by then is committed, and --undo takes it back.

Exit code 0 also when it is not worth it; 1 when something failed; 130 when it was stopped.")]
pub struct DreamArgs {
    /// Dream although it is soon, or little is new
    #[arg(long)]
    pub force: bool,
    /// Say what would be looked at, and do nothing
    #[arg(long, conflicts_with = "undo")]
    pub dry_run: bool,
    /// Take the last dream back; what was written since stays
    #[arg(long, conflicts_with_all = ["force", "init", "model"])]
    pub undo: bool,
    /// Make the notes folder a git repository without asking
    #[arg(long)]
    pub init: bool,
    /// The model that dreams
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
}

/// Dreams, or takes a dream back.
pub fn run(args: &DreamArgs, global: &Global) -> ExitCode {
    let outcome = prepare(args, global).and_then(|(request, _plugin)| {
        if args.undo {
            let undone = undo(&request.root, &request.state_dir)?;
            tell(args.json, &undone, tell_undone);
        } else if args.dry_run {
            let found = survey(&request)?;
            tell(args.json, &found, |found| tell_survey(found, &request));
        } else {
            let told = go(args, request)?;
            tell(args.json, &told, tell_outcome);
        }
        Ok(())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Nothing is wrong then: a nightly run is not to send a mail.
        Err(err @ DreamError::GateClosed { .. }) => {
            complain(args.json, &err);
            ExitCode::SUCCESS
        }
        Err(err) => {
            complain(args.json, &err);
            match err {
                DreamError::Stopped => ExitCode::from(STOPPED),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// The request, and the folder of the plugin, which is there as long as the guard is.
fn prepare(args: &DreamArgs, global: &Global) -> Result<(Request, tempfile::TempDir), DreamError> {
    let world = global.world();
    let cwd = env::current_dir().unwrap_or_default();
    let facts = Facts {
        cwd: Some(cwd.to_string_lossy().into_owned()),
        ..Facts::default()
    };
    let config = config::load(&world.sources(&facts), &catalog()).config;
    let no_home = || DreamError::NoNotes {
        root: PathBuf::from("~/.agents/notes"),
    };
    // The client runs in the notes folder, where a relative path would lead elsewhere.
    let root = world
        .notes_root(&config.notes, &[])
        .and_then(|root| std::path::absolute(root).ok())
        .ok_or_else(no_home)?;
    let notes = Notes::open(Identity {
        root: root.clone(),
        cwd,
        project: config.notes.project.clone(),
        ..Identity::default()
    });
    let mut options = config.dream;
    if let Some(model) = &args.model {
        options.model = Some(model.clone());
    }
    let write = |path: PathBuf| move |source| DreamError::Write { path, source };
    let folder = tempfile::Builder::new()
        .prefix("notesoup-dream-")
        .tempdir()
        .map_err(write(env::temp_dir()))?;
    let plugin = store::write_plugin(folder.path()).map_err(|err| DreamError::Client {
        reason: err.to_string(),
    })?;
    let mut program = env::current_exe().unwrap_or_default();
    if let Some(file) = &global.config {
        program = with_config(folder.path(), &program, file)?;
    }
    let request = Request {
        project: notes.homes().project().ok().map(|project| project.key.clone()),
        root,
        state_dir: world.state_dir.clone().ok_or_else(no_home)?,
        program,
        plugin,
        options,
        force: args.force,
        init: args.init,
        now: world.now,
        stop: Arc::default(),
    };
    Ok((request, folder))
}

/// A script in `folder` that runs this program with the layer that `--config` lays over the others: what the client
/// starts goes by the same config as the dream itself.
fn with_config(folder: &Path, program: &Path, file: &Path) -> Result<PathBuf, DreamError> {
    let script = folder.join("notesoup");
    let write = |source| DreamError::Write {
        path: script.clone(),
        source,
    };
    let quoted = |path: &Path| {
        let path = path.to_str().unwrap_or_default();
        shlex::try_quote(path).map(Cow::into_owned)
    };
    let file = std::path::absolute(file).map_err(write)?;
    let line = match (quoted(program), quoted(&file)) {
        (Ok(program), Ok(file)) => format!("#!/bin/sh\nexec {program} \"$@\" --config {file}\n"),
        _ => return Err(write(io::ErrorKind::InvalidFilename.into())),
    };
    fs::write(&script, line)
        .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o700)))
        .map_err(write)?;
    Ok(script)
}

fn go(args: &DreamArgs, mut request: Request) -> Result<Outcome, DreamError> {
    let client = Client::find().map_err(|err| DreamError::Client {
        reason: err.to_string(),
    })?;
    let is_terminal = io::stderr().is_terminal();
    if !request.init && !args.json && io::stdin().is_terminal() && is_terminal {
        request.init = ask_for_repository(&request)?;
    }
    let bar = is_terminal.then(ProgressBar::new_spinner);
    if let Some(bar) = &bar {
        bar.enable_steady_tick(Duration::from_millis(100));
        bar.set_message("starting Claude Code");
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Where it cannot be heard, it ends this process as it always did.
        let _ = signal_hook::flag::register(signal, Arc::clone(&request.stop));
    }
    let mut calls = 0_usize;
    let outcome = dream(&request, &client, &mut |progress| {
        let line = match progress {
            Progress::Started => "dreaming".to_owned(),
            Progress::Call { tool, target } => {
                calls += 1;
                format!("{calls} {} {target}", tool.replace('_', " "))
            }
        };
        match &bar {
            Some(bar) => bar.set_message(line),
            None => {
                let _ = writeln!(anstream::stderr(), "{line}");
            }
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    outcome
}

/// Asks once whether the notes folder may become a repository, where it is none.
fn ask_for_repository(request: &Request) -> Result<bool, DreamError> {
    let found = survey(request)?;
    if found.is_repository || (found.gate != Gate::Open && !request.force) {
        return Ok(false);
    }
    let mut err = anstream::stderr();
    let _ = write!(
        err,
        "A dream can be taken back when {} is a git repository. Make it one? [Y/n] ",
        tilde(&request.root)
    );
    let _ = err.flush();
    let mut answer = String::new();
    let has_answered = io::stdin().lock().read_line(&mut answer).is_ok_and(|read| read > 0);
    Ok(has_answered && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

fn tell<T: serde::Serialize>(json: bool, what: &T, in_words: impl FnOnce(&T)) {
    if json {
        let told = serde_json::to_string_pretty(what).unwrap_or_default();
        let _ = writeln!(super::out::stdout(), "{told}");
    } else {
        in_words(what);
    }
}

fn tell_survey(found: &Survey, request: &Request) {
    let mut out = super::out::stdout();
    let kind = if found.is_repository {
        "a git repository"
    } else {
        "not a git repository yet"
    };
    let _ = writeln!(out, "notes    {} ({kind})", tilde(&found.root));
    let _ = writeln!(out, "project  {}", request.project.as_deref().unwrap_or("none"));
    let last = found
        .last
        .map_or_else(|| "none".to_owned(), |last| local(&last.to_string()));
    let _ = writeln!(out, "last     {last}");
    let _ = writeln!(out, "new      {}", counted(found.changed.len()));
    list(&mut out, &found.changed);
    let gate = match &found.gate {
        Gate::Open => "a dream is worth it now",
        Gate::Closed { reason } => reason,
    };
    let _ = writeln!(out, "so       {gate}");
    let _ = writeln!(out, "would    claude {}", shlex_line(&arguments(request, &[])));
}

fn tell_outcome(outcome: &Outcome) {
    let mut out = super::out::stdout();
    let _ = writeln!(out, "{}\n", outcome.report.trim_end());
    let short = outcome.commit.get(..10).unwrap_or(&outcome.commit);
    let _ = writeln!(
        out,
        "{} changed (commit {short}). Report: {}",
        counted(outcome.changed.len()),
        tilde(&outcome.report_file)
    );
    list(&mut out, &outcome.changed);
    if !outcome.gone.is_empty() {
        let _ = writeln!(out, "Not there any more under their old names:");
        list(&mut out, &outcome.gone);
    }
    let _ = writeln!(out, "Take it back: notesoup dream --undo");
}

fn tell_undone(undone: &Undone) {
    let mut out = super::out::stdout();
    let short = undone.dream.get(..10).unwrap_or(&undone.dream);
    let _ = writeln!(
        out,
        "Took back the dream of commit {short}: {}.",
        match undone.files.len() {
            0 => "it had changed nothing".to_owned(),
            1 => "1 file is as before".to_owned(),
            files => format!("{files} files are as before"),
        }
    );
    list(&mut out, &undone.files);
}

fn list(out: &mut impl io::Write, names: &[String]) {
    for name in names.iter().take(LISTED) {
        let _ = writeln!(out, "  {name}");
    }
    if names.len() > LISTED {
        let _ = writeln!(out, "  and {} more", names.len() - LISTED);
    }
}

fn shlex_line(args: &[String]) -> String {
    shlex::try_join(args.iter().map(String::as_str)).unwrap_or_else(|_| args.join(" "))
}

fn complain(json: bool, err: &DreamError) {
    if json {
        let told = serde_json::json!({ "ok": false, "error": err.to_string(), "hint": err.hint() });
        let _ = writeln!(super::out::stdout(), "{told:#}");
        return;
    }
    let (red, dim) = (AnsiColor::Red.on_default().bold(), Style::new().dimmed());
    let mut out = anstream::stderr();
    let _ = match err {
        // Nothing is wrong then.
        DreamError::GateClosed { .. } | DreamError::Stopped => writeln!(out, "{err}"),
        _ => writeln!(out, "{red}error{red:#}: {err}"),
    };
    let _ = writeln!(out, "{dim}  ->{dim:#} {}", err.hint());
}
