//! The client's own record of a conversation.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One transcript, as it was on disk when read.
#[derive(Debug)]
pub struct Transcript {
    /// Where it is.
    pub path: PathBuf,
    /// Its rows, in order. A half-written last row is left out.
    pub rows: Vec<Value>,
}

impl Transcript {
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let rows = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Self {
            path: path.to_owned(),
            rows,
        }
    }

    /// The session's id.
    pub fn session(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The rows of one type: `user`, `assistant`, `attachment`, `system`.
    pub fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.rows.iter().filter(move |row| row["type"] == kind)
    }

    /// How many compactions stand in it.
    pub fn boundaries(&self) -> usize {
        self.of_type("system")
            .filter(|row| row["subtype"] == "compact_boundary")
            .count()
    }
}
