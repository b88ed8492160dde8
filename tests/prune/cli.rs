//! `notesoup prune` as a person runs it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::talk::{Talk, long};

fn notesoup(arguments: &[&str], home: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn talk() -> Talk {
    let mut talk = Talk::new();
    talk.prompt("go").step(
        "toolu_1",
        "Bash",
        json!({ "command": "make <all> & \"more\"" }),
        &long(40_000),
    );
    talk.step("toolu_2", "Read", json!({ "file_path": "/project/a.rs" }), &long(8_000))
        .ending();
    talk
}

#[test]
fn it_prints_the_report_and_writes_nothing() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let before = std::fs::read(file.path()).unwrap();
    let out = notesoup(&["prune", "--preview", file.path().to_str().unwrap()], home.path());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let printed = text(&out.stdout);
    assert!(
        printed.starts_with("/compact prune would cut 2 outputs: 13.7k tokens"),
        "{printed}"
    );
    assert!(
        printed.contains("-11.3k Bash make <all> & \"more\" [seq 3]"),
        "{printed}"
    );
    assert!(printed.contains("--head UUID names another"), "{printed}");
    assert!(!printed.contains('\u{1b}'));
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_head_ends_the_conversation_earlier() {
    let (home, talk) = (tempfile::tempdir().unwrap(), talk());
    let file = talk.transcript();
    let head = talk.rows[2]["uuid"].as_str().unwrap();
    let out = notesoup(
        &[
            "prune",
            "--preview",
            file.path().to_str().unwrap(),
            "--head",
            head,
            "--json",
        ],
        home.path(),
    );
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["messages"], 3);
    assert_eq!(report["remarks"], Value::Null);
    let out = notesoup(
        &["prune", "--preview", file.path().to_str().unwrap(), "--head", "nowhere"],
        home.path(),
    );
    assert!(!out.status.success());
    assert!(
        text(&out.stderr).contains("not in the transcript"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn json_is_the_report_and_the_target_is_heard() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let out = notesoup(
        &[
            "prune",
            "--preview",
            file.path().to_str().unwrap(),
            "--to",
            "5k",
            "--json",
        ],
        home.path(),
    );
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["target"]["tokens"], 5_000);
    assert_eq!(report["target"]["met"], true);
    assert_eq!((&report["cuts"], &report["kept"]["not_needed"]), (&json!(1), &json!(1)));
    assert_eq!(report["verdict"], "cut");
}

#[test]
fn the_persons_settings_count() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let config = home.path().join(".config/notesoup");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("hooks.toml"), "[prune]\nprotected_tools = [\"Bash\"]\n").unwrap();
    let out = notesoup(
        &["prune", "--preview", file.path().to_str().unwrap(), "--json"],
        home.path(),
    );
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["protected"][0]["why"], "tool");
    assert_eq!(report["largest"][0]["tool"], "Read");
}

#[test]
fn a_page_needs_nothing_else_and_shows_no_markup_of_the_conversation() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let page = home.path().join("page.html");
    let option = format!("--html={}", page.display());
    let out = notesoup(
        &["prune", "--preview", file.path().to_str().unwrap(), &option],
        home.path(),
    );
    assert_eq!(text(&out.stdout).trim_end(), page.to_str().unwrap());
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.contains("make &lt;all&gt; &amp; &quot;more&quot;"));
    for outside in ["http:", "https:", "<script", "<link", "<img", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    let out = notesoup(
        &["prune", "--preview", file.path().to_str().unwrap(), "--html"],
        home.path(),
    );
    assert_eq!(text(&out.stdout), html);
}

#[test]
fn what_cannot_be_read_is_said() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty.jsonl");
    std::fs::write(&empty, "{\"type\":\"mode\"}\nno json at all\n").unwrap();
    for (file, said) in [
        ("nowhere.jsonl", "cannot read the transcript nowhere.jsonl"),
        ("empty.jsonl", "no conversation"),
    ] {
        let out = notesoup(&["prune", "--preview", file], home.path());
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stderr).contains(said), "{}", text(&out.stderr));
    }
    let out = notesoup(&["prune", "--preview", "x", "--to", "many"], home.path());
    assert!(text(&out.stderr).contains("such as 120k"), "{}", text(&out.stderr));
}

/// One event through `notesoup hook`, as the courier sends it.
fn hook(event: &str, input: &Value, transcript: &Path, home: &Path) -> Value {
    use std::io::Write as _;
    let request = json!({
        "v": 1, "event": event, "e": input,
        "facts": { "session_id": "s", "cwd": home, "transcript_path": transcript },
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .arg("hook")
        .env_clear()
        .env("HOME", home)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{request}").unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn the_command_takes_a_size() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let lines = |args: &str| {
        let input = json!({ "command": "prune-preview", "args": args });
        let reply = hook("command.run", &input, file.path(), home.path());
        let lines = reply["answer"]["lines"].as_array().unwrap().clone();
        let lines: Vec<String> = lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect();
        // The client breaks lines by itself; one that goes on in the next would be broken twice.
        assert!(!lines.iter().any(|line| line.starts_with("    ")), "{lines:#?}");
        lines.join(" ")
    };
    assert!(
        lines("").starts_with("/compact prune would cut 2 outputs"),
        "{}",
        lines("")
    );
    let budget = lines(" 5K ");
    assert!(budget.starts_with("/compact prune 5k would cut 1 output:"), "{budget}");
    assert!(budget.contains("The target of 5.0k tokens is met."), "{budget}");
    assert!(budget.contains("1 not needed for the target"), "{budget}");
    assert!(lines("1000").starts_with("/compact prune 1k would cut 2 outputs:"));
    for wrong in ["12", "now please", "-5k"] {
        let said = lines(wrong);
        assert!(
            said.contains(&format!("`{wrong}` is no size")) && said.contains("/prune-preview 120k"),
            "{said}"
        );
    }
}

#[test]
fn the_preview_behind_compact_takes_a_size_too() {
    let (home, file) = (tempfile::tempdir().unwrap(), talk().transcript());
    let input = json!({ "trigger": "manual", "instructions": "prune preview 5k", "messages": [] });
    let reply = hook("session.compact", &input, file.path(), home.path());
    assert_eq!(reply["answer"]["kind"], "skip");
    let first = reply["effects"][0]["text"].as_str().unwrap();
    assert!(first.starts_with("/compact prune 5k would cut 1 output:"), "{first}");
}
