//! The layers as a person outside the client has them in this folder.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

use anstyle::Style;

use crate::cli::Global;
use crate::config::claude::{self, ClaudeFiles};
use crate::config::{LastGood, Loaded, Sources, load_keeping};
use crate::handlers::{World, catalog};
use crate::paths;
use crate::wire::Facts;

/// The layers, and what they were made from.
pub(super) struct Here {
    pub world: World,
    pub facts: Facts,
    pub sources: Sources,
    /// What was read of Claude's settings.
    pub claude: ClaudeFiles,
}

impl Here {
    /// The layers of the current folder.
    pub fn new(global: &Global) -> Self {
        let world = global.world();
        let cwd = env::current_dir().ok();
        let claude = claude::read(paths::claude_dir().as_deref(), cwd.as_deref());
        let facts = Facts {
            cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
            plugin_root: installed_plugin().map(|root| root.to_string_lossy().into_owned()),
            settings: claude.settings.clone(),
            ..Facts::default()
        };
        let mut sources = world.sources(&facts);
        // Outside the client a project's settings have set no variable.
        sources.settings.project_env.clear();
        Self {
            world,
            facts,
            sources,
            claude,
        }
    }

    /// Loads them, with the copies that a session would fall back on.
    pub fn load(&self) -> Loaded {
        let last_good = LastGood::in_state_dir(self.world.state_dir.as_deref()).read_only();
        let mut loaded = load_keeping(&self.sources, &catalog(), &last_good);
        loaded.problems.extend(self.claude.problems.iter().cloned());
        loaded
    }

    /// Says which of Claude's files were read: a session may know more.
    pub fn say_what_was_read(&self) {
        if self.claude.read.is_empty() {
            return;
        }
        let files: Vec<_> = self.claude.read.iter().map(|path| crate::paths::tilde(path)).collect();
        let dim = Style::new().dimmed();
        let _ = writeln!(
            anstream::stderr(),
            "{dim}Claude's settings are as in {}; a running session may have others (its flags, managed settings).{dim:#}",
            files.join(", ")
        );
    }
}

/// The plugin that `notesoup install` has put in place, whose table a session would read.
fn installed_plugin() -> Option<PathBuf> {
    let root = paths::data_dir()?.join("current").join("plugin");
    root.is_dir().then_some(root)
}
