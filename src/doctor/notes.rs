//! The notes: where they are, and whether they are in order.

use super::{Examination, Finding, Level, Part, Report};
use crate::config;
use crate::handlers::catalog;
use crate::notes::{self, Identity, Notes};
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
    let notes = Notes::open(Identity {
        root,
        cwd: examination.cwd.clone(),
        project: loaded.config.notes.project.clone(),
        state_dir: examination.world.state_dir.clone(),
        ..Identity::default()
    });
    notes.recover();
    for finding in notes.doctor(examination.fix) {
        report(Finding {
            part: PART,
            level: match finding.level {
                notes::Level::Well => Level::Well,
                notes::Level::Note => Level::Note,
                notes::Level::Fixed => Level::Fixed,
                notes::Level::Wrong => Level::Wrong,
            },
            line: finding.line,
            remedy: finding.remedy,
        });
    }
}
