//! Where layers are to be found.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::client::VARIABLE_PREFIX;
use crate::wire::Settings;

/// Where layers are to be found.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The plugin's root folder, whose `hooks.toml` is a layer.
    pub plugin_root: Option<PathBuf>,
    /// The person's `hooks.toml`.
    pub user_file: Option<PathBuf>,
    /// The project's folder; its `.claude/notesoup.toml` is a layer.
    pub project: Option<PathBuf>,
    /// The project's layer, where it is another file than the one of the project's folder.
    pub project_path: Option<PathBuf>,
    /// What the client's settings hold for us.
    pub settings: Settings,
    /// `NOTESOUP_CONFIG__…` variables, by name.
    pub variables: BTreeMap<String, OsString>,
    /// `--config FILE`.
    pub command_line: Option<PathBuf>,
}

impl Sources {
    /// The variables of the process that are config.
    pub fn variables_of_process() -> BTreeMap<String, OsString> {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(VARIABLE_PREFIX))
            .collect()
    }

    /// The project's file, whether it is there or not.
    pub fn project_file(&self) -> Option<PathBuf> {
        let of_folder = |folder: &PathBuf| folder.join(".claude").join("notesoup.toml");
        self.project_path
            .clone()
            .or_else(|| self.project.as_ref().map(of_folder))
    }

    /// The plugin's table, whether it is there or not.
    pub fn plugin_file(&self) -> Option<PathBuf> {
        self.plugin_root.as_ref().map(|root| root.join("hooks.toml"))
    }

    /// The files whose change changes the config.
    pub fn files(&self) -> Vec<PathBuf> {
        [
            self.plugin_file(),
            self.user_file.clone(),
            self.project_file(),
            self.command_line.clone(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
