//! The lines that a session shows about the config: one, however much is wrong.

use std::fs;
use std::path::Path;

use super::problem::{Code, Problem, Severity};

/// The lines for a session: the first error and how to see the others; what is to be known of a file's rights.
///
/// That a file can be read by others is said once and then remembered in the state directory; that it can be changed by
/// others, or belongs to somebody else, is said in each session until it is mended.
pub fn notices(problems: &[Problem], state_dir: Option<&Path>) -> Vec<String> {
    let errors: Vec<_> = of(problems, Severity::Error).collect();
    let mut lines = Vec::new();
    if let Some(first) = errors.first() {
        let mut line = first.to_string();
        if let Some(consequence) = first.consequence {
            line.push_str("; ");
            line.push_str(consequence.describe());
        }
        match errors.len() - 1 {
            0 => line.push_str(" (`notesoup config check` shows the line)"),
            1 => line.push_str(" (and 1 more: `notesoup config check` shows all)"),
            count => line.push_str(&format!(" (and {count} more: `notesoup config check` shows all)")),
        }
        lines.push(line);
    }
    lines.extend(
        of(problems, Severity::Warning)
            .filter(|warning| warning.code != Code::ReadableByOthers || is_news(warning, state_dir))
            .map(|warning| warning.to_string()),
    );
    lines
}

fn of(problems: &[Problem], severity: Severity) -> impl Iterator<Item = &Problem> {
    problems.iter().filter(move |problem| problem.severity == severity)
}

/// Whether this was not said before; it is then remembered. Without a state directory it is said each time.
fn is_news(problem: &Problem, state_dir: Option<&Path>) -> bool {
    let Some(folder) = state_dir.map(|dir| dir.join("said")) else {
        return true;
    };
    let hash = blake3::hash(problem.to_string().as_bytes()).to_hex();
    if fs::create_dir_all(&folder).is_err() {
        return true;
    }
    match fs::File::create_new(folder.join(&hash[..16])) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AlreadyExists,
    }
}
