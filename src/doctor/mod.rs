//! What is well on this machine, what is not, and what to do about it.
//!
//! One file a part; each looks, and with `fix` also does what is safe: install again, make a folder.

mod client;
mod config;
mod notes;
mod plugin;
mod program;

use std::path::PathBuf;

use serde::Serialize;

use crate::handlers::World;
use crate::package::client::Client;
use crate::package::store::Store;

/// The parts that are looked at, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The program, and the folder of its side files.
    Program,
    /// Claude Code.
    Client,
    /// The installed plugin.
    Plugin,
    /// The layers of the config.
    Config,
    /// The notes.
    Notes,
}

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

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where it belongs.
    pub part: Part,
    /// How it stands.
    pub level: Level,
    /// What was found, in one line.
    pub line: String,
    /// What to do, when something is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// What to look at.
#[derive(Debug)]
pub struct Examination {
    /// Put right what is safe to.
    pub fix: bool,
    /// Only this part.
    pub only: Option<Part>,
    /// This program.
    pub program: PathBuf,
    /// The folder whose project is meant.
    pub cwd: PathBuf,
    /// Folders and variables.
    pub world: World,
}

/// Where findings go as they are made.
type Report<'a> = &'a mut dyn FnMut(Finding);

impl Examination {
    /// Looks at everything, and tells `report` what it finds.
    pub fn run(&self, report: Report<'_>) {
        let wanted = |part| self.only.is_none_or(|only| only == part);
        let mut client = None;
        if wanted(Part::Program) {
            program::examine(self, report);
        }
        if wanted(Part::Client) {
            client = client::examine(report);
        }
        if wanted(Part::Plugin) {
            let client = client.or_else(|| Client::find().ok());
            plugin::examine(self, client.as_ref(), report);
        }
        if wanted(Part::Config) {
            config::examine(self, report);
        }
        if wanted(Part::Notes) {
            notes::examine(self, report);
        }
    }

    /// The root of the installed plugin, when one is installed.
    fn plugin_root(&self) -> Option<PathBuf> {
        let root = Store::locate().ok()?.current().join("plugin");
        root.exists().then_some(root)
    }
}

impl Finding {
    fn well(part: Part, line: impl Into<String>) -> Self {
        Self::new(part, Level::Well, line)
    }

    fn note(part: Part, line: impl Into<String>) -> Self {
        Self::new(part, Level::Note, line)
    }

    fn fixed(part: Part, line: impl Into<String>) -> Self {
        Self::new(part, Level::Fixed, line)
    }

    fn wrong(part: Part, line: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(part, Level::Wrong, line).remedy(remedy)
    }

    fn new(part: Part, level: Level, line: impl Into<String>) -> Self {
        Self {
            part,
            level,
            line: line.into(),
            remedy: None,
        }
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
