//! The wire, through the program: what a bad request is answered, and that nothing of it is a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Runs `notesoup hook` (or `plan`) on these bytes, away from any config: its exit code, and its one line.
fn run(command: &str, request: &[u8]) -> (i32, Value) {
    run_in(tempfile::tempdir().unwrap().path(), command, request)
}

/// The same in a home of the test's own.
fn run_in(home: &Path, command: &str, request: &[u8]) -> (i32, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .arg(command)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses a request early closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(request);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "one line: {text}");
    (output.status.code().unwrap(), serde_json::from_str(&text).unwrap())
}

fn hook(request: &Value) -> (i32, Value) {
    run("hook", request.to_string().as_bytes())
}

#[test]
fn a_bad_request_is_answered_by_one_line_and_a_code_of_its_kind() {
    let good = json!({ "v": 1, "event": "session.measure", "e": {}, "facts": {} }).to_string();
    let cases: &[(&str, Vec<u8>, i32, &str, &str)] = &[
        ("empty", Vec::new(), 65, "bad_request", "ends before"),
        (
            "cut off",
            good.as_bytes()[..good.len() - 2].to_vec(),
            65,
            "bad_request",
            "ends before",
        ),
        ("no JSON", b"hello".to_vec(), 65, "bad_request", "no request"),
        ("no object", b"[1,2]".to_vec(), 65, "bad_request", "no request"),
        (
            "not UTF-8",
            b"{\"v\":1,\"event\":\"\xff\"}".to_vec(),
            65,
            "bad_request",
            "no request",
        ),
        (
            "two requests",
            format!("{good}{good}").into_bytes(),
            65,
            "bad_request",
            "no request",
        ),
        (
            "no version",
            br#"{"event":"session.measure"}"#.to_vec(),
            65,
            "bad_request",
            "`v`",
        ),
        (
            "newer version",
            br#"{"v":2,"event":"session.measure"}"#.to_vec(),
            76,
            "unsupported_version",
            "update the program",
        ),
        (
            "older version",
            br#"{"v":0,"event":"session.measure"}"#.to_vec(),
            76,
            "unsupported_version",
            "update the plugin",
        ),
        (
            "negative version",
            br#"{"v":-1,"event":"x"}"#.to_vec(),
            65,
            "bad_request",
            "no request",
        ),
        (
            "unknown event",
            br#"{"v":1,"event":"session.mesure"}"#.to_vec(),
            64,
            "unknown_event",
            "`session.measure`",
        ),
        (
            "facts of another shape",
            br#"{"v":1,"event":"session.measure","facts":7}"#.to_vec(),
            65,
            "bad_request",
            "no request",
        ),
    ];
    for (name, request, code, kind, words) in cases {
        let (exit, line) = run("hook", request);
        assert_eq!(exit, *code, "{name}: {line}");
        assert_eq!(line["error"]["kind"], *kind, "{name}: {line}");
        assert!(
            line["error"]["message"].as_str().unwrap().contains(words),
            "{name}: {line}"
        );
    }
}

#[test]
fn a_request_over_the_limit_is_refused_by_its_size() {
    // Never more in memory than it takes to see that it is too large.
    let mut request = br#"{"v":1,"event":"session.measure","e":""#.to_vec();
    request.resize(notesoup::wire::MAX_REQUEST_BYTES as usize + 16, b'x');
    let (exit, line) = run("hook", &request);
    assert_eq!((exit, &line["error"]["kind"]), (69, &json!("too_large")), "{line}");
}

#[test]
fn every_event_is_answered_whatever_it_holds() {
    let shapes = [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!({}),
        json!({ "trigger": 7, "messages": "none", "source": [], "tool": {}, "reason": null, "args": 1 }),
    ];
    for event in notesoup::wire::Event::ALL {
        for e in &shapes {
            let request = json!({ "v": 1, "event": event.name(), "e": e, "facts": { "session_id": "s" }, "state": e });
            let (exit, line) = hook(&request);
            assert_eq!(exit, 0, "{} with {e}: {line}", event.name());
            assert_eq!(line["v"], 1);
        }
    }
}

#[test]
fn a_plan_stands_until_something_it_was_made_from_changes() {
    let home = tempfile::tempdir().unwrap();
    let plan = |model: &str, fingerprint: &Value| {
        let facts = json!({ "session_id": "s", "model": model, "usage": { "window": 200_000 } });
        let request = json!({ "v": 1, "event": "plan", "e": { "fingerprint": fingerprint }, "facts": facts });
        run_in(home.path(), "plan", request.to_string().as_bytes()).1
    };
    let first = plan("m", &json!(null));
    assert!(
        first["events"]["session.compact"]["wake"]
            .as_array()
            .unwrap()
            .contains(&json!("always")),
        "{first}"
    );
    assert_eq!(
        plan("m", &first["fingerprint"]),
        json!({ "v": 1, "fingerprint": first["fingerprint"], "unchanged": true,
        "events": {}, "commands": [], "tools": [], "notices": [],
        "watch": { "warn_at": null, "reset_at": null, "percent": false, "pending": false } })
    );

    let other_model = plan("n", &first["fingerprint"]);
    assert_ne!(other_model["fingerprint"], first["fingerprint"]);
    let folder = home.path().join(".config/notesoup");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("hooks.toml"), "[window]\nreset_margin_tokens = 1000\n").unwrap();
    let changed = plan("m", &first["fingerprint"]);
    assert_ne!(changed["fingerprint"], first["fingerprint"]);
    assert_ne!(changed["watch"]["reset_at"], first["watch"]["reset_at"]);
}

#[test]
fn half_an_emoji_in_what_the_client_says_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let ask = |e: &str, event: &str| {
        let facts = json!({ "session_id": "s", "cwd": home.path(), "model": "m" });
        let request = format!("{{\"v\":1,\"event\":\"{event}\",\"facts\":{facts},\"e\":{e}}}");
        run_in(home.path(), "hook", request.as_bytes()).1
    };
    let write =
        r#"{"tool":"mcp__notesoup__notes_write","address":"a.md","content":"cut \ud83d and whole \ud83d\ude00\n"}"#;
    assert_eq!(ask(write, "tool.call")["answer"]["is_error"], false);
    let read = ask(r#"{"tool":"mcp__notesoup__notes_read","address":"a.md"}"#, "tool.call");
    let text = read["answer"]["text"].as_str().unwrap();
    assert!(text.contains("cut \u{fffd} and whole \u{1f600}"), "{text}");
    let compact = ask(
        r#"{"trigger":"manual","instructions":"keep \udc00 it","messages":[]}"#,
        "session.compact",
    );
    let instructions = compact["answer"]["instructions"].as_str();
    assert!(
        instructions.is_some_and(|text| text.contains("keep \u{fffd} it")),
        "{compact}"
    );
}

/// A log is kept where one is asked for, and is the person's own.
#[test]
fn a_log_is_written_where_it_is_asked_for_and_for_nobody_else_to_read() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join(".local/state/notesoup/log/notesoup.jsonl");
    let request = json!({ "v": 1, "event": "session.measure", "e": {}, "facts": { "session_id": "s" } }).to_string();
    run_in(home.path(), "hook", request.as_bytes());
    assert!(!log.exists());
    let mut child = Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .arg("hook")
        .env_clear()
        .env("HOME", home.path())
        .env("NOTESOUP_LOG", "debug")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let first = std::fs::read_to_string(&log).unwrap();
    let line: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(line["level"], "DEBUG");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}
