//! `notesoup history` and `notesoup tool` for a person, in a pipe and on a terminal.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{boundary, call, lines, result, said, user};

/// A home with conversations of a project, as the client keeps them.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir_all(root.path().join("my_proj/src")).unwrap();
        Self { root }
    }

    fn project(&self) -> PathBuf {
        fs::canonicalize(self.root.path().join("my_proj")).unwrap()
    }

    /// Puts a conversation of the project there, written to so many seconds ago.
    fn put(&self, session: &str, text: &str, age: u64) -> PathBuf {
        let key = self
            .project()
            .to_string_lossy()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self.root.path().join(".claude/projects").join(key);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{session}.jsonl"));
        fs::write(&path, text).unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_notesoup"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.root.path())
            .env("TZ", "UTC");
        command.current_dir(self.project().join("src"));
        command
    }

    fn run(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that needs no input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    #[track_caller]
    fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args, "");
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The answer to a command that succeeds (or not), as data.
    #[track_caller]
    fn json(&self, args: &[&str], input: &str, code: i32) -> Value {
        let output = self.run(args, input);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What a terminal of this width shows.
    fn screen(&self, args: &[&str], columns: u16) -> vt100::Parser {
        let (rows, pixel_width, pixel_height) = (40, 0, 0);
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width,
            pixel_height,
        };
        let pty = native_pty_system().openpty(size).unwrap();
        let plain = self.command(args);
        let mut command = CommandBuilder::new(plain.get_program());
        command.args(plain.get_args());
        command.env_clear();
        command.env("HOME", self.root.path());
        command.env("TERM", "xterm-256color");
        command.env("TZ", "UTC");
        command.cwd(self.project());
        let mut child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let mut reader = pty.master.try_clone_reader().unwrap();
        let mut bytes = Vec::new();
        // A terminal whose program has ended gives an error, not an end.
        let _ = reader.read_to_end(&mut bytes);
        child.wait().unwrap();
        let mut parser = vt100::Parser::new(rows, columns, 0);
        parser.process(&bytes);
        parser
    }
}

fn at(mut row: Value, minute: u32) -> Value {
    row["timestamp"] = json!(format!("2026-11-03T12:{minute:02}:00.000Z"));
    row
}

const SESSION: &str = "0b1c9a52-7d3e-4f6a-8b2c-1d2e3f405162";

/// Two windows, three calls, one of them failed, and what a terminal should not obey.
fn conversation() -> String {
    let mut failed = result("r2", "c2", "t2", "no such thing\u{1b}]0;renamed\u{7}");
    failed["message"]["content"][0]["is_error"] = json!(true);
    let mut summary = user("k1", Some("b1"), "What came before: a margin.");
    summary["isCompactSummary"] = json!(true);
    let rows = [
        user("u1", None, "look at the Margin, please"),
        call("c1", "u1", "m1", "t1"),
        result("r1", "c1", "t1", "line one\nline two\ttab\n"),
        call("c2", "r1", "m2", "t2"),
        failed,
        said("s1", "r2", "The margin is 8000."),
        boundary("b1", "s1"),
        summary,
        user("u2", Some("k1"), "and now?"),
        call("c3", "u2", "m3", "t3"),
    ];
    let mut rows: Vec<Value> = (0..).zip(rows).map(|(minute, row)| at(row, minute)).collect();
    for row in &mut rows {
        row["sessionId"] = json!(SESSION);
    }
    lines(&rows)
}

/// The fields of each line.
fn fields(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

#[test]
fn a_conversation_is_found_by_folder_id_and_file() {
    let home = Home::new();
    let refused = home.run(&["history", "list"], "");
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("There is no conversation of ") && said.contains("--transcript FILE"),
        "{said}"
    );

    let old = home.put(SESSION, &conversation(), 60);
    home.put("0b1cffff-new", &lines(&[user("a", None, "newest")]), 5);
    home.put("agent-77", &lines(&[user("a", None, "a subagent")]), 0);
    // From a folder below the project.
    let newest = home.run(&["history", "list"], "");
    assert!(
        String::from_utf8(newest.stdout)
            .unwrap()
            .ends_with("\tuser\t\t\tnewest\n")
    );
    let said = String::from_utf8(newest.stderr).unwrap();
    assert!(
        said.contains("Conversation 0b1cffff-new of ") && said.contains("--head UUID"),
        "{said}"
    );

    let by_id = home.stdout(&["history", "list", "--session", &SESSION[..6]]);
    let by_file = home.stdout(&["history", "--transcript", old.to_str().unwrap(), "list"]);
    assert_eq!(by_id, by_file);
    assert!(by_id.contains("and now?"));
    let several = home.json(&["history", "list", "--json", "--session", "0b1c"], "", 1);
    assert!(
        several["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("2 conversations begin with `0b1c`"),
        "{several}"
    );
    let none = home.json(&["history", "list", "--json", "--session", "77"], "", 1);
    assert_eq!(none["error"]["code"], "history_unavailable");
    // An exact id is meant even where another one begins with it.
    home.put("0b1cffff-new-2", &lines(&[user("a", None, "other")]), 0);
    assert!(
        home.stdout(&["history", "list", "--session", "0b1cffff-new"])
            .contains("newest")
    );
}

#[test]
fn lists_searches_and_reads_go_through_a_pipe() {
    let home = Home::new();
    home.put(SESSION, &conversation(), 0);
    let listed = home.stdout(&["history", "list"]);
    let expected = [
        [
            "1",
            "2026-11-03T12:00:00.000Z",
            "user",
            "",
            "",
            "look at the Margin, please",
        ],
        [
            "3-7",
            "",
            "folded",
            "",
            "",
            "2 Bash, 1 failed; --after 2 --before 8 --role tool,context shows them",
        ],
    ];
    let lines = fields(&listed);
    assert_eq!(lines[..2], expected, "{listed}");
    let expanded = home.stdout(&[
        "history",
        "list",
        "--after",
        "2",
        "--before",
        "8",
        "--role",
        "tool,context",
    ]);
    let calls = fields(&expanded);
    assert_eq!(calls.len(), 2, "{expanded}");
    assert_eq!(
        calls[0][2..],
        ["tool", "Bash", "ok", "command: run t1 --- line one line two tab"]
    );
    assert_eq!(calls[1][4], "error");

    // The parts of a walk are the whole.
    let all = home.stdout(&["history", "list", "--all", "--role", "user,assistant,tool,context"]);
    for width in ["1", "2", "5"] {
        let (mut walked, mut after) = (String::new(), "0".to_owned());
        loop {
            let args = [
                "history",
                "list",
                "-n",
                width,
                "--after",
                &after,
                "--role",
                "user,assistant,tool,context",
            ];
            let page = home.stdout(&args);
            if page.is_empty() {
                break;
            }
            walked.push_str(&page);
            fields(&page).last().unwrap()[0].clone_into(&mut after);
        }
        assert_eq!(walked, all, "{width} at a time");
    }
    assert_eq!(fields(&all).len(), 8, "{all}");
    assert_eq!(
        fields(&home.stdout(&["history", "list", "--window", "@previous", "--all"])).len(),
        3
    );
    assert_eq!(
        fields(&home.stdout(&["history", "list", "--status", "unfinished"])).len(),
        1
    );

    let found = home.stdout(&["history", "search", "MARGIN", "nowhere"]);
    let seqs: Vec<&str> = fields(&found).iter().map(|line| line[0]).collect();
    assert_eq!(seqs.len(), 3, "{found}");
    let call = calls[0][0];
    let whole = "command: run t1\n---\nline one\nline two\ttab\n";
    assert_eq!(home.stdout(&["history", "read", call]), whole);
    assert_eq!(home.stdout(&["history", "read", "t1"]), whole);
    let data = home.json(&["history", "read", "t1", "--json"], "", 0);
    assert_eq!(
        (&data["data"]["text"], &data["data"]["tool_use_id"]),
        (&json!(whole), &json!("t1"))
    );

    let windows = home.stdout(&["history", "windows"]);
    let ids: Vec<String> = fields(&windows).iter().map(|line| line[..2].join(" ")).collect();
    assert_eq!(
        ids,
        [
            format!("claude:{SESSION}:0 start"),
            format!("claude:{SESSION}:1 compaction")
        ]
    );
}

#[test]
fn the_end_of_a_branch_can_be_named() {
    let home = Home::new();
    let rows = [
        user("a", None, "go"),
        user("b", Some("a"), "left"),
        user("c", Some("a"), "right"),
    ];
    home.put(SESSION, &lines(&rows), 0);
    let of = |args: &[&str]| home.json(&[&["history", "list", "--json"], args].concat(), "", 0);
    let texts = |answer: &Value| {
        let items = answer["data"]["items"].as_array().unwrap().clone();
        items
            .iter()
            .map(|item| item["content"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&of(&[])), ["go", "right"]);
    assert_eq!(of(&[])["data"]["head_assumed"], true);
    let left = of(&["--head", "b"]);
    assert_eq!(texts(&left), ["go", "left"]);
    assert_eq!(left["data"]["head_assumed"], false);
    for (args, code) in [
        (&["list", "--head", "none"][..], "head_not_on_disk"),
        (&["read", "99"], "unknown_seq"),
        (&["read", "toolu_none"], "unknown_seq"),
        (&["read", "2", "--head", "c"], "not_on_branch"),
        (&["search", " "], "invalid_query"),
        (&["list", "--window", "@previous"], "unknown_window_id"),
        (&["list", "--transcript", "nowhere.jsonl"], "history_unavailable"),
    ] {
        let refused = home.json(&[&["history", "--json"], args].concat(), "", 1);
        assert_eq!(refused["error"]["code"], code, "{args:?}");
    }
    assert_eq!(
        home.run(&["history", "list", "--role", "robot"], "").status.code(),
        Some(2)
    );
}

#[test]
fn a_terminal_shows_colours_and_obeys_no_output() {
    let home = Home::new();
    home.put(SESSION, &conversation(), 0);
    let text = |parser: &vt100::Parser| {
        let rows: Vec<String> = parser
            .screen()
            .rows(0, 80)
            .map(|row| row.trim_end().to_owned())
            .collect();
        rows.join("\n").trim_end().to_owned()
    };
    let shown = home.screen(&["history", "list", "--session", SESSION, "--head", "c3"], 80);
    insta::assert_snapshot!("list_80", text(&shown));
    let windows = home.screen(&["history", "windows", "--session", SESSION, "--head", "c3"], 80);
    insta::assert_snapshot!("windows_80", text(&windows));
    let read = home.screen(&["history", "read", "t2", "--session", SESSION, "--head", "c3"], 80);
    insta::assert_snapshot!("read_80", text(&read));
    assert!(text(&read).contains("no such thing␛]0;renamed␇"), "{}", text(&read));
    let found = home.screen(
        &["history", "search", "margin", "--session", SESSION, "--head", "c3"],
        80,
    );
    insta::assert_snapshot!("search_80", text(&found));
    let bold: String = (0..40u16)
        .flat_map(|row| (2..80u16).map(move |column| (row, column)))
        .filter_map(|(row, column)| found.screen().cell(row, column))
        .filter(|cell| cell.bold())
        .map(|cell| cell.contents().to_owned())
        .collect();
    assert_eq!(bold, "Marginmarginmargin");
}

#[test]
fn a_tool_can_be_called_by_hand() {
    let home = Home::new();
    let transcript = home.put(SESSION, &conversation(), 0);
    let transcript = transcript.to_str().unwrap();
    let tool = |args: &[&str], input: &str, code| home.json(&[&["tool"], args].concat(), input, code);
    let written = tool(
        &["notes_write", "--session", "s"],
        r##"{"address": "plan", "content": "# Plan"}"##,
        0,
    );
    assert_eq!(written["data"]["address"], "plan.md");
    let read = tool(&["notes_read", "--session", "s"], r#"{"address": "plan"}"#, 0);
    assert!(read["data"].to_string().contains("# Plan"), "{read}");
    let model = r##"{"address": "@model/a", "content": "x"}"##;
    assert_eq!(tool(&["notes_write", "--model", "claude-x"], model, 0)["ok"], true);
    assert!(home.root.path().join(".agents/notes/models/claude-x/a.md").exists());

    let of = ["--transcript", transcript];
    let list = |args: &[&str]| tool(&[&["history_list"][..], &of, args].concat(), r#"{"limit": 1}"#, 0);
    assert_eq!(list(&[])["data"]["items"][0]["content"], "and now?");
    assert_eq!(
        list(&["--head", "r1"])["data"]["items"][0]["content"],
        "look at the Margin, please"
    );
    let read = tool(&[&["history_read"][..], &of].concat(), r#"{"tool_use_id": "t1"}"#, 0);
    assert_eq!(read["data"]["tool_use_id"], "t1");
    let text = home.run(&["tool", "history_windows", "--text", "--transcript", transcript], "");
    assert!(
        String::from_utf8(text.stdout)
            .unwrap()
            .starts_with("2 windows, oldest first.\n")
    );
    // Figures that nobody gave are not made up.
    assert_eq!(tool(&["context_remaining"], "", 0)["data"]["tokens"], Value::Null);

    for (args, input, code) in [
        (&["history_list"][..], "", "history_unavailable"),
        (
            &["history_list", "--transcript", transcript, "--agent", "a1"],
            "",
            "subagent_refused",
        ),
        (
            &["history_list", "--transcript", transcript],
            r#"{"limt": 3}"#,
            "invalid_arguments",
        ),
        (&["notes_read"], "{", "invalid_arguments"),
        (&["fresh_window"], "", "not_available"),
        (&["notes_raed"], "", "unknown_tool"),
    ] {
        assert_eq!(tool(args, input, 1)["error"]["code"], code, "{args:?}");
    }
}

#[test]
fn help_has_examples() {
    let home = Home::new();
    for args in [&["history", "--help"][..], &["tool", "--help"]] {
        assert!(home.stdout(args).contains("Examples:"), "{args:?}");
    }
}
