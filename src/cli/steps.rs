//! How install and uninstall tell what they do: a line a step, or one JSON document.

use std::env;
use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use super::Global;
use super::answer::print_json;
use crate::config;
use crate::handlers::catalog;
use crate::package::PackageError;
use crate::package::install::{State, Step};
use crate::paths::tilde;
use crate::wire::Facts;

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
            let mut out = super::out::stdout();
            let _ = writeln!(out, "{style}{word:>5}{style:#}  {:<12} {}", step.what, step.line);
        }
        self.steps.push(step);
    }

    pub(super) fn end(&self, closing: impl FnOnce(&mut dyn Write)) {
        if self.json {
            print_json(&serde_json::json!({ "ok": true, "changed": self.changed(), "steps": self.steps }));
        } else {
            closing(&mut super::out::stdout());
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

    /// Whether anything is, or in a dry run would be, otherwise than before.
    pub(super) fn changes(&self) -> bool {
        self.changed() || self.steps.iter().any(|step| step.state == State::Would)
    }

    fn changed(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.state, State::Done | State::Warned))
    }
}

/// Where the notes are, by options, variables and config.
pub(super) fn notes_root(global: &Global) -> String {
    let world = global.world();
    let facts = Facts {
        cwd: env::current_dir().ok().map(|cwd| cwd.to_string_lossy().into_owned()),
        ..Facts::default()
    };
    let config = config::load(&world.sources(&facts), &catalog()).config;
    let root = world.notes_root(&config.notes, &[]);
    root.map_or_else(|| "~/.agents/notes".to_owned(), |root| tilde(&root))
}
