//! `notesoup notes` for a person, in a pipe and on terminals of two widths.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

use crate::support::{Store, ok};

fn run(store: &Store, args: &[&str], input: &str) -> Output {
    fed(store.program(&[&["notes"], args].concat()), input)
}

/// As a person types it, with no more than that.
fn typed(store: &Store, args: &[&str], input: &str) -> Output {
    fed(store.as_typed(&[&["notes"], args].concat()), input)
}

fn fed(mut command: Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that needs no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(store: &Store, args: &[&str], input: &str) -> String {
    let output = run(store, args, input);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_note_goes_through_all_commands() {
    let store = Store::new();
    let body = "# Taste\n\nlikes tests\r\nno end";
    stdout(&store, &["write", "@human/taste"], body);
    assert_eq!(stdout(&store, &["read", "@human/taste"], ""), body);
    let from_file = store.temp.path().join("work/text.md");
    fs::write(&from_file, "from a file").unwrap();
    stdout(&store, &["write", "@human/taste", "text.md"], "");
    let found = stdout(&store, &["search", "FROM A", "--in", "@human/*"], "");
    assert_eq!(found, "@human/taste.md:1:from a file\n");
    stdout(
        &store,
        &["edit", "@human/taste", "--replace", "from", "of", "--append", "end"],
        "",
    );
    assert_eq!(stdout(&store, &["read", "@human/taste"], ""), "of a file\nend");
    let history = stdout(&store, &["history", "@human/taste"], "");
    assert_eq!(history.lines().count(), 2, "{history}");
    assert!(stdout(&store, &["history", "@human/taste", "--show", "1"], "").ends_with(body));
    stdout(&store, &["undo", "@human/taste"], "");
    assert_eq!(stdout(&store, &["read", "@human/taste"], ""), "from a file");
    stdout(&store, &["undo", "@human/taste", "--to", "1"], "");
    assert_eq!(stdout(&store, &["read", "@human/taste"], ""), body);
    stdout(&store, &["edit", "@human/taste", "--crumple"], "");
    assert_eq!(stdout(&store, &["list"], ""), "");
    assert!(stdout(&store, &["list", "--wastebasket"], "").starts_with("@human/taste.md\tTaste\t"));
    stdout(&store, &["edit", "@human/taste", "--smooth"], "");
    stdout(&store, &["edit", "@human/taste", "--rename-to", "@self/taste"], "");
    assert_eq!(stdout(&store, &["read", "@self/taste"], ""), body);
    let undone = stdout(&store, &["undo", "@human/taste"], "");
    assert!(undone.contains("is back from `@self/taste.md`"), "{undone}");
    assert!(!run(&store, &["read", "@self/taste"], "").status.success());
    assert!(stdout(&store, &["doctor"], "").contains("All is well."));
}

#[test]
fn a_refusal_tells_a_person_what_to_type() {
    let store = Store::new();
    let said = |args: &[&str]| {
        let output = typed(&store, args, "text");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = said(&["read", "@human/nothing"]);
    assert!(missing.contains("`notesoup notes list` shows"), "{missing}");
    assert!(missing.contains("`notesoup notes write` makes"), "{missing}");
    let bare = said(&["write", "plain"]);
    assert!(bare.contains("--session ID"), "{bare}");
    // What the model is told, and a script that reads JSON, stays as it is.
    let json = typed(&store, &["read", "@human/nothing", "--json"], "").stdout;
    assert!(String::from_utf8(json).unwrap().contains("`notes_list` shows"));
}

#[test]
fn a_conversation_is_named_by_how_its_id_begins() {
    let store = Store::new();
    for id in ["0b1c-one", "0b1d-two"] {
        assert!(typed(&store, &["write", "plan", "--session", id], id).status.success());
    }
    let read = |begins: &str| typed(&store, &["read", "plan", "--session", begins], "");
    assert_eq!(read("0b1c").stdout, b"0b1c-one");
    assert!(
        String::from_utf8(read("0b1").stderr)
            .unwrap()
            .contains("2 conversations")
    );
    assert!(
        typed(&store, &["write", "plan", "--session", "new"], "three")
            .status
            .success()
    );
    assert_eq!(read("new").stdout, b"three");
}

#[test]
fn an_undo_of_a_rename_never_takes_a_changed_note_away() {
    let store = Store::new();
    let notes = store.notes();
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@human/a", "content": "one" }),
    );
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/a", "rename_to": "@human/b" }),
    );
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/b", "append": "two" }),
    );
    let undone = notes.undo("@human/a", None).unwrap();
    assert_eq!(undone.remarks.len(), 1);
    assert_eq!(notes.whole("@human/a").unwrap().body, "one");
    assert_eq!(notes.whole("@human/b").unwrap().body, "one\ntwo");
    assert_eq!(notes.undo("@human/none", None).unwrap_err().code, "not_found");
}

#[test]
fn the_history_is_bounded() {
    let store = Store::new();
    let notes = store.notes();
    for number in 0..40 {
        ok(
            &notes,
            "notes_write",
            json!({ "address": "@human/a", "content": format!("{number}") }),
        );
    }
    let past = notes.history("@human/a").unwrap();
    assert_eq!(past.len(), 20);
    assert_eq!(past.last().unwrap().title, "38");
}

#[test]
fn json_is_for_scripts_and_refusals_have_an_exit_code() {
    let store = Store::new();
    let parse = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let written = parse(&stdout(&store, &["write", "@human/a", "--json"], "# A\nneedle\n"));
    assert_eq!(written["data"]["address"], "@human/a.md");
    let read = parse(&stdout(&store, &["read", "@human/a", "--json"], ""));
    assert_eq!(read["data"]["version"], written["data"]["version"]);
    assert_eq!(
        parse(&stdout(&store, &["list", "--json"], ""))["data"]["rows"][0]["title"],
        "A"
    );
    assert_eq!(
        parse(&stdout(&store, &["search", "needle", "--json"], ""))["data"]["total"],
        1
    );
    assert_eq!(
        parse(&stdout(&store, &["history", "@human/a", "--json"], ""))["data"],
        json!([])
    );
    assert_eq!(parse(&stdout(&store, &["doctor", "--json"], ""))["ok"], true);
    for (args, code) in [
        (&["read", "@human/none", "--json"][..], "not_found"),
        (&["write", "@human/a", "--if-version", "0", "--json"], "conflict"),
        (&["write", "@human/a", "--origin", "me", "--json"], "invalid_origin"),
        (&["search", " ", "--json"], "invalid_query"),
        (&["undo", "@human/a", "--json"], "not_found"),
    ] {
        let output = run(&store, args, "x");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let refusal = parse(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(refusal["error"]["code"], code, "{args:?}");
    }
    let output = run(&store, &["read", "@human/none"], "");
    assert!(output.stdout.is_empty());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("There is no note at `@human/none.md`")
    );
    fs::write(store.file("human/b.md"), "see @human/none.md").unwrap();
    assert_eq!(run(&store, &["doctor"], "").status.code(), Some(1));
}

/// An "editor" that runs a line of shell on the file.
fn with_editor(store: &Store, script: &str) -> Output {
    let editor = store.temp.path().join("editor.sh");
    fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    store
        .program(&["notes", "edit", "@human/a"])
        .env("EDITOR", format!("'{}'", editor.display()))
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

#[test]
fn an_editor_changes_the_body_and_loses_nothing_in_a_conflict() {
    let store = Store::new();
    let notes = store.notes();
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@human/a", "content": "one\n" }),
    );
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/a", "crumpled": true }),
    );
    assert!(with_editor(&store, "echo two >>\"$1\"").status.success());
    assert_eq!(notes.whole("@human/a").unwrap().body, "one\ntwo\n");
    assert!(ok(&notes, "notes_read", json!({ "address": "@human/a" }))["crumpled_at"].is_string());
    assert!(
        String::from_utf8(with_editor(&store, "true").stdout)
            .unwrap()
            .contains("Unchanged")
    );
    assert!(!with_editor(&store, "echo lost >\"$1\"; exit 1").status.success());
    // Somebody else is quicker, while the editor is open.
    let other = store.file("human/a.md");
    let conflict = with_editor(
        &store,
        &format!("echo mine >>\"$1\"; echo theirs >>'{}'", other.display()),
    );
    assert_eq!(conflict.status.code(), Some(1));
    assert_eq!(notes.whole("@human/a").unwrap().body, "one\ntwo\ntheirs\n");
    let message = String::from_utf8(conflict.stderr).unwrap();
    let kept = message
        .lines()
        .find_map(|line| line.strip_prefix("Your text is in "))
        .unwrap();
    let kept = kept.split(".md").next().unwrap().to_owned() + ".md";
    assert_eq!(fs::read_to_string(&kept).unwrap(), "one\ntwo\nmine\n");
    fs::remove_file(kept).unwrap();
}

/// What a terminal of this width shows.
fn screen(store: &Store, args: &[&str], columns: u16) -> String {
    let size = PtySize {
        rows: 40,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pty = native_pty_system().openpty(size).unwrap();
    let plain = store.program(&[&["notes"], args].concat());
    let mut command = CommandBuilder::new(plain.get_program());
    command.args(plain.get_args());
    command.env_clear();
    command.env("HOME", store.temp.path());
    command.env("TERM", "xterm-256color");
    command.env("TZ", "UTC");
    command.cwd(store.temp.path().join("work"));
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().unwrap();
    let mut bytes = Vec::new();
    // A terminal whose program has ended gives an error, not an end.
    let _ = reader.read_to_end(&mut bytes);
    child.wait().unwrap();
    let mut parser = vt100::Parser::new(40, columns, 0);
    parser.process(&bytes);
    let rows: Vec<String> = parser
        .screen()
        .rows(0, columns)
        .map(|row| row.trim_end().to_owned())
        .collect();
    rows.join("\n").trim_end().to_owned()
}

#[test]
fn tables_fit_a_narrow_and_a_wide_terminal() {
    let store = Store::new();
    let note = |title: &str, day: u8, body: &str| {
        format!("---\norigin: self\nupdatedAt: 2026-11-{day:02}T12:00:00.000+00:00\n---\n\n# {title}\n\n{body}")
    };
    store.put("human/taste.md", note("Taste", 3, "short needle\n"));
    store.put(
        "human/日本.md",
        note(
            "日本語のとても長い題名、幅は二倍、切られるはずです、まだ続きます、ここまで。",
            2,
            &"needle ".repeat(40),
        ),
    );
    store.put(
        "human/plans/a-rather-long-name-of-a-plan-in-a-folder.md",
        note("A plan", 1, "needle\nneedle\n"),
    );
    insta::assert_snapshot!("list_80", screen(&store, &["list"], 80));
    insta::assert_snapshot!("list_200", screen(&store, &["list"], 200));
    insta::assert_snapshot!("search_80", screen(&store, &["search", "needle", "-m", "1"], 80));
    let doctor = screen(&store, &["doctor"], 200);
    assert!(doctor.starts_with("     ok  3 notes in 1 home in "), "{doctor}");
    ok(
        &store.notes(),
        "notes_update",
        json!({ "address": "@human/taste", "append": "x" }),
    );
    insta::assert_snapshot!("history_80", screen(&store, &["history", "@human/taste"], 80));
    assert_eq!(screen(&store, &["list", "@self/**"], 80), "No notes.");
}
