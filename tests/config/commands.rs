//! `notesoup config` and `notesoup schema` as a person and a CI see them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A home and a project in a folder that only its owner can enter.
struct Desk {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::create_dir_all(folder.path().join("project/.claude")).unwrap();
        fs::create_dir_all(folder.path().join("home/.claude")).unwrap();
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn user(&self, text: &str) -> PathBuf {
        self.write("home/.config/notesoup/hooks.toml", text)
    }

    fn project(&self, text: &str) -> PathBuf {
        self.write("project/.claude/notesoup.toml", text)
    }

    fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_notesoup"))
            .args(arguments)
            .current_dir(self.path("project"))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| self.plain(&String::from_utf8(bytes).unwrap());
        Ended {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The text without the folder's name.
    fn plain(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "[DESK]")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments).out).unwrap()
    }
}

const BROKEN: &str = "\
profile = \"bothh\"

[window]
reset_margin_tokens = \"8192\"
warning_runway = 1

[hooks.prune]
when = { instructions = 'prune(' }

[hooks.handof]
enabled = false

[texts.reset_head]
pool = [\"\"\"
Window {window}
begins\"\"\"]
";

#[test]
fn a_check_shows_every_mistake_with_its_line() {
    let desk = Desk::new();
    desk.user(BROKEN);
    desk.project("[window]\nreset_margin_tokens = 0\n\n[notes]\nhome = \"/srv\"\n");
    let ended = desk.run(&["config", "check"]);
    assert_eq!(ended.code, 1, "{}", ended.err);
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_check_of_files_for_scripts_code_scanning_and_github() {
    let desk = Desk::new();
    desk.write("project/mine.toml", "[window]\nreset_margin_tokens = -1\n");
    let project = "[prune]\nkeep_head_chars = 1\n[texts.handoff]\npool = ['100% \"mine\"']\n";
    desk.write("project/notesoup.toml", project);
    let files = ["mine.toml", "notesoup.toml"];
    let check = |format: &[&str]| {
        let arguments = [&["config", "check"][..], format, &files].concat();
        let ended = desk.run(&arguments);
        assert_eq!(ended.code, 1, "{}", ended.err);
        ended.out
    };
    insta::assert_snapshot!("github", check(&["--github"]));
    insta::assert_snapshot!("json", check(&["--json"]));
    insta::assert_snapshot!(
        "sarif",
        check(&["--sarif"]).replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
    );
}

#[test]
fn a_check_that_finds_nothing_and_one_of_a_file_that_is_not_there() {
    let desk = Desk::new();
    let ended = desk.run(&["config", "check"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (0, "ok: no file, options and variables\n")
    );
    let ended = desk.run(&["config", "check", "nowhere.toml"]);
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("there is no such file"), "{}", ended.out);
    assert_eq!(desk.run(&["config", "check", "--json", "--sarif"]).code, 2);
}

#[test]
fn what_would_be_wrong_under_another_profile_is_a_warning() {
    let desk = Desk::new();
    let file = desk.user("[profiles.notesoup.hooks.mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 40\n");
    let file = file.to_str().unwrap();
    let ended = desk.run(&["config", "check", file]);
    assert_eq!(ended.code, 0, "{}", ended.out);
    assert!(ended.out.contains("under the profile `notesoup`"), "{}", ended.out);
    assert_eq!(desk.run(&["config", "check", "--deny-warnings", file]).code, 1);
}

#[test]
fn a_file_that_others_may_change_is_said() {
    let desk = Desk::new();
    let file = desk.user("[window]\nreset_margin_tokens = 9\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let ended = desk.run(&["config", "check"]);
    assert_eq!(ended.code, 0);
    insta::assert_snapshot!(ended.out);
}

#[test]
fn shown_values_name_their_layer() {
    let desk = Desk::new().set("NOTESOUP_CONFIG__PRUNE__KEEP_HEAD_CHARS", "77");
    desk.user(
        "[window]\nreset_margin_tokens = 9\n[hooks.mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 35\n",
    );
    desk.project("[prune]\npreserve_recent_messages = 12\n");
    desk.write(
        "home/.claude/settings.json",
        r#"{ "notesoup": { "warningRunwayTokens": 11 },
             "pluginConfigs": { "compact-shaper@x": { "options": { "preserveRecentMessages": 3 } } } }"#,
    );
    let ended = desk.run(&["config", "show"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let line = |start: &str| {
        let found = ended.out.lines().find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in {}", ended.out))
            .to_owned()
    };
    assert_eq!(
        line("window.reset_margin_tokens"),
        "window.reset_margin_tokens\t9\tuser's hooks.toml ([DESK]/home/.config/notesoup/hooks.toml:2:23)"
            .replace("[DESK]/home", "~")
    );
    assert_eq!(
        line("window.warning_runway_tokens"),
        "window.warning_runway_tokens\t11\tnotesoup object of the settings (settings, notesoup: warningRunwayTokens)"
    );
    assert_eq!(
        line("prune.keep_head_chars"),
        "prune.keep_head_chars\t77\tenvironment variable (variable NOTESOUP_CONFIG__PRUNE__KEEP_HEAD_CHARS)"
    );
    // The older plugin's options stand over the project's file.
    assert!(line("prune.preserve_recent_messages").contains("\t3\toptions of compact-shaper ("));
    assert!(line("session.compact\t35\tmine\thandoff\ton").ends_with("user's hooks.toml"));
    assert!(
        ended
            .err
            .contains("Claude's settings are as in ~/.claude/settings.json"),
        "{}",
        ended.err
    );

    let told = desk.json(&["config", "show", "window", "--json"]);
    assert_eq!(told["window.reset_margin_tokens"]["value"], 9);
    assert_eq!(told["window.reset_margin_tokens"]["layer"], "user_file");
    assert_eq!(told["window.reset_margin_tokens"]["place"]["line"], 2);

    // What is shown as TOML is a file of its own that says the same.
    for section in ["window", "prune", "texts", "profile"] {
        let text = desk.run(&["config", "show", section, "--toml"]).out;
        let path = desk.write("project/whole.toml", &text);
        let ended = desk.run(&["config", "check", path.to_str().unwrap()]);
        assert_eq!(ended.code, 0, "{}", ended.out);
    }

    let ended = desk.run(&["config", "show", "windows"]);
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (1, "error: there is no section `windows`; did you mean `window`?\n")
    );
}

#[test]
fn a_keys_story() {
    let desk = Desk::new().set("NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS", "7");
    desk.user("profile = 'notesoup'\n[window]\nreset_margin_tokens = 9\n[hooks.prune]\nenabled = false\n");
    desk.project("[window]\nreset_margin_tokens = 'x'\n");
    let story = |key: &str| {
        let ended = desk.run(&["config", "explain", key]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        ended.out
    };
    insta::assert_snapshot!("story_of_a_number", story("window.reset_margin_tokens"));
    insta::assert_snapshot!("story_of_a_row", story("hooks.prune"));
    insta::assert_snapshot!("story_of_a_text", story("texts.reset_head"));
    insta::assert_snapshot!("story_of_a_section", story("notes"));

    let told = desk.json(&["config", "explain", "--json", "window.reset_margin_tokens"]);
    let standings: Vec<_> = told["said"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| &said["standing"])
        .collect();
    assert_eq!(
        json!(standings),
        json!(["overridden", "overridden", "refused", "holds"])
    );

    let ended = desk.run(&["config", "explain", "reset_margin_tokens"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.err,
        "error: there is no key `reset_margin_tokens`; did you mean `window.reset_margin_tokens`?\n"
    );
    let ended = desk.run(&["config", "explain", "window.reset_margin"]);
    assert!(
        ended.err.ends_with("did you mean `window.reset_margin_tokens`?\n"),
        "{}",
        ended.err
    );
}

#[test]
fn the_rows_that_match_an_event_and_the_one_that_answers() {
    let desk = Desk::new();
    let answers = |arguments: &[&str]| {
        let ended = desk.run(&[&["config", "explain", "--event"], arguments].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        ended.out
    };
    insta::assert_snapshot!(
        "event_prune",
        answers(&["session.compact", "--trigger", "manual", "--instructions", "prune"])
    );
    insta::assert_snapshot!("event_compact", answers(&["session.compact", "--trigger", "manual"]));
    insta::assert_snapshot!(
        "event_none",
        answers(&["session.compact", "--trigger", "auto", "--agent", "sub"])
    );
    desk.user("profile = 'notesoup'\n");
    insta::assert_snapshot!(
        "event_veto",
        answers(&["session.compact", "--trigger", "manual", "--instructions", "prune 120k"])
    );
    let ended = desk.run(&["config", "explain", "--event", "session.compct"]);
    assert_eq!(
        ended.err,
        "error: there is no event `session.compct`; did you mean `session.compact`?\n"
    );
    assert_eq!(desk.run(&["config", "explain"]).code, 2);
}

#[test]
fn an_event_is_tried_without_starting_the_persons_programs() {
    let desk = Desk::new();
    let mark = desk.path("ran");
    desk.user(&format!(
        "[hooks.policy]\nevent = 'session.compact'\nrun = 'exec'\norder = 1\noptions = {{ argv = ['touch', '{}'] }}\n",
        mark.display()
    ));
    let ended = desk.run(&["config", "explain", "--event", "session.compact", "--trigger", "manual"]);
    assert!(
        ended.out.contains("it starts a program, which is not done here"),
        "{}",
        ended.out
    );
    assert!(!mark.exists());
}

#[test]
fn the_reset_point_of_given_facts() {
    let desk = Desk::new().set("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50");
    desk.user("[window]\nreset_margin_tokens = 1000\n");
    let ended = desk.run(&[
        "config",
        "explain",
        "window.reset_point",
        "--window",
        "1000000",
        "--threshold",
        "967000",
        "--tokens",
        "480000",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    insta::assert_snapshot!(ended.out);
    let told = desk.json(&[
        "config",
        "explain",
        "window.reset_point",
        "--window",
        "1000000",
        "--json",
    ]);
    assert_eq!(told["marks"]["reset_at"], 489_000.0);
}

#[test]
fn a_starting_file_is_written_once_and_kept_to_oneself() {
    let desk = Desk::new();
    let ended = desk.run(&["config", "init"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (
            0,
            "~/.config/notesoup/hooks.toml is written; `notesoup config edit` opens it.\n"
        )
    );
    let file = desk.path("home/.config/notesoup/hooks.toml");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("#:schema ./hooks.schema.json\n"));
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(file.with_file_name("hooks.schema.json")).unwrap()).unwrap();
    assert!(schema["$schema"].as_str().unwrap().contains("draft-07"));
    assert_eq!(desk.run(&["config", "check"]).code, 0);

    let ended = desk.run(&["config", "init"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.err,
        "error: ~/.config/notesoup/hooks.toml is there already; `notesoup config edit` opens it\n"
    );
    assert_eq!(desk.run(&["config", "init", "--project"]).code, 0);
    assert_eq!(desk.run(&["config", "check"]).code, 0);
    assert!(
        fs::read_to_string(desk.path("project/.claude/notesoup.toml"))
            .unwrap()
            .contains("# reset_margin_tokens = 8192\n")
    );
}

#[test]
fn an_edited_file_is_checked_after_saving() {
    let good = Desk::new();
    let script = good.write(
        "editor.sh",
        "#!/bin/sh\nprintf '[window]\\nreset_margin_tokens = 5\\n' > \"$2\"\n",
    );
    let good = good.set("EDITOR", format!("sh '{}' --wait", script.display()));
    let ended = good.run(&["config", "edit"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(
        ended.out.contains("is good; it takes effect at the next event"),
        "{}",
        ended.out
    );
    assert_eq!(
        good.json(&["config", "show", "--json"])["window.reset_margin_tokens"]["value"],
        5
    );

    // Without a terminal nobody can be asked, so the file is kept.
    let bad = Desk::new();
    let script = bad.write("editor.sh", "#!/bin/sh\nprintf '[window]\\nunheard = 5\\n' > \"$1\"\n");
    let bad = bad
        .set("VISUAL", format!("sh {}", script.display()))
        .set("EDITOR", "false");
    let ended = bad.run(&["config", "edit", "--project"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.out.contains("window.unheard: there is no key `unheard` here"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("is kept"), "{}", ended.out);

    let none = Desk::new().set("EDITOR", "/nowhere/editor");
    let ended = none.run(&["config", "edit"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("cannot be started") && ended.err.contains("set EDITOR"),
        "{}",
        ended.err
    );
}

#[test]
fn schemas_are_listed_printed_and_written() {
    let desk = Desk::new();
    let ended = desk.run(&["schema"]);
    assert!(ended.out.starts_with("hooks "), "{}", ended.out);
    let schema: Value = serde_json::from_str(&desk.run(&["schema", "reply"]).out).unwrap();
    assert_eq!(schema["title"], "Reply");
    let ended = desk.run(&["schema", "reploy"]);
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (1, "error: there is no schema `reploy`; did you mean `reply`?\n")
    );

    desk.write("project/schemas/old.schema.json", "{}");
    let ended = desk.run(&["schema", "--write"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("schemas/old.schema.json"));
    assert!(!desk.path("project/schemas/old.schema.json").exists());
    assert!(desk.path("project/schemas/hooks.schema.json").exists());
    assert_eq!(desk.run(&["schema", "--write"]).out, "schemas is up to date.\n");
}
