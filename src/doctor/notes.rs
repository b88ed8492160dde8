//! The notes: where they are, and whether they are in order.

use super::{Examination, Finding, Part, Report};
use crate::config;
use crate::handlers::catalog;
use crate::notes::{Identity, Level, Notes};
use crate::paths::tilde;
use crate::wire::Facts;

const PART: Part = Part::Notes;

pub(super) fn examine(examination: &Examination, report: Report<'_>) {
    let facts = Facts {
        cwd: Some(examination.cwd.to_string_lossy().into_owned()),
        ..Facts::default()
    };
    let loaded = config::load(&examination.world.sources(&facts), &catalog());
    let Some(root) = examination.world.notes_root(&loaded.config.notes, &[]) else {
        report(Finding::wrong(
            PART,
            "there is no place for notes: HOME is not set",
            "set HOME",
        ));
        return;
    };
    let shown = tilde(&root);
    if !root.exists() {
        report(Finding::well(PART, format!("none yet; the first goes to {shown}")));
        return;
    }
    if let Err(err) = tempfile::tempfile_in(&root) {
        report(Finding::wrong(
            PART,
            format!("{shown} cannot be written: {err}"),
            "make it a folder that is yours; until then no note can be written",
        ));
        return;
    }
    let notes = Notes::open(Identity {
        root,
        cwd: examination.cwd.clone(),
        project: loaded.config.notes.project,
        state_dir: examination.world.state_dir.clone(),
        ..Identity::default()
    });
    for found in notes.doctor(examination.fix) {
        let level = match found.level {
            Level::Well => super::Level::Well,
            Level::Note => super::Level::Note,
            Level::Fixed => super::Level::Fixed,
            Level::Wrong => super::Level::Wrong,
        };
        report(Finding {
            part: PART,
            level,
            line: found.line,
            remedy: found.remedy,
        });
    }
}
