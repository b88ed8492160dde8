//! Where the program keeps its files, by the XDG rules.
//!
//! Only this module reads the variables that name folders, so that a test can say where everything goes.

use std::env;
use std::path::{Path, PathBuf};

/// The person's home folder, or `None` when `HOME` is unset or empty.
pub fn home() -> Option<PathBuf> {
    folder("HOME")
}

/// `$XDG_STATE_HOME/notesoup`, by default `~/.local/state/notesoup`: side files (history index, prune records,
/// access counts, logs). Losing it loses no note and no row of history.
pub fn state_dir() -> Option<PathBuf> {
    xdg("XDG_STATE_HOME", ".local/state")
}

/// `$XDG_CONFIG_HOME/notesoup`, by default `~/.config/notesoup`: the person's `hooks.toml`.
pub fn config_dir() -> Option<PathBuf> {
    xdg("XDG_CONFIG_HOME", ".config")
}

/// `$XDG_DATA_HOME/notesoup`, by default `~/.local/share/notesoup`: the installed plugin and program.
pub fn data_dir() -> Option<PathBuf> {
    xdg("XDG_DATA_HOME", ".local/share")
}

/// Claude Code's own folder: `$CLAUDE_CONFIG_DIR`, by default `~/.claude`. Only read.
pub fn claude_dir() -> Option<PathBuf> {
    folder("CLAUDE_CONFIG_DIR").or_else(|| home().map(|home| home.join(".claude")))
}

/// The path for a person to read, with `~` for the home folder.
pub fn tilde(path: &Path) -> String {
    let below = home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf));
    match below {
        None => path.display().to_string(),
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
    }
}

fn xdg(variable: &str, below_home: &str) -> Option<PathBuf> {
    // The XDG rules ignore a relative path.
    let base = folder(variable).filter(|path| path.is_absolute());
    base.or_else(|| home().map(|home| home.join(below_home)))
        .map(|base| base.join("notesoup"))
}

fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
