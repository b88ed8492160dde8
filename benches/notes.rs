//! How long the notes take: a boot, a list, a search and a durable write over 10,000 notes of 10 KB.
//!
//! `cargo bench --bench notes` prints the least and the middle of many runs. `benches/notes.sh` compares the program
//! with `rg`, `find` and `cp` on the same files. `cargo bench --bench notes -- make DIR` only makes them.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and ends when something fails"
)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notesoup::notes::{Identity, Notes};
use serde_json::json;

const NOTES: usize = 10_000;
const NOTE_BYTES: usize = 10_000;
const RUNS: usize = 30;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [command, folder] = args.as_slice()
        && command == "make"
    {
        return make(Path::new(folder));
    }
    let temp = tempfile::tempdir().unwrap();
    make(temp.path());
    let notes = Notes::open(Identity {
        root: temp.path().to_owned(),
        session_id: "bench".to_owned(),
        cwd: PathBuf::from("/"),
        project: Some("bench".to_owned()),
        ..Identity::default()
    });
    let call = |tool: &str, input: serde_json::Value| drop(black_box(notes.call(tool, &input).unwrap()));
    time("boot snapshot", || drop(black_box(notes.shelves())));
    time("notes_list", || call("notes_list", json!({})));
    time("notes_search, rare text", || {
        call("notes_search", json!({ "query": "NEEDLE in" }))
    });
    time("notes_search, text of no note", || {
        call("notes_search", json!({ "query": "zyzzyva" }))
    });
    time("notes_search, common text", || {
        call("notes_search", json!({ "query": "the" }))
    });
    let mut count = 0;
    time("notes_write, durable", || {
        count += 1;
        let content = format!("{count}\n{}", "x".repeat(NOTE_BYTES));
        call("notes_write", json!({ "address": "@human/bench", "content": content }));
    });
}

/// Prose of common words, the same every time; one note in a thousand has the needle.
fn make(root: &Path) {
    const WORDS: &[&str] = &[
        "the", "reset", "point", "of", "a", "window", "is", "found", "from", "client", "figures", "and", "notes",
        "that", "outlive", "it", "are", "plain", "files", "with", "decision", "because", "test", "shows", "how",
        "error", "was", "made",
    ];
    let folder = root.join("project/bench");
    fs::create_dir_all(&folder).unwrap();
    let mut state = 1_u64;
    let mut next = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for number in 0..NOTES {
        let mut text = format!(
            "---\norigin: self\ncreatedAt: 2026-11-01T12:00:00.000+00:00\nupdatedAt: 2026-11-{:02}T12:{:02}:00.000+00:00\n---\n\n# Note {number}\n\n",
            next(30) + 1,
            next(60)
        );
        if number % 1000 == 7 {
            text.push_str("a Needle in the hay\n");
        }
        while text.len() < NOTE_BYTES {
            text.push_str(WORDS[next(WORDS.len())]);
            text.push(if next(12) == 0 { '\n' } else { ' ' });
        }
        fs::write(folder.join(format!("note-{number:05}.md")), text).unwrap();
    }
}

fn time(what: &str, mut run: impl FnMut()) {
    run();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("{what:32} least {:8.2?}  middle {:8.2?}", times[0], times[RUNS / 2]);
}
