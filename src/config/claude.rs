//! What Claude Code's settings files hold for us, for a person outside the client: read only, and as far as files go.
//! A running session may know more (its own flags, `/config`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::problem::{Code, Place, Problem};
use crate::wire::Settings;

/// The keys of the merged settings that are looked at.
const MERGED: &[&str] = &["notesoup", "autoCompactEnabled", "autoCompactWindow", "modelSettings"];

#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// What the files say.
#[derive(Debug, Clone, Default)]
pub struct ClaudeFiles {
    /// As the courier would report it.
    pub settings: Settings,
    /// The files that were there and could be read.
    pub read: Vec<PathBuf>,
    /// Files that are there and cannot be read as JSON.
    pub problems: Vec<Problem>,
}

/// Reads the settings files: the person's in `folder` (`~/.claude`), the project's below `cwd`, the managed one.
pub fn read(folder: Option<&Path>, cwd: Option<&Path>) -> ClaudeFiles {
    let project = cwd.map(|cwd| cwd.join(".claude"));
    // Lowest first, as the client merges them.
    let sources = [
        ("user", folder.map(|folder| folder.join("settings.json"))),
        ("project", project.as_ref().map(|folder| folder.join("settings.json"))),
        (
            "local",
            project.as_ref().map(|folder| folder.join("settings.local.json")),
        ),
        ("policy", Some(PathBuf::from(MANAGED))),
    ];
    let mut found = ClaudeFiles::default();
    for (source, path) in sources.into_iter().filter_map(|(source, path)| Some((source, path?))) {
        if let Some(settings) = found.object(path) {
            found.take(source, &settings);
        }
    }
    found
}

impl ClaudeFiles {
    fn object(&mut self, path: PathBuf) -> Option<Map<String, Value>> {
        let text = fs::read_to_string(&path).ok()?;
        let problem = match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(settings)) => {
                self.read.push(path);
                return Some(settings);
            }
            Ok(_) => "is not an object".to_owned(),
            Err(error) => format!("is not JSON: {error}"),
        };
        let place = Place::source(path.display().to_string());
        self.problems
            .push(Problem::new(Code::Syntax, place, problem).help("mend it; Claude Code cannot read it either"));
        None
    }

    fn take(&mut self, source: &str, settings: &Map<String, Value>) {
        let merged = &mut self.settings.merged;
        for (name, value) in MERGED.iter().filter_map(|name| settings.get_key_value(*name)) {
            overlay(merged.entry(name.clone()).or_insert(Value::Null), value);
        }
        if matches!(source, "project" | "local") {
            let env = settings.get("env").and_then(Value::as_object);
            self.settings
                .project_env
                .extend(env.into_iter().flatten().map(|(name, _)| name.clone()));
            // Options of plugins are never taken from a project.
            return;
        }
        let Some(configs) = settings.get("pluginConfigs").and_then(Value::as_object) else {
            return;
        };
        let is_of = |name: &str, plugin: &str| {
            name.strip_prefix(plugin)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        };
        for (_, config) in configs.iter().filter(|(name, _)| is_of(name, "notesoup")) {
            let options = config.get("options").and_then(Value::as_object).cloned();
            self.settings.options.extend(options.unwrap_or_default());
        }
        let older: BTreeMap<_, _> = configs
            .iter()
            .filter(|(name, _)| is_of(name, "compact-shaper"))
            .collect();
        if !older.is_empty() {
            let older = older.into_iter().map(|(name, value)| (name.clone(), value.clone()));
            self.settings
                .plugin_configs
                .insert(source.to_owned(), Value::Object(older.collect()));
        }
    }
}

fn overlay(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                overlay(below.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_file_gives_what_the_client_would_take_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: Value| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value.to_string()).unwrap();
        };
        write(
            "home/settings.json",
            json!({
                "notesoup": { "resetMarginTokens": 1, "warningRunwayTokens": 2 }, "model": "x",
                "pluginConfigs": {
                    "notesoup@inline": { "options": { "profile": "notesoup" } },
                    "compact-shaper@m": { "options": { "keepHeadChars": 1 } },
                    "other": { "options": { "a": 1 } },
                },
            }),
        );
        write(
            "project/.claude/settings.json",
            json!({
                "notesoup": { "resetMarginTokens": 3 }, "env": { "NOTESOUP_BIN": "/x" },
                "pluginConfigs": { "notesoup": { "options": { "profile": "both" } } },
            }),
        );
        fs::write(folder.path().join("project/.claude/settings.local.json"), "{").unwrap();
        let found = read(Some(&folder.path().join("home")), Some(&folder.path().join("project")));
        let Settings {
            merged,
            options,
            plugin_configs,
            project_env,
        } = found.settings;
        assert_eq!(
            json!(merged),
            json!({ "notesoup": { "resetMarginTokens": 3, "warningRunwayTokens": 2 } })
        );
        assert_eq!(json!(options), json!({ "profile": "notesoup" }));
        assert_eq!(
            json!(plugin_configs),
            json!({ "user": { "compact-shaper@m": { "options": { "keepHeadChars": 1 } } } })
        );
        assert_eq!(project_env, ["NOTESOUP_BIN"]);
        assert_eq!((found.read.len(), found.problems.len()), (2, 1));
    }
}
