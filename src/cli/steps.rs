//! How install and uninstall tell what they do: a line a step, or one JSON document.

use super::answer::print_json;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::package::PackageError;
use crate::package::install::{State, Step};

/// Prints steps as they happen, or keeps them for one JSON document.
pub(super) struct Report {
    json: bool,
    steps: Vec<Step>,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self {
            json,
            steps: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        if !self.json {
            let (word, style) = match step.state {
                State::Kept => ("ok", AnsiColor::Green.on_default()),
                State::Done => ("done", AnsiColor::Green.on_default().bold()),
                State::Would => ("would", AnsiColor::Cyan.on_default()),
                State::Warned => ("note", AnsiColor::Yellow.on_default()),
            };
            let mut out = anstream::stdout();
            let _ = writeln!(out, "{style}{word:>5}{style:#}  {:<12} {}", step.what, step.line);
        }
        self.steps.push(step);
    }

    pub(super) fn end(&self, closing: impl FnOnce(&mut dyn Write, bool)) {
        if self.json {
            print_json(&serde_json::json!({ "ok": true, "changed": self.changed(), "steps": self.steps }));
        } else {
            closing(&mut anstream::stdout(), self.changed());
        }
    }

    pub(super) fn fail(&self, err: &PackageError) -> ExitCode {
        if self.json {
            print_json(&serde_json::json!({
                "ok": false, "error": err.to_string(), "hint": err.hint(), "steps": self.steps,
            }));
        } else {
            let (red, dim) = (AnsiColor::Red.on_default().bold(), Style::new().dimmed());
            let mut out = anstream::stderr();
            let _ = writeln!(out, "{red}error{red:#}: {err}");
            for line in err.hint().lines() {
                let _ = writeln!(out, "{dim}  ->{dim:#} {line}");
            }
        }
        ExitCode::FAILURE
    }

    fn changed(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.state, State::Done | State::Warned))
    }
}

/// Where the notes are, as far as variables say it.
pub(super) fn notes_root() -> String {
    ["NOTESOUP_HOME", "PI_NOTES_HOME"]
        .into_iter()
        .find_map(|name| env::var_os(name).filter(|value| !value.is_empty()))
        .map(PathBuf::from)
        .or_else(|| crate::paths::home().map(|home| home.join(".agents/notes")))
        .map_or_else(|| "~/.agents/notes".to_owned(), |path| tilde(&path))
}

/// The path with `~` for the person's home.
pub(super) fn tilde(path: &Path) -> String {
    let below = crate::paths::home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf));
    below.map_or_else(|| path.display().to_string(), |rest| format!("~/{}", rest.display()))
}
