//! A person, a project and a client, each with their layers, in a folder of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use notesoup::config::{Catalog, HandlerInfo, LastGood, Loaded, Problem, Sources, load, load_keeping};
use notesoup::wire::Event;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Every handler that the table names, each serving the events of its rows.
pub fn catalog() -> Catalog<'static> {
    static HANDLERS: std::sync::OnceLock<Vec<HandlerInfo>> = std::sync::OnceLock::new();
    Catalog {
        handlers: HANDLERS.get_or_init(|| {
            let mut handlers: Vec<HandlerInfo> = notesoup::handlers::catalog().handlers.to_vec();
            let table: toml::Table = notesoup::config::DEFAULT_TEXT.parse().unwrap();
            for row in table["hooks"].as_table().unwrap().values() {
                let name = row["run"].as_str().unwrap();
                if handlers.iter().all(|handler| handler.name != name) {
                    handlers.push(HandlerInfo {
                        name: name.to_owned().leak(),
                        events: Event::ALL,
                        check_options: |_| Ok(()),
                    });
                }
            }
            handlers
        }),
    }
}

pub struct Bench {
    folder: TempDir,
    pub sources: Sources,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources {
            plugin_root: Some(folder.path().join("plugin")),
            user_file: Some(folder.path().join("home/hooks.toml")),
            project: Some(folder.path().join("project")),
            ..Sources::default()
        };
        Self { folder, sources }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    pub fn plugin(self, text: &str) -> Self {
        self.write("plugin/hooks.toml", text);
        self
    }

    pub fn user(self, text: impl AsRef<[u8]>) -> Self {
        self.write("home/hooks.toml", text);
        self
    }

    pub fn project(self, text: &str) -> Self {
        self.write("project/.claude/notesoup.toml", text);
        self
    }

    /// Options of the older plugin, in one of the client's sources.
    pub fn older(mut self, source: &str, name: &str, options: Value) -> Self {
        let configs = self
            .sources
            .settings
            .plugin_configs
            .entry(source.to_owned())
            .or_insert(json!({}));
        configs[name] = json!({ "options": options });
        self
    }

    pub fn options(mut self, options: Value) -> Self {
        self.sources.settings.options = options.as_object().unwrap().clone();
        self
    }

    pub fn object(mut self, object: Value) -> Self {
        self.sources.settings.merged.insert("notesoup".to_owned(), object);
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources.variables.insert(name.to_owned(), value.into());
        self
    }

    pub fn set_by_the_project(mut self, name: &str) -> Self {
        self.sources.settings.project_env.push(name.to_owned());
        self
    }

    pub fn command_line(mut self, text: &str) -> Self {
        self.sources.command_line = Some(self.write("extra.toml", text));
        self
    }

    pub fn load(&self) -> Loaded {
        load(&self.sources, &catalog())
    }

    /// Loads with the last good copies at hand.
    pub fn load_keeping(&self) -> Loaded {
        load_keeping(
            &self.sources,
            &catalog(),
            &LastGood::in_state_dir(Some(&self.path("state"))),
        )
    }

    /// The messages, with the folder's name taken out.
    pub fn messages(&self, loaded: &Loaded) -> Vec<String> {
        loaded.problems.iter().map(|problem| self.message(problem)).collect()
    }

    pub fn message(&self, problem: &Problem) -> String {
        let folder = format!("{}/", self.folder.path().display());
        problem.to_string().replace(&folder, "")
    }
}

/// Loads, and wants nothing to be said.
pub fn load_well(bench: &Bench) -> Loaded {
    let loaded = bench.load();
    assert_eq!(bench.messages(&loaded), Vec::<String>::new());
    loaded
}
