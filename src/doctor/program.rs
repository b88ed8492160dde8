//! The program: which one the client would start, whether it answers, and where its side files go.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::filter::Targets;

use super::{Examination, Finding, Part, Report};
use crate::package::VERSION;
use crate::package::client::is_program;
use crate::package::store::{PROGRAM, Store};
use crate::paths::tilde;
use crate::wire;

const PART: Part = Part::Program;

pub(super) fn examine(examination: &Examination, report: Report<'_>) {
    let program = tilde(&examination.program);
    report(Finding::well(PART, format!("notesoup {VERSION} at {program}")));
    on_the_path(&examination.program, report);
    answers(examination, report);
    side_files(examination, report);
    logs(examination, report);
}

/// Where the logs go that were asked for; nothing when none were.
fn logs(examination: &Examination, report: Report<'_>) {
    let Some(wanted) = env::var_os("NOTESOUP_LOG").filter(|wanted| !wanted.is_empty()) else {
        return;
    };
    let wanted = wanted.to_string_lossy();
    let logs_us = |targets: Targets| targets.would_enable("notesoup", &Level::ERROR);
    match (&examination.world.state_dir, wanted.parse().is_ok_and(logs_us)) {
        (Some(state), true) => report(Finding::well(
            PART,
            format!(
                "NOTESOUP_LOG={wanted}: sessions log to {}",
                tilde(&state.join("log/notesoup.jsonl"))
            ),
        )),
        (None, true) => {}
        (_, false) => report(Finding::wrong(
            PART,
            format!("NOTESOUP_LOG={wanted} logs nothing"),
            "NOTESOUP_LOG=debug, info, warn or error",
        )),
    }
}

/// What a person gets by typing `notesoup`.
fn on_the_path(program: &Path, report: Report<'_>) {
    let Some(found) = look_up_path() else {
        let folder = tilde(program.parent().unwrap_or(program));
        report(
            Finding::note(PART, "`notesoup` is not on the PATH; the client does not need it there")
                .remedy(format!("to type `notesoup` anywhere, add {folder} to PATH")),
        );
        return;
    };
    let same = fs::canonicalize(&found).ok() == fs::canonicalize(program).ok();
    let version = version_of(&found);
    match version {
        _ if same => {}
        Some(version) if version == VERSION => {}
        Some(version) => report(Finding::note(
            PART,
            format!("`notesoup` on the PATH is {version}: {}", tilde(&found)),
        )),
        None => report(Finding::wrong(
            PART,
            format!("`notesoup` on the PATH does not start: {}", tilde(&found)),
            "remove it, or install it again",
        )),
    }
}

/// Has the program that the courier would start make a plan.
fn answers(examination: &Examination, report: Report<'_>) {
    let named = env::var_os("NOTESOUP_BIN").filter(|value| !value.is_empty());
    if let Some(path) = named.as_deref().map(Path::new).filter(|path| !is_program(path)) {
        report(Finding::wrong(
            PART,
            format!("NOTESOUP_BIN names {}, which is not a program", tilde(path)),
            "set it to the path of notesoup, or unset it",
        ));
        return;
    }
    let installed = Store::locate().ok().map(|store| store.current().join(PROGRAM));
    let chosen = named
        .map(PathBuf::from)
        .or_else(|| installed.filter(|path| is_program(path)))
        .or_else(look_up_path)
        .unwrap_or_else(|| examination.program.clone());
    let cwd = examination.cwd.to_string_lossy();
    let request = json!({ "v": wire::VERSION, "event": "plan", "facts": { "cwd": cwd } });
    let begun = Instant::now();
    match ask(&chosen, &request) {
        Ok(reply) if reply["v"] == wire::VERSION => report(Finding::well(
            PART,
            format!(
                "{} answers the client's requests ({} ms)",
                tilde(&chosen),
                begun.elapsed().as_millis()
            ),
        )),
        Ok(reply) => report(Finding::wrong(
            PART,
            format!("{} answers otherwise than expected: {reply}", tilde(&chosen)),
            "notesoup install",
        )),
        Err(reason) => report(Finding::wrong(
            PART,
            format!("{} does not answer: {reason}", tilde(&chosen)),
            "notesoup install",
        )),
    }
}

fn ask(program: &Path, request: &Value) -> Result<Value, String> {
    let mut child = Command::new(program)
        .arg("plan")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|err| err.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read is found out by what it prints.
        let _ = stdin.write_all(request.to_string().as_bytes());
    }
    let output = child.wait_with_output().map_err(|err| err.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|_| format!("it ended with {} and no JSON", output.status))
}

fn side_files(examination: &Examination, report: Report<'_>) {
    let Some(folder) = &examination.world.state_dir else {
        report(Finding::wrong(
            PART,
            "neither HOME nor XDG_STATE_HOME is set, so side files have no place",
            "set HOME",
        ));
        return;
    };
    let writable = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    match writable {
        Ok(_) => report(Finding::well(PART, format!("side files in {}", tilde(folder)))),
        Err(err) => report(Finding::wrong(
            PART,
            format!("side files cannot be written in {}: {err}", tilde(folder)),
            "make the folder writable, or set XDG_STATE_HOME; until then history is slower and cuts are traced by content",
        )),
    }
}

fn look_up_path() -> Option<PathBuf> {
    let list = env::var_os("PATH")?;
    env::split_paths(&list)
        .map(|folder| folder.join("notesoup"))
        .find(|path| is_program(path))
}

fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix("notesoup ").map(str::to_owned)
}
