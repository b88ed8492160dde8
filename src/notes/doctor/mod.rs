//! What is wrong with the notes, and putting right what is safe to.

mod content;
mod layout;
mod links;
mod orphans;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::notes::home::Homes;
use crate::paths::tilde;

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Well,
    /// Worth knowing; nothing is broken.
    Note,
    /// It was wrong, and has been put right just now.
    Fixed,
    /// Not as it should be.
    Wrong,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it stands.
    pub level: Level,
    /// A stable name for the kind of finding, e.g. `dead_address`.
    pub code: &'static str,
    /// What was found, in one line.
    pub line: String,
    /// What to do, when something is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The file or folder it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

impl Finding {
    fn new(level: Level, code: &'static str, line: impl Into<String>) -> Self {
        Self {
            level,
            code,
            line: line.into(),
            remedy: None,
            path: None,
        }
    }

    fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_path_buf());
        self
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A home's folder on disk, whoever's it is.
struct HomeFolder {
    /// Below the root, e.g. `project/notesoup-0123abcd`.
    key: String,
    folder: PathBuf,
}

/// Looks at everything below the root. With `fix`, removes what dead writers left and closes what is open to others.
pub fn examine(homes: &Homes, fix: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !layout::root(homes, fix, &mut findings) {
        return findings;
    }
    let folders = layout::homes(homes, &mut findings);
    let mut total = 0;
    let mut open = Vec::new();
    for home in &folders {
        let files = layout::walk(home, fix, &mut findings);
        total += files.notes.len();
        open.extend(files.open_to_others);
        content::examine(homes, home, &files.notes, &mut findings);
    }
    layout::close(&open, fix, &mut findings);
    layout::versions(homes.root(), fix, &mut findings);
    orphans::examine(homes, &folders, &mut findings);
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let line = format!(
        "{} in {} in {}",
        count(total, "note"),
        count(folders.len(), "home"),
        tilde(homes.root())
    );
    findings.insert(0, Finding::new(Level::Well, "notes", line).at(homes.root()));
    findings
}
