//! What the client and the helper wrote down while a scenario ran.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::TempDir;

/// The logs of one laboratory; reads them when asked.
#[derive(Clone)]
pub struct Logs {
    pub(super) root: Rc<TempDir>,
}

impl Logs {
    /// The client's debug logs of all runs, one behind the other.
    pub fn debug(&self) -> String {
        let mut files = files_below(self.root.path(), 1, &|name| name.starts_with("debug-"));
        files.sort_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok());
        files.iter().map(|path| read(path)).collect()
    }

    /// The helper's own log.
    pub fn helper(&self) -> String {
        let folder = self.root.path().join("state/notesoup/log");
        files_below(&folder, 2, &|_| true)
            .iter()
            .map(|path| read(path))
            .collect()
    }

    /// Lines of the client that say that a plugin's hooks module was not loaded, and why.
    pub fn module_refused(&self) -> Vec<String> {
        self.lines(&["hooks module did not load"])
    }

    /// Lines of the client that say that a hook of a loaded module threw, ran out of time, or was not believed.
    pub fn hook_failed(&self) -> Vec<String> {
        self.lines(&["hook skipped:", "hook failed:"])
    }

    /// Lines of the client that say that the model answered with an error or not at all.
    pub fn model_failed(&self) -> Vec<String> {
        self.lines(&["API error", "API ERROR", "Error in API request"])
    }

    /// How often a hook of a plugin of ours has come to its end, by the client's own count of what settled.
    pub fn settled(&self, event: &str) -> usize {
        let wanted = format!("@inline {event} settled");
        self.debug().matches(&wanted).count()
    }

    /// Fails unless the plugins' modules were loaded and none of their hooks failed.
    #[track_caller]
    pub fn assert_clean(&self) {
        let mut faults = self.module_refused();
        faults.extend(self.hook_failed());
        assert!(
            faults.is_empty(),
            "the client complained of a plugin:\n{}",
            faults.join("\n")
        );
    }

    fn lines(&self, any: &[&str]) -> Vec<String> {
        self.debug()
            .lines()
            .filter(|line| any.iter().any(|text| line.contains(text)))
            .map(str::to_owned)
            .collect()
    }

    /// The client's debug log without what it says of its own files and every screen it draws.
    fn debug_in_short(&self) -> String {
        const NOISE: [&str; 8] = [
            "Preserving file permissions",
            "Writing to temp file",
            "Applied original permissions",
            "Temp file written",
            "Renaming /",
            "written atomically",
            "ui.render settled",
            "Fast mode unavailable",
        ];
        let debug = self.debug();
        debug
            .lines()
            .filter(|line| !NOISE.iter().any(|noise| line.contains(noise)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The ends of both logs, the client's complaints first.
    pub fn tail(&self) -> String {
        let section = |name: &str, lines: &[String]| match lines {
            [] => String::new(),
            lines => format!("--- {name}\n{}\n", lines.join("\n")),
        };
        let last = |text: &str, n: usize| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(n)..]
                .iter()
                .map(|line| clipped(line))
                .collect::<Vec<_>>()
        };
        let mut out = section("modules refused", &self.module_refused());
        out += &section("hooks that failed", &self.hook_failed());
        out += &section("model errors", &self.model_failed());
        out += &section("end of the client's debug log", &last(&self.debug_in_short(), 40));
        out + &section("end of the helper's log", &last(&self.helper(), 40))
    }
}

fn clipped(line: &str) -> String {
    line.char_indices()
        .nth(1500)
        .map_or_else(|| line.to_owned(), |(at, _)| format!("{}…", &line[..at]))
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn files_below(folder: &Path, depth: usize, wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if depth > 1 {
                found.extend(files_below(&path, depth - 1, wanted));
            }
        } else if wanted(&entry.file_name().to_string_lossy()) {
            found.push(path);
        }
    }
    found.sort();
    found
}
