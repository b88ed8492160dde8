//! A temporary home to install into, with the real client or with a stand-in for it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_notesoup"))
}

/// A home, a project folder, and the client that is used there.
pub struct Bench {
    root: TempDir,
    client: Option<PathBuf>,
    variables: BTreeMap<String, String>,
}

/// What a run printed.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The run went well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The run failed with code 1, and said this on standard error.
    #[track_caller]
    pub fn fails_with(self, words: &str) -> Self {
        assert_eq!(self.code, Some(1), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        assert!(
            self.stderr.contains(words),
            "not said: {words}\nstderr:\n{}",
            self.stderr
        );
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|err| panic!("{err}: {}", self.stdout))
    }
}

impl Bench {
    /// With this client; with none when `None`.
    pub fn new(client: Option<&Path>) -> Self {
        let root = tempfile::Builder::new()
            .prefix("notesoup-package-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap();
        for folder in ["home", "project"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self {
            root,
            client: client.map(Path::to_path_buf),
            variables: BTreeMap::new(),
        }
    }

    /// With a stand-in for the client: a shell script whose `case` branches are `branches`, for what it is asked beside
    /// the lists. Each call is a line in `calls`.
    pub fn with_stand_in(version: &str, branches: &str) -> Self {
        let mut bench = Self::new(None);
        let script = format!(
            "#!/bin/sh\necho \"$*\" >> '{calls}'\ncase \"$*\" in\n--version) echo '{version} (Claude Code)';;\n{branches}\n\
             'plugin list --json'|'plugin marketplace list --json') echo '[]';;\nesac\n",
            calls = bench.root().join("calls").display()
        );
        let path = bench.root().join("claude");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        bench.client = Some(path);
        bench
    }

    /// What the stand-in was called with.
    pub fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root().join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The folder of the installed files.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/notesoup")
    }

    pub fn set(&mut self, variable: &str, value: impl Into<String>) {
        self.variables.insert(variable.to_owned(), value.into());
    }

    /// The program with these arguments, in the project folder, with nothing of this process's environment but the PATH.
    pub fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .envs(&self.variables);
        if let Some(client) = &self.client {
            command.env("NOTESOUP_CLAUDE", client);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(&program(), args).output().unwrap())
    }

    /// The client's own command.
    pub fn client(&self, args: &[&str]) -> Said {
        let client = self.client.clone().expect("this bench has no client");
        Said::of(self.command(&client, args).output().unwrap())
    }

    /// Our entries in the client's list of plugins.
    pub fn installed(&self) -> Vec<Value> {
        let list = self.client(&["plugin", "list", "--json"]).ok().json();
        let ours = |entry: &&Value| entry["id"] == "notesoup@notesoup";
        list.as_array().unwrap().iter().filter(ours).cloned().collect()
    }

    /// The names of the client's marketplaces.
    pub fn marketplaces(&self) -> Vec<Value> {
        let list = self.client(&["plugin", "marketplace", "list", "--json"]).ok().json();
        list.as_array().unwrap().clone()
    }
}

/// Every file, link and folder below `root` by its relative path: when it was changed, and what it holds.
pub fn tree(root: &Path) -> BTreeMap<String, (Option<SystemTime>, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.insert(name, (meta.modified().ok(), bytes));
        }
    }
    found
}
