//! Files that somebody else wrote: what was not asked for does not change, and one bad file spoils no query.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Store, ok, refused};

/// Files as they come, each with the bytes in front of the body.
fn files() -> Vec<(&'static str, &'static str, String)> {
    let big = "0123456789abcde\n".repeat(62_000);
    vec![
        ("plain", "", "# By hand\n\ntext\n".to_owned()),
        ("empty", "", String::new()),
        ("no-end", "", "no line end".to_owned()),
        (
            "crlf",
            "---\r\norigin: user\r\ntags: [a]\r\n---\r\n\r\n",
            "one\r\ntwo\r\n".to_owned(),
        ),
        ("bom", "\u{feff}---\ntitle: Bom\n---\n", "text\n".to_owned()),
        ("bom-only", "\u{feff}", "text\n".to_owned()),
        ("unclosed", "", "---\ntitle: x\n\ntext\n".to_owned()),
        ("rules", "", "---\n\nProse between rules.\n\n---\n\nmore\n".to_owned()),
        ("closed-at-end", "---\ntitle: x\n---", String::new()),
        (
            "nested",
            "---\nmeta:\n  origin: deep\n  list:\n    - a\n    - b: c\ntext: |\n  updatedAt: no\n# comment\n---\n",
            "body\n---\nnot the end\n".to_owned(),
        ),
        (
            "pi",
            "---\norigin: self\ncreatedAt: 2026-11-01T12:00:00.000+00:00\nupdatedAt: 2026-11-02T12:00:00.000+00:00\n\
             lastAccessed: 2026-11-03T12:00:00.000+00:00\naccessCount: 7\n---\n\n",
            "# From another program\n".to_owned(),
        ),
        (
            "snake",
            "---\norigin: external\ncreated_at: 2026-11-01T12:00:00Z\nupdated_at: \"2026-11-02T12:00:00Z\"\naccess_count: 3\n\
             mine: kept\n---\n\n",
            "old keys\n".to_owned(),
        ),
        (
            "odd",
            "---\norigin : self\n日本: x\n\"quoted key\": y\norigin:\nno key at all\n---\n",
            "x\n".to_owned(),
        ),
        (
            "dashes",
            "---\norigin: self\ncreatedAt: x\n---\n\n",
            "---\nbody: yes\n---\n".to_owned(),
        ),
        ("nfd e\u{301}", "", "decomposed name\n".to_owned()),
        ("mega", "", big),
    ]
}

#[test]
fn reading_changes_neither_bytes_nor_time() {
    let store = Store::new();
    let notes = store.notes();
    for (name, head, body) in files() {
        let file = store.put(&format!("human/{name}.md"), format!("{head}{body}"));
        let before = (
            fs::read(&file).unwrap(),
            fs::metadata(&file).unwrap().modified().unwrap(),
        );
        let address = format!("@human/{name}");
        for _ in 0..2 {
            let read = ok(
                &notes,
                "notes_read",
                json!({ "address": address, "limit_chars": 50_000 }),
            );
            let shown = read["body"]["text"].as_str().unwrap();
            assert!(body.starts_with(shown), "{name}: {shown:?}");
            assert_eq!(read["body"]["total_chars"], body.chars().count(), "{name}");
        }
        ok(&notes, "notes_list", json!({}));
        ok(&notes, "notes_search", json!({ "query": "e" }));
        notes.shelves();
        let after = (
            fs::read(&file).unwrap(),
            fs::metadata(&file).unwrap().modified().unwrap(),
        );
        assert_eq!(before, after, "{name}");
    }
    let pi = ok(&notes, "notes_read", json!({ "address": "@human/pi" }));
    assert_eq!(pi["access_count"], 7 + 3);
    let snake = ok(&notes, "notes_read", json!({ "address": "@human/snake" }));
    assert_eq!(
        (&snake["updated_at"], &snake["origin"]),
        (&json!("2026-11-02T12:00:00Z"), &json!("external"))
    );
}

/// The frontmatter without the lines that an update may move.
fn without_time(head: &str) -> String {
    let kept = head.split_inclusive('\n').filter(|line| !line.starts_with("updated"));
    kept.collect()
}

#[test]
fn an_update_changes_nothing_but_the_edit_and_the_time() {
    let store = Store::new();
    let notes = store.notes();
    for (name, head, body) in files() {
        let file = store.put(&format!("human/{name}.md"), format!("{head}{body}"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        ok(
            &notes,
            "notes_update",
            json!({ "address": format!("@human/{name}"), "append": "new" }),
        );
        let after = fs::read_to_string(&file).unwrap();
        let line_end = if body.contains("\r\n") { "\r\n" } else { "\n" };
        let gap = if body.is_empty() || body.ends_with('\n') {
            ""
        } else {
            line_end
        };
        let tail = format!("{body}{gap}new");
        let head_after = after.strip_suffix(&tail).unwrap_or_else(|| panic!("{name}: {after:?}"));
        // A closing line at the very end of a file needs its end now.
        let expected = head
            .strip_suffix("\n---")
            .map_or_else(|| head.to_owned(), |head| format!("{head}\n---\n"));
        assert_eq!(without_time(head_after), without_time(&expected), "{name}");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640,
            "{name}"
        );
        let read = ok(
            &notes,
            "notes_read",
            json!({ "address": format!("@human/{name}"), "offset_chars": -3 }),
        );
        assert_eq!(read["body"]["text"], "new", "{name}");
        // Crumpling and smoothing again leaves the rest of the file alone.
        let crumple = |on: bool| json!({ "address": format!("@human/{name}"), "crumpled": on });
        ok(&notes, "notes_update", crumple(true));
        let listed = ok(&notes, "notes_list", json!({ "wastebasket": true }));
        assert_eq!(listed["total"], 1, "{name}");
        ok(&notes, "notes_update", crumple(false));
        let smooth = fs::read_to_string(&file).unwrap();
        assert!(
            smooth.ends_with(&tail) && without_time(&smooth).contains(without_time(head_after).trim_end()),
            "{name}: {smooth}"
        );
    }
    let snake = fs::read_to_string(store.file("human/snake.md")).unwrap();
    assert!(
        snake.contains("\nupdated_at: 2") && !snake.contains("updatedAt") && snake.contains("\nmine: kept\n"),
        "{snake}"
    );
}

#[test]
fn what_is_no_note_is_said_and_the_rest_is_answered() {
    let store = Store::new();
    let notes = store.notes();
    store.put("human/good.md", "# Good\nneedle\n");
    let latin = store.put("human/latin.md", b"# Caf\xe9\nneedle\n");
    let folder = store.file("human");
    let mkfifo = Command::new("mkfifo").arg(folder.join("pipe.md")).status().unwrap();
    assert!(mkfifo.success());
    let _socket = UnixListener::bind(folder.join("socket.md")).unwrap();
    fs::create_dir(folder.join("folder.md")).unwrap();
    fs::write(folder.join("folder.md/inside.md"), "needle").unwrap();
    let outside = store.temp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "needle secret").unwrap();
    symlink(outside.join("secret.md"), folder.join("escape.md")).unwrap();
    symlink(&outside, folder.join("linked")).unwrap();
    symlink("nowhere", folder.join("dangling.md")).unwrap();
    symlink("good.md", folder.join("inner.md")).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"bad\xff.md")), "needle").unwrap();
    fs::write(folder.join("con\ntrol.md"), "needle").unwrap();
    fs::write(folder.join("notes.txt"), "needle").unwrap();

    let listed = ok(&notes, "notes_list", json!({}));
    let addresses: Vec<_> = listed["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["address"].clone())
        .collect();
    assert_eq!(addresses.len(), 3, "{addresses:?}");
    assert_eq!(
        listed["skipped"],
        json!({ "links": 4, "unnameable": 2, "unreadable": 0 })
    );
    let found = ok(&notes, "notes_search", json!({ "query": "NEEDLE" }));
    assert_eq!(found["total"], 3);
    assert!(!found.to_string().contains("secret"));

    for name in [
        "pipe",
        "socket",
        "folder",
        "escape",
        "dangling",
        "inner",
        "linked/secret",
        "good.md/x",
    ] {
        let address = format!("@human/{name}");
        for (tool, input) in [
            ("notes_read", json!({ "address": address })),
            ("notes_write", json!({ "address": address, "content": "x" })),
            ("notes_update", json!({ "address": address, "append": "x" })),
            (
                "notes_update",
                json!({ "address": address, "rename_to": "@human/moved" }),
            ),
            (
                "notes_update",
                json!({ "address": "@human/good", "rename_to": address }),
            ),
        ] {
            let refusal = refused(&notes, tool, input);
            assert_eq!(refusal.code, "io_error", "{tool} {address}: {}", refusal.message);
        }
    }
    assert_eq!(fs::read_to_string(outside.join("secret.md")).unwrap(), "needle secret");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);

    // Not UTF-8: shown with a mark, moved, but never edited.
    let read = ok(&notes, "notes_read", json!({ "address": "@human/latin" }));
    assert_eq!(
        (&read["is_utf8"], &read["title"]),
        (&json!(false), &json!("Caf\u{fffd}"))
    );
    for input in [
        json!({ "append": "x" }),
        json!({ "crumpled": true }),
        json!({ "origin": "self" }),
    ] {
        let mut input = input;
        input["address"] = json!("@human/latin");
        assert_eq!(refused(&notes, "notes_update", input).code, "io_error");
    }
    let write = json!({ "address": "@human/latin", "content": "x" });
    assert_eq!(refused(&notes, "notes_write", write).code, "io_error");
    assert_eq!(fs::read(&latin).unwrap(), b"# Caf\xe9\nneedle\n");
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@human/latin", "rename_to": "@human/latin-1" }),
    );
    assert_eq!(fs::read(folder.join("latin-1.md")).unwrap(), b"# Caf\xe9\nneedle\n");
}

#[test]
fn a_home_that_cannot_be_read_is_named_and_the_rest_is_answered() {
    let store = Store::new();
    let notes = store.notes();
    store.put("human/good.md", "needle");
    store.put("project", "a file");
    symlink("/", store.file("models")).unwrap();
    for (tool, input) in [
        ("notes_list", json!({})),
        ("notes_search", json!({ "query": "needle" })),
    ] {
        let data = ok(&notes, tool, input);
        assert_eq!(data["total"], 1, "{data}");
        let named: Vec<&Value> = data["homes_unavailable"]
            .as_array()
            .unwrap()
            .iter()
            .map(|home| &home["home"])
            .collect();
        assert!(
            named.contains(&&json!("@project/")) && named.contains(&&json!("@model/")),
            "{data}"
        );
    }
    for address in ["@project/a", "@model/a", "@models/etc/a"] {
        assert_eq!(
            refused(&notes, "notes_read", json!({ "address": address })).code,
            "io_error",
            "{address}"
        );
        let other = if address.starts_with("@models") {
            "invalid_scope"
        } else {
            "io_error"
        };
        assert_eq!(
            refused(&notes, "notes_write", json!({ "address": address, "content": "x" })).code,
            other
        );
    }
}

#[test]
fn a_linked_home_is_followed_within_the_root_and_shares_its_history() {
    let store = Store::new();
    store.put("project/moved-22222222/a.md", "old place");
    symlink("moved-22222222", store.file(&store.project())).unwrap();
    let notes = store.notes();
    ok(
        &notes,
        "notes_update",
        json!({ "address": "@project/a", "append": "more" }),
    );
    assert!(store.file(".versions/project.d/moved-22222222.d/a.md.v").is_dir());
    let mut identity = store.identity();
    identity.project = Some("moved-22222222".into());
    assert_eq!(
        notesoup::notes::Notes::open(identity)
            .history("@project/a")
            .unwrap()
            .len(),
        1
    );
}
