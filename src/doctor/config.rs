//! The layers of the config, as a session in this folder would have them.

use super::{Examination, Finding, Part, Report};
use crate::config;
use crate::handlers::catalog;
use crate::wire::Facts;

const PART: Part = Part::Config;

pub(super) fn examine(examination: &Examination, report: Report<'_>) {
    let facts = Facts {
        cwd: Some(examination.cwd.to_string_lossy().into_owned()),
        plugin_root: examination
            .plugin_root()
            .map(|root| root.to_string_lossy().into_owned()),
        ..Facts::default()
    };
    let loaded = config::load(&examination.world.sources(&facts), &catalog());
    let files: Vec<_> = loaded
        .layers
        .iter()
        .filter_map(|layer| layer.document.as_ref())
        .map(|document| document.path.display().to_string())
        .collect();
    let from = if files.is_empty() {
        "nothing but the defaults".to_owned()
    } else {
        files.join(", ")
    };
    report(Finding::well(
        PART,
        format!("profile {:?}, from {from}", loaded.config.profile),
    ));
    for problem in &loaded.problems {
        let remedy = problem
            .help
            .clone()
            .unwrap_or_else(|| "notesoup config check shows the line".to_owned());
        let shown = config::Problem {
            help: None,
            ..problem.clone()
        };
        report(Finding::wrong(PART, shown.to_string(), remedy));
    }
}
