//! Readings that are out of date: the file was changed later, or a later reading shows the same lines again.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::value::RawValue;

use super::arguments::Arguments;

/// Why a reading is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stale {
    /// A later edit changed the file.
    Edited,
    /// A later reading covers it.
    ReadAgain,
}

impl Stale {
    /// In words, for the note of a cut.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Edited => "out of date, since the file was edited later",
            Self::ReadAgain => "shown again by a later reading",
        }
    }
}

/// Tools that change a file.
pub const EDITORS: &[&str] = &["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// What happened to files, gathered from the newest call to the oldest.
#[derive(Debug, Default)]
pub struct Later {
    files: HashMap<String, File>,
}

#[derive(Debug, Default)]
struct File {
    edited: bool,
    shown: Vec<Range<u64>>,
}

impl Later {
    /// What later calls made of this reading, which showed these lines.
    pub fn stale(&self, path: &str, lines: &Range<u64>) -> Option<Stale> {
        let file = self.files.get(path)?;
        if file.edited {
            return Some(Stale::Edited);
        }
        let covers = |shown: &Range<u64>| shown.start <= lines.start && shown.end >= lines.end;
        file.shown.iter().any(covers).then_some(Stale::ReadAgain)
    }

    /// A reading that succeeded.
    pub fn add_reading(&mut self, path: &str, lines: Range<u64>) {
        self.files.entry(path.to_owned()).or_default().shown.push(lines);
    }

    /// An edit that succeeded.
    pub fn add_edit(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_default().edited = true;
    }
}

/// The lines that a reading showed: as the client stored them, else as they were asked for. Without a bound: all.
pub fn lines(arguments: &Arguments<'_>, stored: Option<&RawValue>) -> Range<u64> {
    #[derive(serde::Deserialize)]
    struct Stored {
        file: Shown,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown {
        start_line: u64,
        num_lines: u64,
        total_lines: u64,
    }
    let whole = arguments.offset.is_none() && arguments.limit.is_none();
    let stored = stored.and_then(|stored| serde_json::from_str::<Stored>(stored.get()).ok());
    match stored.map(|stored| stored.file) {
        Some(file) if whole && file.num_lines >= file.total_lines => 1..u64::MAX,
        Some(file) => file.start_line..file.start_line.saturating_add(file.num_lines),
        None => {
            // Line numbers begin with 1; an offset of 0 is taken for the first line, too.
            let start = arguments.offset.unwrap_or(1).max(1);
            start..arguments.limit.map_or(u64::MAX, |limit| start.saturating_add(limit))
        }
    }
}

/// The path made absolute and plain, without looking at the disk: `.` and `..` and doubled slashes are gone.
pub fn normalize(path: &str, cwd: Option<&str>) -> String {
    let joined = match cwd {
        Some(cwd) if !path.starts_with('/') => format!("{cwd}/{path}"),
        _ => path.to_owned(),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            ".." if joined.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if joined.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_plain() {
        assert_eq!(normalize("/a//b/./c/../d", None), "/a/b/d");
        assert_eq!(normalize("src/../x.rs", Some("/p")), "/p/x.rs");
        assert_eq!(normalize("/../x", None), "/x");
        assert_eq!(normalize("../../x", None), "../../x");
    }

    #[test]
    fn a_part_is_covered_by_the_whole_and_not_the_other_way_round() {
        let mut later = Later::default();
        later.add_reading("/x", 10..20);
        assert_eq!(later.stale("/x", &(12..20)), Some(Stale::ReadAgain));
        assert_eq!(later.stale("/x", &(12..21)), None);
        assert_eq!(later.stale("/x", &(1..u64::MAX)), None);
        later.add_reading("/x", 1..u64::MAX);
        assert_eq!(later.stale("/x", &(1..u64::MAX)), Some(Stale::ReadAgain));
        assert_eq!(later.stale("/y", &(1..2)), None);
    }

    #[test]
    fn the_lines_that_the_client_stored_count() {
        let arguments = Arguments::default();
        let all = lines(&arguments, None);
        assert_eq!(all, 1..u64::MAX);
        let stored: Box<RawValue> =
            serde_json::from_str(r#"{"type":"text","file":{"startLine":1,"numLines":2000,"totalLines":5000}}"#)
                .unwrap();
        assert_eq!(lines(&arguments, Some(&stored)), 1..2001);
    }
}
