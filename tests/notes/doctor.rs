//! What the doctor finds, and what it puts right.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use notesoup::notes::{Finding, Identity, Level, Notes};
use serde_json::json;

use crate::support::{Store, ok};

fn codes(findings: &[Finding], level: Level) -> Vec<&'static str> {
    findings
        .iter()
        .filter(|finding| finding.level == level)
        .map(|finding| finding.code)
        .collect()
}

#[test]
fn what_the_store_writes_is_well() {
    let store = Store::new();
    let notes = store.notes();
    assert_eq!(codes(&notes.doctor(false), Level::Well), ["notes"]);
    assert!(!store.root().exists(), "looking makes nothing");
    for address in ["a", "@project/MAP", "@self/a", "@model/a", "@human/a"] {
        let content =
            "# A\n\nSee @human/a, `@self/a.md` and [it](a.md). Mail me@example.org, use @scope/package, @agents/*/x.\n";
        ok(&notes, "notes_write", json!({ "address": address, "content": content }));
    }
    ok(
        &notes,
        "notes_write",
        json!({ "address": "@project/a", "content": "x" }),
    );
    // What a review of the notes leaves beside them is ours as well.
    fs::create_dir(store.root().join(".git")).unwrap();
    fs::create_dir(store.root().join("dreams")).unwrap();
    let findings = notes.doctor(false);
    assert_eq!(findings.len(), 1, "{findings:?}");
}

#[test]
fn every_kind_of_wrong_is_found() {
    let store = Store::new();
    let project = store.project();
    let put = |path: &str, text: &str| {
        let file = store.put(path, text);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    };
    put(
        &format!("{project}/MAP.md"),
        "- [gone](gone.md)\n- `plans/also-gone.md`\n- [crumpled](c.md)\n- [there](there.md)\n",
    );
    put(
        &format!("{project}/c.md"),
        "---\ncrumpledAt: 2026-11-30T12:00:00Z\n---\nx",
    );
    put(&format!("{project}/there.md"), "see @project/nothing.md and @human/bad");
    put(
        "human/bad.md",
        "---\norigin: me\ncreatedAt: yesterday\norigin: self\n---\nx",
    );
    put("human/unclosed.md", "---\ntitle: x\n");
    put("human/control\u{7}.md", "x");
    put("human/readme.txt", "x");
    fs::write(store.file("human/latin.md"), b"\xff").unwrap();
    symlink("/etc", store.file("human/link")).unwrap();
    let outside = store.temp.path().join("outside");
    fs::create_dir_all(outside.join("other")).unwrap();
    fs::write(outside.join("other/a.md"), "see @human/none").unwrap();
    symlink(&outside, store.file("agents")).unwrap();
    fs::create_dir(store.file("models")).unwrap();
    symlink("/etc", store.file("models/evil")).unwrap();
    put("stranger", "x");
    let leftover = put("human/.notesoup-0123456789abcdef.tmp", "half");
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    File::options()
        .write(true)
        .open(&leftover)
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
    let findings = store.notes().doctor(false);
    let mut wrong = codes(&findings, Level::Wrong);
    wrong.sort_unstable();
    let expected = [
        "dead_address",
        "frontmatter",
        "frontmatter",
        "leftover",
        "link_out",
        "link_out",
        "map_entry",
        "map_entry",
        "map_entry",
        "not_utf8",
        "unnameable",
    ];
    assert_eq!(wrong, expected, "{findings:#?}");
    let mut notes = codes(&findings, Level::Note);
    notes.sort_unstable();
    assert_eq!(
        notes,
        [
            "frontmatter",
            "frontmatter",
            "link",
            "open",
            "open",
            "strangers",
            "strangers"
        ],
        "{findings:#?}"
    );
    // What is safe is put right, once.
    let fixed = store.notes().doctor(true);
    let mut fixed = codes(&fixed, Level::Fixed);
    fixed.sort_unstable();
    assert_eq!(fixed, ["leftover", "open", "open"]);
    assert!(!leftover.exists());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_ne!(
        mode(&outside.join("other/a.md")) & 0o044,
        0,
        "nothing outside is touched"
    );
    assert_eq!(mode(&store.file("human/latin.md")), 0o600);
    assert!(codes(&store.notes().doctor(true), Level::Fixed).is_empty());
}

#[test]
fn notes_of_a_checkout_that_was_moved_are_named() {
    let store = Store::new();
    let at = |folder: &str| {
        let cwd = store.temp.path().join(folder);
        fs::create_dir_all(&cwd).unwrap();
        Notes::open(Identity {
            cwd,
            project: None,
            ..store.identity()
        })
    };
    ok(
        &at("old/app"),
        "notes_write",
        json!({ "address": "@project/a", "content": "x" }),
    );
    let key = at("old/app").homes().project().unwrap().key.clone();
    fs::create_dir_all(store.temp.path().join("new")).unwrap();
    fs::rename(store.temp.path().join("old/app"), store.temp.path().join("new/app")).unwrap();
    let moved = at("new/app").doctor(false);
    let orphan = moved.iter().find(|finding| finding.code == "orphan_project").unwrap();
    assert_eq!(orphan.level, Level::Wrong);
    assert!(orphan.remedy.as_ref().unwrap().contains(&key), "{orphan:?}");
    // The remedy works.
    let adopted = Notes::open(Identity {
        cwd: store.temp.path().join("new/app"),
        project: Some(key),
        ..store.identity()
    });
    assert_eq!(adopted.whole("@project/a").unwrap().body, "x");
    let elsewhere = at("other").doctor(false);
    assert_eq!(codes(&elsewhere, Level::Note), ["orphan_project"]);
}
