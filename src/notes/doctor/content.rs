//! What notes say: text, frontmatter, and the addresses they name.

use std::path::{Path, PathBuf};

use super::links::{self, Target};
use super::{Finding, HomeFolder, Level};
use crate::notes::disk::{self, ReadError};
use crate::notes::home::Homes;
use crate::notes::note::{Key, MAX_NOTE_BYTES, Note};
use crate::notes::{parallel, scan, time};

/// Looks into the notes of one home.
pub(super) fn examine(homes: &Homes, home: &HomeFolder, notes: &[(String, PathBuf)], findings: &mut Vec<Finding>) {
    let found = parallel::filter_map(notes, |(path, file)| {
        let found = one(homes, home, path, file);
        (!found.is_empty()).then_some(found)
    });
    findings.extend(found.into_iter().flatten());
}

fn one(homes: &Homes, home: &HomeFolder, path: &str, file: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shown = file.display();
    let mut say = |level, code, line: String, remedy: &str| {
        findings.push(Finding::new(level, code, line).at(file).remedy(remedy));
    };
    let bytes = match disk::read(file) {
        Ok((bytes, _)) => bytes,
        Err(ReadError::Missing) => return findings,
        Err(error) => {
            say(
                Level::Wrong,
                "unreadable",
                format!("{shown} cannot be read: {error}"),
                "check its permissions",
            );
            return findings;
        }
    };
    if bytes.len() > MAX_NOTE_BYTES {
        let line = format!(
            "{shown} has {} bytes, more than the {MAX_NOTE_BYTES} that can be written",
            bytes.len()
        );
        say(Level::Note, "too_large", line, "split it into several notes");
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        let line = format!("{shown} is not UTF-8: it is shown with marks and never edited");
        say(Level::Wrong, "not_utf8", line, "convert it, e.g. with iconv");
        return findings;
    };
    let note = Note::parse(text);
    if !note.has_header() && text.trim_start_matches('\u{feff}').starts_with("---") {
        let line = format!("{shown} begins like frontmatter but has none that can be read: it is taken for text");
        say(
            Level::Note,
            "frontmatter",
            line,
            "close it with a line ---, if it is meant as such",
        );
    }
    for key in note.doubled() {
        let line = format!("{shown} has the frontmatter key {key} more than once; the first counts");
        say(Level::Wrong, "frontmatter", line, "remove the others");
    }
    for (key, name) in [
        (Key::CreatedAt, "createdAt"),
        (Key::UpdatedAt, "updatedAt"),
        (Key::CrumpledAt, "crumpledAt"),
    ] {
        if let Some(value) = note.get(key).filter(|value| time::parse(value).is_none()) {
            let value: String = value.chars().take(40).flat_map(char::escape_debug).collect();
            let line = format!("{shown}: {name} is {value:?}, which is no time");
            say(
                Level::Wrong,
                "frontmatter",
                line,
                "write it like 2026-11-30T12:00:00.000+00:00",
            );
        }
    }
    if let Some(origin) = note
        .get(Key::Origin)
        .filter(|origin| !["user", "self", "external"].contains(origin))
    {
        let origin: String = origin.chars().take(40).flat_map(char::escape_debug).collect();
        let line = format!("{shown}: origin is {origin:?}");
        say(Level::Note, "frontmatter", line, "it is user, self or external");
    }
    if note.is_crumpled() {
        return findings;
    }
    let is_map = path == "MAP.md";
    for target in links::of(homes, home, path, &note) {
        let Target {
            shown: target,
            file: to,
            line,
        } = target;
        let problem = match std::fs::symlink_metadata(&to) {
            Ok(metadata) if metadata.is_file() && is_map && scan::head_is_crumpled(&to) => "is in the wastebasket",
            Ok(_) => continue,
            Err(_) => "is not there",
        };
        let code = if is_map { "map_entry" } else { "dead_address" };
        let line = format!("{shown}:{line} names {target}, which {problem}");
        say(Level::Wrong, code, line, "correct the address, or take the line out");
    }
    findings
}
