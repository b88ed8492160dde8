//! Disks that fail: a refusal that names the cause, and the old bytes intact.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Store, ok, refused};

const BIG: usize = 200_000;

/// Hands calls to the program started by `sh -c script`, in which `"$@"` is the program and its arguments.
fn call_in(store: &Store, script: &str, wrap: &[&str], calls: &[(&str, Value)]) -> Option<Vec<Value>> {
    let plain = store.program(&["notes", "call"]);
    let mut command = match wrap.split_first() {
        None => Command::new("sh"),
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg("sh");
            command
        }
    };
    command
        .args(["-c", script, "sh"])
        .arg(plain.get_program())
        .args(plain.get_args());
    command
        .env("HOME", store.temp.path())
        .env("XDG_STATE_HOME", store.temp.path().join("xdg-state"));
    command
        .env("ROOT", store.root())
        .current_dir(store.temp.path().join("work"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    for (tool, input) in calls {
        // A program that could not be started reads nothing.
        let _ = writeln!(stdin, "{}", json!({ "tool": tool, "input": input }));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let outcomes: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (outcomes.len() == calls.len()).then_some(outcomes)
}

fn writes() -> Vec<(&'static str, Value)> {
    let big = "x".repeat(BIG);
    vec![
        ("notes_write", json!({ "address": "@human/old", "content": big })),
        ("notes_update", json!({ "address": "@human/old", "append": big })),
        ("notes_write", json!({ "address": "@human/deep/new", "content": big })),
        ("notes_read", json!({ "address": "@human/old" })),
    ]
}

/// All but the last are refused for this cause, and the last still reads the old note.
fn expect_intact(outcomes: &[Value], cause: &str) {
    let (read, refused) = outcomes.split_last().unwrap();
    for outcome in refused {
        assert_eq!(outcome["error"]["code"], "io_error", "{outcome}");
        let message = outcome["error"]["message"].as_str().unwrap();
        assert!(message.contains(cause) && message.contains("intact"), "{message}");
    }
    assert_eq!(read["data"]["body"]["text"], "old", "{read}");
}

#[test]
fn a_write_that_breaks_off_leaves_the_old_bytes_and_no_litter() {
    let store = Store::new();
    ok(
        &store.notes(),
        "notes_write",
        json!({ "address": "@human/old", "content": "old" }),
    );
    let before = fs::read(store.file("human/old.md")).unwrap();
    // The limit strikes in the middle of the temporary file, as a full disk does.
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let outcomes = call_in(&store, limited, &[], &writes()).unwrap();
    expect_intact(&outcomes, "File too large");
    assert_eq!(fs::read(store.file("human/old.md")).unwrap(), before);
    assert!(store.litter().is_empty(), "{:?}", store.litter());
    assert!(
        store.notes().history("@human/old").unwrap().is_empty(),
        "what was not replaced is not in the history"
    );
    // A disk of its own, full and then read only, where the system lets anybody mount one.
    let namespace = ["unshare", "--user", "--map-root-user", "--mount"];
    let full = "mount -t tmpfs -o size=128k tmpfs \"$ROOT\" && mkdir \"$ROOT/human\" && printf old >\"$ROOT/human/old.md\" && exec \"$@\"";
    if let Some(outcomes) = call_in(&store, full, &namespace, &writes()) {
        expect_intact(&outcomes, "No space left");
    } else {
        println!("left out: a full disk (no mount namespaces here)");
    }
    let read_only = "mount --bind \"$ROOT\" \"$ROOT\" && mount -o remount,ro,bind \"$ROOT\" && exec \"$@\"";
    if let Some(outcomes) = call_in(&store, read_only, &namespace, &writes()) {
        expect_intact(&outcomes, "Read-only file system");
    } else {
        println!("left out: a read-only disk (no mount namespaces here)");
    }
    assert_eq!(fs::read(store.file("human/old.md")).unwrap(), before);
}

#[test]
fn a_folder_without_rights_is_a_refusal_that_says_so() {
    let store = Store::new();
    store.put("human/old.md", "old");
    store.put("agents/claude/hidden/a.md", "hidden");
    let notes = store.notes();
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/old", "crumpled": true }),
    );
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/old", "crumpled": false }),
    );
    let before = fs::read(store.file("human/old.md")).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // Rights mean nothing to root, so root becomes somebody else, for whom the files must be in reach.
    let is_root = fs::metadata(store.temp.path()).unwrap().uid() == 0;
    mode(store.temp.path(), 0o755);
    let program = store.temp.path().join("program");
    fs::copy(env!("CARGO_BIN_EXE_notesoup"), &program).unwrap();
    for folder in ["", "human", ".versions", ".versions/.locks", "agents", "agents/claude"] {
        mode(&store.file(folder), 0o755);
    }
    for lock in fs::read_dir(store.file(".versions/.locks")).unwrap() {
        mode(&lock.unwrap().path(), 0o666);
    }
    mode(&store.file("human/old.md"), 0o644);
    mode(&store.file("human"), 0o555);
    mode(&store.file("agents/claude/hidden"), 0o000);
    let run = |tool: &str, input: Value| -> Value {
        let plain = store.program(&["notes", "call"]);
        let mut command = Command::new(&program);
        command
            .args(plain.get_args())
            .env_clear()
            .env("HOME", "/nonexistent")
            .current_dir("/");
        if is_root {
            command.uid(65534).gid(65534);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        writeln!(
            child.stdin.take().unwrap(),
            "{}",
            json!({ "tool": tool, "input": input })
        )
        .unwrap();
        let output = child.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    for input in [
        json!({ "address": "@human/old", "content": "x" }),
        json!({ "address": "@human/new", "content": "x" }),
    ] {
        let outcome = run("notes_write", input);
        assert_eq!(outcome["error"]["code"], "io_error", "{outcome}");
        assert!(
            outcome["error"]["message"]
                .as_str()
                .unwrap()
                .contains("Permission denied"),
            "{outcome}"
        );
    }
    assert_eq!(
        run("notes_read", json!({ "address": "@human/old" }))["data"]["body"]["text"],
        "old"
    );
    let listed = run("notes_list", json!({}));
    assert_eq!(listed["data"]["total"], 1, "{listed}");
    assert_eq!(listed["data"]["homes_unavailable"][0]["home"], "@self/", "{listed}");
    assert_eq!(fs::read(store.file("human/old.md")).unwrap(), before);
    mode(&store.file("human"), 0o755);
    mode(&store.file("agents/claude/hidden"), 0o755);
    let names: Vec<_> = fs::read_dir(store.file("human"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["old.md"]);
}

#[test]
fn things_in_the_way_are_refused_without_a_trace() {
    let store = Store::new();
    let notes = store.notes();
    store.put("human/file", "not a note");
    store.put("human/folder.md/inside.md", "x");
    let count = |folder: &str| fs::read_dir(store.file(folder)).unwrap().count();
    let before = count("human");
    for (address, code) in [
        ("@human/file/a".to_owned(), "io_error"),
        ("@human/folder".to_owned(), "io_error"),
        (format!("@human/{}", "n".repeat(300)), "io_error"),
        (format!("@human/{}", "n/".repeat(300)), "invalid_address"),
        (format!("@human/{}", "n/".repeat(256) + "n"), "too_large"),
    ] {
        let refusal = refused(&notes, "notes_write", json!({ "address": address, "content": "x" }));
        assert_eq!(refusal.code, code, "{address}: {}", refusal.message);
    }
    let long = refused(
        &notes,
        "notes_write",
        json!({ "address": "@human/".to_owned() + &"n".repeat(300), "content": "x" }),
    );
    assert!(long.message.contains("too long"), "{}", long.message);
    assert_eq!(count("human"), before);
    // A file where the history should be: nothing can be kept, so nothing is replaced.
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@human/a", "content": "old" }),
    );
    fs::write(store.file(".versions/human.d"), "in the way").unwrap();
    let refusal = refused(
        &notes,
        "notes_write",
        json!({ "address": "@human/a", "content": "new" }),
    );
    assert_eq!(refusal.code, "io_error");
    assert_eq!(notes.whole("@human/a").unwrap().body, "old");
    let large = json!({ "address": "@human/a", "content": "x".repeat(1_000_000) });
    assert_eq!(refused(&notes, "notes_write", large).code, "too_large");
    fs::remove_file(store.file(".versions/human.d")).unwrap();
    let fits = json!({ "address": "@human/a", "content": "x".repeat(999_700) });
    ok(&notes, "notes_write", fits);
    assert_eq!(
        refused(
            &notes,
            "notes_update",
            json!({ "address": "@human/a", "append": "y".repeat(300) })
        )
        .code,
        "too_large"
    );
}

/// Stands in front of the C library: what reaches a regular file fails as a disk over quota or a broken one does.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int fails(int fd, char call) {
    struct stat file;
    const char *at = getenv("FAIL_AT");
    if (!at || *at != call || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
    errno = atoi(getenv("FAIL_WITH"));
    return 1;
}
ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    return fails(fd, 'w') ? -1 : next(fd, bytes, count);
}
int fsync(int fd) {
    int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
    return fails(fd, 'f') ? -1 : next(fd);
}
"#;

#[test]
fn a_quota_and_a_broken_disk_are_refusals_with_the_cause() {
    let store = Store::new();
    let notes = store.notes();
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@human/old", "content": "old" }),
    );
    let before = fs::read(store.file("human/old.md")).unwrap();
    let (source, shim) = (store.temp.path().join("shim.c"), store.temp.path().join("shim.so"));
    fs::write(&source, SHIM).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&shim, &source])
        .arg("-ldl")
        .status();
    assert!(
        built.unwrap().success(),
        "the linker of this program builds a library, too"
    );
    for (at, with, cause) in [
        ("w", 122, "Disk quota exceeded"),
        ("f", 122, "Disk quota exceeded"),
        ("w", 5, "Input/output error"),
        ("f", 5, "Input/output error"),
    ] {
        let script = format!(
            "FAIL_AT={at} FAIL_WITH={with} LD_PRELOAD={} exec \"$@\"",
            shim.display()
        );
        let outcomes = call_in(&store, &script, &[], &writes()).unwrap();
        expect_intact(&outcomes, cause);
        assert_eq!(fs::read(store.file("human/old.md")).unwrap(), before);
        assert!(store.litter().is_empty(), "{:?}", store.litter());
        assert!(notes.history("@human/old").unwrap().is_empty());
    }
}

#[test]
fn a_note_that_may_not_be_changed_is_left_as_it_is() {
    let store = Store::new();
    store.put("human/old.md", "old");
    let file = store.file("human/old.md");
    let attribute = |change: &str| {
        let done = Command::new("chattr")
            .arg(change)
            .arg(&file)
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success())
    };
    if !attribute("+i") {
        println!("left out: a note that may not be changed (no right to `chattr +i` here)");
        return;
    }
    let refusal = refused(
        &store.notes(),
        "notes_write",
        json!({ "address": "@human/old", "content": "new" }),
    );
    let body = store.notes().whole("@human/old").unwrap().body;
    attribute("-i");
    assert_eq!(
        (refusal.code, body.as_str()),
        ("io_error", "old"),
        "{}",
        refusal.message
    );
    assert!(
        refusal.message.contains("Operation not permitted"),
        "{}",
        refusal.message
    );
    assert!(store.litter().is_empty(), "{:?}", store.litter());
}
