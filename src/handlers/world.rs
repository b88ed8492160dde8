//! The world as a handler may see it: time, chance, folders and variables. Tests put in their own.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rand::rngs::{ChaCha8Rng, SysRng};
use rand::{RngExt as _, SeedableRng as _, TryRng as _};

use crate::config::{NotesOptions, Sources};
use crate::paths;
use crate::wire::Facts;

/// The world of one run.
#[derive(Debug)]
pub struct World {
    /// Now, in UTC.
    pub now: Timestamp,
    rng: Option<ChaCha8Rng>,
    /// `$XDG_STATE_HOME/notesoup`; absent when there is no home folder.
    pub state_dir: Option<PathBuf>,
    /// The person's `hooks.toml`.
    pub user_file: Option<PathBuf>,
    /// `--config FILE`.
    pub config_file: Option<PathBuf>,
    /// `--notes-home DIR`.
    pub notes_home: Option<PathBuf>,
}

impl World {
    /// The world of this process.
    pub fn of_process() -> Self {
        Self {
            now: Timestamp::now(),
            rng: None,
            state_dir: paths::state_dir(),
            user_file: paths::config_dir().map(|dir| dir.join("hooks.toml")),
            config_file: None,
            notes_home: None,
        }
    }

    /// A world with all its files below one folder and no layer of a person: for the demo and for tests.
    pub fn alone_in(folder: &Path) -> Self {
        Self {
            now: Timestamp::now(),
            rng: None,
            state_dir: Some(folder.join("state")),
            user_file: None,
            config_file: None,
            notes_home: Some(folder.join("notes")),
        }
    }

    /// Does without the folders that a project's settings have named: a cloned repository must not bring the person's
    /// config, nor what was kept of it, by a variable.
    pub fn distrust_variables_of(&mut self, project_env: &[String]) {
        let is_named = |name: &str| project_env.iter().any(|of_project| of_project == name);
        let home = paths::home().filter(|_| !is_named("HOME"));
        let by_default = |below: &str| home.as_ref().map(|home| home.join(below).join("notesoup"));
        if is_named("HOME") || is_named("XDG_CONFIG_HOME") {
            self.user_file = by_default(".config").map(|dir| dir.join("hooks.toml"));
        }
        if is_named("HOME") || is_named("XDG_STATE_HOME") {
            self.state_dir = by_default(".local/state");
        }
    }

    /// Chance: seeded by the system when it is first asked for, unless a test has seeded it.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        self.rng.get_or_insert_with(|| ChaCha8Rng::from_rng(&mut rand::rng()))
    }

    /// A word that nobody can guess.
    ///
    /// Straight from the system where no test has seeded chance: a generator to draw one word from costs a tenth of
    /// what an event takes.
    pub fn secret(&mut self) -> u64 {
        match SysRng.try_next_u64() {
            Ok(word) if self.rng.is_none() => word,
            _ => self.rng().random(),
        }
    }

    /// The same world with what `--config` and `--notes-home` name.
    #[must_use]
    pub fn with_options(self, config_file: Option<PathBuf>, notes_home: Option<PathBuf>) -> Self {
        Self {
            config_file,
            notes_home,
            ..self
        }
    }

    /// The same world with this chance.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self {
            rng: Some(ChaCha8Rng::seed_from_u64(seed)),
            ..self
        }
    }

    /// Where the layers of the config are, for a session with these facts.
    pub fn sources(&self, facts: &Facts) -> Sources {
        Sources {
            plugin_root: facts.plugin_root.as_deref().map(PathBuf::from),
            user_file: self.user_file.clone(),
            project: facts.cwd.as_deref().map(PathBuf::from),
            project_path: None,
            settings: facts.settings.clone(),
            variables: Sources::variables_of_process(),
            command_line: self.config_file.clone(),
        }
    }

    /// The folder of all note homes: `--notes-home`, `NOTESOUP_HOME`, the config, `PI_NOTES_HOME`, `~/.agents/notes`.
    ///
    /// `NOTESOUP_HOME` counts for nothing when the project's settings set it.
    pub fn notes_root(&self, options: &NotesOptions, project_env: &[String]) -> Option<PathBuf> {
        let variable = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            (!project_env.iter().any(|of_project| of_project == name)).then(|| PathBuf::from(value))
        };
        self.notes_home
            .clone()
            .or_else(|| variable("NOTESOUP_HOME"))
            .or_else(|| options.home.as_deref().map(expand_home))
            .or_else(|| variable("PI_NOTES_HOME"))
            .or_else(|| paths::home().map(|home| home.join(".agents").join("notes")))
    }
}

fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), paths::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => Path::new(path).to_owned(),
    }
}
