//! The published JSON Schemas: files of the config, what comes through the client, the wire, the tools.
//!
//! All are made from the types and from the table, so that an editor and this program say the same. `schemas/` holds
//! them; a test fails when it is stale, and `notesoup schema --write` rewrites it.

mod hooks;
mod project;
mod settings;
mod tidy;
mod tools;
pub mod validate;

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::wire;

/// A published schema.
#[derive(Debug, Clone)]
pub struct Published {
    /// Its name: `schemas/<name>.schema.json`.
    pub name: String,
    /// What it describes, in a line.
    pub about: String,
    /// The schema itself.
    pub schema: Value,
}

impl Published {
    fn new(name: impl Into<String>, about: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            schema,
        }
    }

    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.schema.json", self.name)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// Every published schema.
pub fn all() -> Vec<Published> {
    let hooks = hooks::schema();
    let project = project::schema();
    let mut all = vec![
        Published::new("hooks", "hooks.toml, the plugin's and yours", hooks.clone()),
        Published::new(
            "hooks.draft-07",
            "the same for editors whose TOML support reads draft-07",
            tidy::draft_07(hooks),
        ),
        Published::new("project", "a project's .claude/notesoup.toml", project.clone()),
        Published::new(
            "project.draft-07",
            "the same for editors whose TOML support reads draft-07",
            tidy::draft_07(project),
        ),
        Published::new(
            "settings",
            "what Claude Code's settings may hold for us",
            settings::schema(),
        ),
        Published::new(
            "plugin-options",
            "the options that /config shows",
            settings::plugin_options(),
        ),
        Published::new(
            "request",
            "what the courier sends to `notesoup hook`",
            of::<wire::Request<'static>>(),
        ),
        Published::new("reply", "what `notesoup hook` answers", of::<wire::Reply>()),
        Published::new("plan", "what `notesoup plan` answers", of::<wire::Plan>()),
    ];
    all.extend(tools::schemas());
    all
}

/// The schema of this name.
pub fn find(name: &str) -> Option<Published> {
    all().into_iter().find(|published| published.name == name)
}

/// The schema of the person's file, as an editor's TOML support reads it.
pub fn for_editors() -> Value {
    tidy::draft_07(hooks::schema())
}

/// Writes every schema into a folder, and takes out those that are none any longer. Gives the names of the files that
/// changed.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn write_all(folder: &Path) -> io::Result<Vec<String>> {
    std::fs::create_dir_all(folder)?;
    let mut changed = Vec::new();
    let all = all();
    for published in &all {
        let path = folder.join(published.file_name());
        let text = published.text();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(&path, text)?;
        changed.push(published.file_name());
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".schema.json") && all.iter().all(|published| published.file_name() != name) {
            std::fs::remove_file(entry.path())?;
            changed.push(name);
        }
    }
    Ok(changed)
}

/// The schema of a type, as it is published.
fn of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    tidy::formats(&mut schema);
    tidy::prose(&mut schema);
    schema
}
