//! The notes: where they are, and whether they are in order.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{Examination, Finding, Part, Report};
use crate::config;
use crate::handlers::catalog;
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
    let shown = root.display();
    let meta = match fs::metadata(&root) {
        Ok(meta) if meta.is_dir() => meta,
        Ok(_) => {
            report(Finding::wrong(
                PART,
                format!("{shown} is not a folder"),
                "move it away, or set notes.home",
            ));
            return;
        }
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
            report(Finding::well(PART, format!("none yet; the first goes to {shown}")));
            return;
        }
        Err(err) => {
            report(Finding::wrong(
                PART,
                format!("{shown} cannot be read: {err}"),
                "check its permissions",
            ));
            return;
        }
    };
    report(Finding::well(PART, format!("in {shown}")));
    if let Err(err) = tempfile::tempfile_in(&root) {
        report(Finding::wrong(
            PART,
            format!("{shown} cannot be written: {err}"),
            "make it writable; until then notes can only be read",
        ));
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return;
    }
    if examination.fix && fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).is_ok() {
        report(Finding::fixed(
            PART,
            format!("{shown} is closed to others now (it had mode {mode:o})"),
        ));
    } else {
        report(
            Finding::note(PART, format!("{shown} is open to others (mode {mode:o})"))
                .remedy(format!("chmod 700 {shown}, or notesoup doctor --fix")),
        );
    }
}
