//! The layers of the config, as a session in this folder would have them.

use super::{Examination, Finding, Part, Report};
use crate::config::{self, LayerKind, Severity, claude};
use crate::handlers::catalog;
use crate::paths::{self, tilde};
use crate::wire::Facts;

const PART: Part = Part::Config;

pub(super) fn examine(examination: &Examination, report: Report<'_>) {
    let claude = claude::read(paths::claude_dir().as_deref(), Some(&examination.cwd));
    let facts = Facts {
        cwd: Some(examination.cwd.to_string_lossy().into_owned()),
        plugin_root: examination
            .plugin_root()
            .map(|root| root.to_string_lossy().into_owned()),
        settings: claude.settings,
        ..Facts::default()
    };
    let loaded = config::load(&examination.world.sources(&facts), &catalog());
    let above: Vec<_> = loaded
        .layers
        .iter()
        .filter(|layer| !matches!(layer.kind, LayerKind::Defaults | LayerKind::Profile))
        .map(|layer| match &layer.document {
            Some(document) => tilde(&document.path),
            None => layer.kind.title().to_owned(),
        })
        .collect();
    let from = if above.is_empty() {
        "the defaults".to_owned()
    } else {
        format!("the defaults and {}", above.join(", "))
    };
    report(Finding::well(
        PART,
        format!("profile {:?}, from {from}", loaded.config.profile),
    ));
    for problem in loaded.problems.iter().chain(&claude.problems) {
        let remedy = problem
            .help
            .clone()
            .unwrap_or_else(|| "notesoup config check shows the line".to_owned());
        let shown = config::Problem {
            help: None,
            ..problem.clone()
        };
        report(match problem.severity {
            Severity::Error => Finding::wrong(PART, shown.to_string(), remedy),
            Severity::Warning => Finding::note(PART, shown.to_string()).remedy(remedy),
        });
    }
}
