//! A laboratory: a temporary home and project, a stand-in model, and the real client in between.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::PATIENCE;
use super::build::{Build, Slot};
use super::logs::Logs;
use super::model::Model;
use super::reply::Reply;
use super::stream::Stream;
use super::transcript::Transcript;
use super::tty::Tty;

/// What a scenario starts from; every setting has a default that fits most scenarios.
pub struct LabBuilder {
    build: Build,
    script: Vec<Reply>,
    settings: Value,
    user_config: Vec<(String, Value)>,
    env: BTreeMap<String, String>,
    plugins: Vec<PathBuf>,
    args: Vec<String>,
    model: String,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// The real client between a temporary home and a stand-in model. Nothing leaves loopback and the temporary folder.
///
/// Dropped after a failure it prints what a person needs to understand it.
pub struct Lab {
    /// The build that runs.
    pub build: Build,
    /// The stand-in model: add replies, look at requests.
    pub model: Model,
    root: Rc<TempDir>,
    program: PathBuf,
    env: BTreeMap<String, String>,
    args: Vec<OsString>,
    runs: AtomicUsize,
    _slot: Rc<Slot>,
}

/// What a finished run of the client, or of the helper, said.
#[derive(Debug)]
pub struct Run {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
}

impl Run {
    /// Both streams, for a search.
    pub fn said(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// Fails with all that was said unless the exit code is 0.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// The plugin of this checkout.
pub fn checkout_plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}

impl LabBuilder {
    /// Replies of the model for the main conversation, in order; then `ok` for ever.
    pub fn script(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.script.extend(replies);
        self
    }

    /// The person's `settings.json`.
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    /// One option of our plugin, as the client's `/config` stores it.
    pub fn option(mut self, name: &str, value: Value) -> Self {
        self.user_config.push((name.to_owned(), value));
        self
    }

    /// The person's own `hooks.toml`.
    pub fn hooks_toml(self, text: &str) -> Self {
        self.file("config/notesoup/hooks.toml", text)
    }

    /// The project's `.claude/notesoup.toml`.
    pub fn project_toml(self, text: &str) -> Self {
        self.file("project/.claude/notesoup.toml", text)
    }

    /// A file of the project.
    pub fn project_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(Path::new("project").join(path), content)
    }

    /// A file of the notes root, for instance `projects/<home>/a-note.md`.
    pub fn note_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(Path::new("notes").join(path), content)
    }

    fn file(mut self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        self.files.push((path.as_ref().to_owned(), content.as_ref().to_owned()));
        self
    }

    /// A variable of the client's environment.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// Another helper than the one just built: a missing file, a script that misbehaves.
    pub fn helper(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_string_lossy().into_owned();
        self.env("NOTESOUP_BIN", path)
    }

    /// A shell script as the helper: what stands behind `#!/bin/sh`.
    pub fn helper_script(self, body: &str) -> Self {
        self.file("helper.sh", format!("#!/bin/sh\n{body}\n"))
            .env("NOTESOUP_BIN", "$ROOT/helper.sh")
    }

    /// The plugins to load instead of the checkout's, in order; the first is outermost. They are copied.
    pub fn plugins<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.plugins = folders.into_iter().map(Into::into).collect();
        self
    }

    /// The model the client asks for: `claude-opus-5-5` (a window of a million) by default.
    pub fn llm(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// An argument of every run of the client.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// Waits for a free slot, makes the folders and starts the model.
    #[track_caller]
    pub fn start(self) -> Lab {
        let program = self
            .build
            .program()
            .expect("a client; run scenarios through both_builds!");
        let slot = Slot::take();
        let root = TempDir::with_prefix("notesoup-lab-").expect("a temporary folder");
        let model = Model::start();
        model.script(self.script);
        let at = |name: &str| root.path().join(name);
        for folder in [
            "home/.claude",
            "project",
            "notes",
            "config",
            "state",
            "data",
            "cache",
            "tmp",
        ] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (path, content) in &self.files {
            write(&root.path().join(path), content);
        }
        if at("helper.sh").exists() {
            set_mode(&at("helper.sh"), 0o700);
        }
        let mut settings = self.settings;
        for (name, value) in self.user_config {
            settings["pluginConfigs"]["notesoup@inline"]["options"][name] = value;
        }
        write(&at("home/.claude/settings.json"), settings.to_string());
        write(
            &at("home/.claude.json"),
            first_start_answers(&at("project")).to_string(),
        );
        write(
            &at("home/.gitconfig"),
            "[user]\n\tname = Test\n\temail = test@example.invalid\n",
        );
        let path = std::env::var("PATH").unwrap_or_default();
        let git = Command::new("git").args(["init", "-q"]).arg(at("project")).status();
        assert!(git.is_ok_and(|status| status.success()), "git init failed");

        let mut args: Vec<OsString> = Vec::new();
        for (n, folder) in self.plugins.iter().enumerate() {
            let name = folder.file_name().unwrap_or_else(|| OsStr::new("plugin"));
            let copy = at("plugins").join(n.to_string()).join(name);
            copy_plugin(folder, &copy);
            args.extend(["--plugin-dir".into(), copy.into_os_string()]);
        }
        args.extend(["--model", &self.model, "--permission-mode", "default"].map(OsString::from));
        args.extend(["--allowedTools", "Bash,Read,Edit,Write,Agent,Task"].map(OsString::from));
        args.extend(self.args.into_iter().map(OsString::from));

        let mut env = environment(root.path(), &model);
        env.insert("PATH".to_owned(), path);
        env.extend(self.env);
        let root_text = root.path().to_string_lossy().into_owned();
        for value in env.values_mut() {
            *value = value.replace("$ROOT", &root_text);
        }
        Lab {
            build: self.build,
            model,
            root: Rc::new(root),
            program,
            env,
            args,
            runs: AtomicUsize::new(0),
            _slot: slot,
        }
    }
}

impl Lab {
    /// Begins to describe a laboratory for one build of the client.
    pub fn on(build: Build) -> LabBuilder {
        LabBuilder {
            build,
            script: Vec::new(),
            settings: json!({}),
            user_config: Vec::new(),
            env: BTreeMap::new(),
            plugins: vec![checkout_plugin()],
            args: Vec::new(),
            model: "claude-opus-5-5".to_owned(),
            files: Vec::new(),
        }
    }

    /// A headless run: a new conversation with one prompt.
    #[track_caller]
    pub fn headless(&self, prompt: &str) -> Run {
        self.run(&["-p", prompt])
    }

    /// A headless run that goes on with the newest conversation.
    #[track_caller]
    pub fn headless_continue(&self, prompt: &str) -> Run {
        self.run(&["--continue", "-p", prompt])
    }

    /// A run with the usual arguments and these.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Run {
        let (command, _) = self.command(args);
        finish(command, "", PATIENCE * 2)
    }

    /// The client with these arguments alone, for `plugin validate` and the like.
    #[track_caller]
    pub fn claude(&self, args: &[&str]) -> Run {
        let mut command = self.bare(&self.program);
        command.args(args);
        finish(command, "", PATIENCE * 2)
    }

    /// The helper, in the same environment.
    #[track_caller]
    pub fn helper(&self, args: &[&str], stdin: &str) -> Run {
        let mut command = self.bare(Path::new(env!("CARGO_BIN_EXE_notesoup")));
        command.args(args);
        // Some of its commands run the client several times.
        finish(command, stdin, PATIENCE * 4)
    }

    /// A session that takes prompts as rows of JSON on its standard input, as an SDK would.
    #[track_caller]
    pub fn stream(&self, args: &[&str]) -> Stream {
        let mut all = vec![
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        ];
        all.extend(args);
        let (command, _) = self.command(&all);
        Stream::start(command)
    }

    /// An interactive session in a pseudo-terminal, ready for the first prompt.
    #[track_caller]
    pub fn interactive(&self) -> Tty {
        self.interactive_with(&[])
    }

    /// An interactive session that goes on with the newest conversation.
    #[track_caller]
    pub fn interactive_continue(&self) -> Tty {
        self.interactive_with(&["--continue"])
    }

    /// An interactive session with more arguments.
    #[track_caller]
    pub fn interactive_with(&self, args: &[&str]) -> Tty {
        let debug = self.next_debug_file();
        let args: Vec<OsString> = self.arguments(&debug, args);
        Tty::start(
            &self.program,
            &args,
            &self.env,
            &self.project(),
            debug,
            self.model.clone(),
            self.logs(),
        )
    }

    /// The newest conversation's transcript.
    #[track_caller]
    pub fn transcript(&self) -> Transcript {
        let mut found: Vec<_> = self.transcripts();
        found.sort_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok());
        Transcript::read(&found.pop().expect("no conversation was written yet"))
    }

    /// Every conversation of the project, subagents' own files not among them.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let projects = self.home().join(".claude/projects");
        let folders = fs::read_dir(projects)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        folders
            .flat_map(|folder| {
                fs::read_dir(folder)
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path())
            })
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect()
    }

    /// What the client and the helper logged.
    pub fn logs(&self) -> Logs {
        Logs {
            root: Rc::clone(&self.root),
        }
    }

    /// The temporary folder that holds all the others.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The project, a git repository without a commit, and the working directory of the client.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// `NOTESOUP_HOME`.
    pub fn notes(&self) -> PathBuf {
        self.root.path().join("notes")
    }

    /// `$XDG_STATE_HOME/notesoup`.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state/notesoup")
    }

    /// The copy of the nth plugin that the client loaded; its written declarations are in there.
    #[track_caller]
    pub fn plugin(&self, n: usize) -> PathBuf {
        let folder = self.root.path().join("plugins").join(n.to_string());
        fs::read_dir(folder)
            .ok()
            .and_then(|mut entries| entries.next())
            .expect("that plugin")
            .unwrap()
            .path()
    }

    /// Writes the person's `settings.json` anew, while the client runs or between two runs.
    pub fn set_settings(&self, settings: &Value) {
        write(&self.home().join(".claude/settings.json"), settings.to_string());
    }

    /// Writes the person's `hooks.toml` anew.
    pub fn set_hooks_toml(&self, text: &str) {
        write(&self.root.path().join("config/notesoup/hooks.toml"), text);
    }

    /// Sets a variable for the runs to come.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    fn command(&self, args: &[&str]) -> (Command, PathBuf) {
        let debug = self.next_debug_file();
        let mut command = self.bare(&self.program);
        command.args(self.arguments(&debug, args));
        (command, debug)
    }

    fn bare(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.env).current_dir(self.project());
        command
    }

    fn arguments(&self, debug: &Path, more: &[&str]) -> Vec<OsString> {
        let mut args = self.args.clone();
        args.extend(["--debug-file".into(), debug.as_os_str().to_owned()]);
        args.extend(more.iter().map(OsString::from));
        args
    }

    fn next_debug_file(&self) -> PathBuf {
        let n = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        self.root.path().join(format!("debug-{n}.log"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "\n===== Claude Code {} =====\n{}\n{}",
                self.build,
                self.model.outline(),
                self.logs().tail()
            );
        }
    }
}

/// The environment of the client and the helper, made from nothing.
fn environment(root: &Path, model: &Model) -> BTreeMap<String, String> {
    let at = |name: &str| root.join(name).to_string_lossy().into_owned();
    let helper = env!("CARGO_BIN_EXE_notesoup").to_owned();
    [
        ("HOME", at("home")),
        ("XDG_CONFIG_HOME", at("config")),
        ("XDG_STATE_HOME", at("state")),
        ("XDG_DATA_HOME", at("data")),
        ("XDG_CACHE_HOME", at("cache")),
        ("TMPDIR", at("tmp")),
        ("TERM", "xterm-256color".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        // Without these two an interactive start tries to clone a plugin marketplace.
        ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1".to_owned()),
        ("GIT_ALLOW_PROTOCOL", "file".to_owned()),
        ("ANTHROPIC_BASE_URL", model.url()),
        ("ANTHROPIC_API_KEY", "sk-ant-fake-000".to_owned()),
        ("NOTESOUP_BIN", helper),
        ("NOTESOUP_HOME", at("notes")),
        ("NOTESOUP_LOG", "debug".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The answers to the questions of a first interactive start.
fn first_start_answers(project: &Path) -> Value {
    let project = project.to_string_lossy();
    json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["ant-fake-000", "sk-ant-fake-000"], "rejected": []},
        "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
    })
}

/// Writes a file that is its owner's alone, as config and notes should be.
fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    set_mode(path, 0o600);
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Copies a plugin without what the client or a build put there.
fn copy_plugin(from: &Path, to: &Path) {
    assert!(
        from.join(".claude-plugin").is_dir(),
        "{} holds no plugin",
        from.display()
    );
    copy_folder(from, to);
    for made in ["bin", ".claude-plugin/types"] {
        // Not there is as good as removed.
        let _ = fs::remove_dir_all(to.join(made));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs a command to its end, or ends it when it takes too long.
#[track_caller]
fn finish(mut command: Command, stdin: &str, patience: Duration) -> Run {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let mut to = child.stdin.take().unwrap();
    let text = stdin.to_owned();
    // A program that does not read its input closes it: no fault of the run.
    let feeding = thread::spawn(move || drop(to.write_all(text.as_bytes())));
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let end = Instant::now() + patience;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::sleep(Duration::from_millis(10));
    };
    feeding.join().unwrap();
    let run = Run {
        stdout: out.join().unwrap(),
        stderr: err.join().unwrap(),
        code: status.and_then(|status| status.code()),
    };
    assert!(
        status.is_some(),
        "not done within {patience:?}: {command:?}\n{}",
        run.said()
    );
    run
}

pub(super) fn collect(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a broken pipe is still what was said.
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
