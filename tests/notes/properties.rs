//! What must hold for any input.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use notesoup::notes::Note;
use notesoup::outcome::to_json;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::support::{Chance, Store, ok};

/// Texts of pieces that have a meaning somewhere, and of any characters.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "---",
        "\n",
        "\r\n",
        "---\n",
        "origin: self\n",
        "createdAt: x\n",
        "key: value\n",
        "  indented\n",
        "\u{feff}",
        "# ",
        "- item\n",
        "\0",
        "\t",
        "\"",
        "\\",
        "🥣",
        "e\u{301}",
        "日本",
        "\u{2028}",
        ":",
        "a",
        " ",
    ]);
    let piece = prop_oneof![pieces.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn check<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config).run(&strategy, test).unwrap();
}

#[test]
fn a_file_is_what_was_read_from_it() {
    check(3000, text(), |text| {
        let (again, faithful) = Note::parse(&text).to_text();
        prop_assert_eq!(again, text);
        prop_assert!(faithful);
        Ok(())
    });
}

#[test]
fn any_body_is_read_back_whatever_the_file_was_before() {
    let store = Store::new();
    let notes = store.notes();
    let file = store.file("human/a.md");
    check(600, (text(), text(), text()), |(before, body, append)| {
        store.put("human/a.md", &before);
        let unknown: Vec<String> = before
            .lines()
            .filter(|line| line.starts_with("key: "))
            .map(str::to_owned)
            .collect();
        let had_header = Note::parse(&before).has_header();
        ok(&notes, "notes_write", json!({ "address": "@human/a", "content": body }));
        let stripped = Note::strip_own_header(&body, Some(&Note::parse(&before))).unwrap_or(&body);
        prop_assert_eq!(&notes.whole("@human/a").unwrap().body, stripped);
        if had_header {
            let after = fs::read_to_string(&file).unwrap();
            let head = after.strip_suffix(stripped).unwrap();
            let header_of_before = before.strip_suffix(&Note::parse(&before).body).unwrap();
            for line in unknown.iter().filter(|line| header_of_before.contains(line.as_str())) {
                prop_assert!(head.contains(line.as_str()), "{:?} is lost from {:?}", line, head);
            }
        }
        if !append.is_empty() {
            ok(
                &notes,
                "notes_update",
                json!({ "address": "@human/a", "append": append }),
            );
            let now = notes.whole("@human/a").unwrap().body;
            prop_assert!(now.starts_with(stripped) && now.ends_with(&append));
        }
        Ok(())
    });
}

#[test]
fn any_answer_stays_within_its_bound_and_windows_join() {
    let store = Store::new();
    let notes = store.notes();
    let piece = prop_oneof![
        Just("\u{1}".to_owned()),
        Just("\"\\".to_owned()),
        Just("日本\n".to_owned()),
        text()
    ];
    let strategy = (piece, 1_usize..60_000, 1_u32..50_000, text());
    check(40, strategy, |(piece, length, limit, query)| {
        // Up to a line of a megabyte.
        let mut body = piece.repeat(length.min(400_000 / piece.len().max(1)));
        body.push('z');
        ok(&notes, "notes_write", json!({ "address": "@human/a", "content": body }));
        let body = notes.whole("@human/a").unwrap().body;
        ok(
            &notes,
            "notes_update",
            json!({ "address": "@human/a", "append": piece.repeat(300) + "x" }),
        );
        ok(&notes, "notes_write", json!({ "address": "@human/a", "content": body }));
        ok(&notes, "notes_list", json!({}));
        for input in [json!({ "query": query }), json!({ "query": "z" })] {
            if let Ok(answer) = notes.call("notes_search", &input) {
                prop_assert!(answer.text.len() <= 32 * 1024);
                prop_assert!(to_json(&Ok(answer)).to_string().len() <= 32 * 1024);
            }
        }
        let total = body.chars().count();
        let mut joined = String::new();
        let mut offset = 0;
        let limit = limit.max(u32::try_from(total / 30 + 1).unwrap()).min(50_000);
        loop {
            let input = json!({ "address": "@human/a", "offset_chars": offset, "limit_chars": limit });
            let read = ok(&notes, "notes_read", input);
            joined.push_str(read["body"]["text"].as_str().unwrap());
            match read["body"]["next_offset_chars"].as_u64() {
                Some(next) => {
                    prop_assert!(next > offset, "the window advances");
                    offset = next;
                }
                None => break,
            }
        }
        prop_assert_eq!(joined, body);
        Ok(())
    });
}

/// Everything below a folder: files with their bytes, links, and what else there is.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            tree.extend(self::tree(&path));
            tree.insert(path, Vec::new());
        } else if metadata.is_file() {
            let bytes = fs::read(&path).unwrap();
            tree.insert(path, bytes);
        } else {
            tree.insert(
                path.clone(),
                fs::read_link(&path)
                    .map(|to| to.into_os_string().into_encoded_bytes())
                    .unwrap_or_default(),
            );
        }
    }
    tree
}

#[test]
fn no_hostile_address_reaches_out_of_the_homes() {
    const PIECES: &[&str] = &[
        "..",
        ".",
        "",
        "/",
        "//",
        "\\",
        "\\..\\",
        "\0",
        "@",
        "@self",
        "@self/",
        "@project/",
        "@human/",
        "@model/",
        "@agents/",
        "@agents/../",
        "@models/..",
        "@human/../",
        "~",
        "~/",
        "%2e%2e",
        "%2f",
        "..%c0%af",
        "link",
        "link/",
        "linked.md",
        "a",
        "a.md",
        ".md",
        "\n",
        "\u{202e}",
        "\u{2024}\u{2024}",
        "．．",
        "/etc/passwd",
        "C:",
        "$HOME",
        "`id`",
        " ",
        "é",
        "e\u{301}",
        ".versions",
        ".versions/.locks/00",
        "../../outside/victim",
        "con",
        "-",
        "*",
        "?",
    ];
    let store = Store::new();
    let outside = store.temp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("victim.md"), "unharmed").unwrap();
    store.put("human/target.md", "target");
    store.put("agents/other/theirs.md", "theirs");
    for home in [
        "human",
        "agents/claude",
        "models/claude-opus-4-1",
        "pi/session/session-1",
        &store.project(),
    ] {
        fs::create_dir_all(store.file(home)).unwrap();
        symlink(&outside, store.file(home).join("link")).unwrap();
        symlink(outside.join("victim.md"), store.file(home).join("linked.md")).unwrap();
    }
    let before = tree(&outside);
    let siblings = fs::read_dir(store.temp.path()).unwrap().count();
    let notes = store.notes();
    let mut chance = Chance::new();
    for _ in 0..10_000 {
        let count = 1 + chance.below(6);
        let mut address: String = (0..count)
            .map(|_| PIECES[chance.below(PIECES.len() as u64) as usize])
            .collect();
        if chance.below(50) == 0 {
            address = address.repeat(200);
        }
        let input = match chance.below(4) {
            0 => ("notes_read", json!({ "address": address })),
            1 => ("notes_write", json!({ "address": address, "content": "x" })),
            2 => ("notes_update", json!({ "address": address, "append": "x" })),
            _ => (
                "notes_update",
                json!({ "address": "@human/target", "rename_to": address }),
            ),
        };
        match notes.call(input.0, &input.1) {
            Ok(answer) if answer.data["renamed_from"].is_string() => {
                let back = json!({ "address": answer.data["address"], "rename_to": "@human/target" });
                ok(&notes, "notes_update", back);
            }
            Ok(_) => {}
            Err(refusal) => {
                let known = [
                    "invalid_address",
                    "too_large",
                    "io_error",
                    "not_found",
                    "invalid_scope",
                    "already_exists",
                    "nothing_to_do",
                    "invalid_arguments",
                ];
                assert!(known.contains(&refusal.code), "{address:?}: {refusal:?}");
            }
        }
    }
    assert_eq!(tree(&outside), before);
    // Only the state folder of the access counts is new beside the root.
    assert!(fs::read_dir(store.temp.path()).unwrap().count() <= siblings + 1);
    assert_eq!(
        fs::read_to_string(store.file("agents/other/theirs.md")).unwrap(),
        "theirs"
    );
    for entry in fs::read_dir(store.root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            ["human", "agents", "models", "pi", "project", ".versions"].contains(&name.as_str()),
            "{name}"
        );
    }
    for home in ["agents", "models", "pi"] {
        let count = if home == "agents" { 2 } else { 1 };
        assert_eq!(fs::read_dir(store.file(home)).unwrap().count(), count, "{home}");
    }
}

/// What a pattern means, as plainly as it can be said.
fn naive(pattern: &[char], address: &[char], starts_part: bool) -> bool {
    let stars = pattern.iter().take_while(|c| **c == '*').count();
    let behind = |from: usize, count: usize| naive(&pattern[count..], &address[from..], false);
    match (pattern.first(), stars) {
        (None, _) => address.is_empty(),
        (_, 2..) if starts_part && pattern.get(stars) == Some(&'/') => {
            let rest = &pattern[stars + 1..];
            let slashes = (0..address.len()).filter(|at| address[*at] == '/');
            naive(rest, address, true) || slashes.into_iter().any(|at| naive(rest, &address[at + 1..], true))
        }
        (_, 2..) => (0..=address.len()).any(|from| behind(from, stars)),
        (_, 1) => (0..=address.len())
            .take_while(|to| !address[..*to].contains(&'/'))
            .any(|from| behind(from, 1)),
        (Some('?'), _) => address.first().is_some_and(|c| *c != '/') && behind(1, 1),
        (Some(literal), _) => address.first() == Some(literal) && naive(&pattern[1..], &address[1..], *literal == '/'),
    }
}

#[test]
fn patterns_mean_what_two_other_matchers_say() {
    let store = Store::new();
    let addresses = [
        "a.md",
        "b.md",
        "ab.md",
        "a/a.md",
        "a/b.md",
        "a/b/a.md",
        "b/a/a/b.md",
        "é.md",
        "a/é/b.md",
        "a[b].md",
        "{a,b}.md",
    ];
    for address in addresses {
        store.put(&format!("human/{address}"), "x");
        store.put(&format!("pi/session/session-1/{address}"), "x");
    }
    let notes = store.notes();
    let all: Vec<String> = addresses
        .iter()
        .flat_map(|a| [(*a).to_owned(), format!("@human/{a}")])
        .collect();
    let pieces = [
        "*", "**", "?", "/", "a", "b", "é", ".md", "**/", "/**", "@human/", "[b]", "{a,b}", "@*/",
    ];
    let strategy =
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..7).prop_map(|pieces| pieces.concat());
    check(3000, strategy, |pattern| {
        let Ok(answer) = notes.call("notes_list", &json!({ "pattern": pattern, "limit": 1000 })) else {
            return Ok(());
        };
        let mut listed: Vec<&str> = answer.data["notes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["address"].as_str().unwrap())
            .collect();
        listed.sort_unstable();
        let characters: Vec<char> = pattern.chars().collect();
        let mut expected: Vec<&str> = all
            .iter()
            .filter(|address| naive(&characters, &address.chars().collect::<Vec<_>>(), true))
            .map(String::as_str)
            .collect();
        expected.sort_unstable();
        prop_assert_eq!(&listed, &expected, "{}", pattern);
        // The usual matcher means the same, where `**` stands for whole parts and nothing else is special to it.
        let whole_parts = pattern.split('/').all(|part| !part.contains("**") || part == "**");
        if whole_parts && !pattern.contains(['[', '{', '}']) {
            let glob = GlobBuilder::new(&pattern)
                .literal_separator(true)
                .build()
                .unwrap()
                .compile_matcher();
            // Its `?` is a byte, ours a character.
            let ascii = |address: &&str| address.is_ascii();
            let candidates = all.iter().map(String::as_str).filter(ascii);
            let mut by_globset: Vec<&str> = candidates.filter(|address| glob.is_match(address)).collect();
            by_globset.sort_unstable();
            let listed: Vec<&str> = listed.iter().copied().filter(ascii).collect();
            prop_assert_eq!(&listed, &by_globset, "{}", pattern);
        }
        Ok(())
    });
}
