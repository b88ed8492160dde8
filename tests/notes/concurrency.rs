//! Many processes at once: nothing that was acknowledged is lost, and all agree on one order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Chance, Store, Worker, ok};

#[test]
fn sixteen_processes_append_five_hundred_lines_each() {
    const PROCESSES: usize = 16;
    const APPENDS: usize = 500;
    let store = Store::new();
    ok(
        &store.notes(),
        "notes_write",
        json!({ "address": "@project/log", "content": "" }),
    );
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let store = &store;
            scope.spawn(move || {
                let mut worker = Worker::start(store);
                for line in 0..APPENDS {
                    let input = json!({ "address": "@project/log", "append": format!("{process} {line}\n") });
                    let outcome = worker.call("notes_update", &input).unwrap();
                    assert_eq!(outcome["ok"], true, "{outcome}");
                }
                worker.finish();
            });
        }
    });
    let body = store.notes().whole("@project/log").unwrap().body;
    let mut next = vec![0; PROCESSES];
    for line in body.lines() {
        let (process, number) = line.split_once(' ').unwrap();
        let next = &mut next[process.parse::<usize>().unwrap()];
        assert_eq!(
            number.parse::<usize>().unwrap(),
            *next,
            "a process's lines are in its order"
        );
        *next += 1;
    }
    assert_eq!(next, [APPENDS; PROCESSES]);
    assert_eq!(store.litter(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn of_two_writers_with_the_same_version_exactly_one_wins() {
    let store = Store::new();
    let first = ok(
        &store.notes(),
        "notes_write",
        json!({ "address": "@project/race", "content": "0" }),
    );
    let mut version = first["version"].clone();
    let mut workers: Vec<Worker> = (0..4).map(|_| Worker::start(&store)).collect();
    for round in 0..100 {
        for (writer, worker) in workers.iter_mut().enumerate() {
            let content = format!("{round} by {writer}");
            let input = json!({ "address": "@project/race", "content": content, "if_version": version });
            assert!(worker.send("notes_write", &input));
        }
        let outcomes: Vec<Value> = workers.iter_mut().map(|worker| worker.receive().unwrap()).collect();
        let winners: Vec<&Value> = outcomes.iter().filter(|outcome| outcome["ok"] == true).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        let losers = outcomes.iter().filter(|outcome| outcome["error"]["code"] == "conflict");
        assert_eq!(losers.count(), 3);
        version = winners[0]["data"]["version"].clone();
    }
    let whole = store.notes().whole("@project/race").unwrap();
    assert_eq!(json!(whole.version), version);
    workers.into_iter().for_each(Worker::finish);
}

/// An acknowledged change: what was at the addresses before, and is now; and when it was asked for and answered.
#[derive(Debug, Clone)]
struct Entry {
    asked: Instant,
    answered: Instant,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    /// A note went from one version (or nothing) to another, and is crumpled now or not.
    Changed {
        address: String,
        from: Option<String>,
        to: String,
        crumpled: bool,
    },
    /// A note of this version went from one address to another.
    Moved { from: String, to: String, version: String },
}

#[test]
fn the_journal_of_acknowledged_changes_replays_to_what_is_on_disk() {
    const NOTES: u64 = 50;
    // A minute or more when it is asked for; long enough for thousands of changes else.
    let seconds = std::env::var("NOTESOUP_SOAK_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(6);
    let store = Store::new();
    let stop = Arc::new(AtomicBool::new(false));
    let mut chance = Chance::new();
    let seeds: Vec<u64> = (0..6).map(|_| chance.below(u64::MAX)).collect();
    let journals: Vec<Vec<Entry>> = thread::scope(|scope| {
        let store = &store;
        let writers: Vec<_> = seeds
            .into_iter()
            .enumerate()
            .map(|(id, seed)| {
                let stop = Arc::clone(&stop);
                scope.spawn(move || write_at_random(store, id, Chance(seed), &stop, NOTES))
            })
            .collect();
        let reader = {
            let stop = Arc::clone(&stop);
            scope.spawn(move || read_at_random(store, &stop, NOTES))
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let changes: usize = journals.iter().map(Vec::len).sum();
    assert!(changes > 200, "only {changes} changes");
    let replayed = replay(&journals).expect("no order explains these changes");
    let folder = store.file(&store.project());
    let on_disk: BTreeMap<String, String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let address = format!("@project/{name}");
            let version = store.notes().whole(&address).unwrap().version;
            (address, version)
        })
        .collect();
    assert_eq!(replayed, on_disk);
    assert_eq!(store.litter(), Vec::<std::path::PathBuf>::new());
}

fn write_at_random(store: &Store, id: usize, mut chance: Chance, stop: &AtomicBool, notes: u64) -> Vec<Entry> {
    let mut worker = Worker::start(store);
    let mut journal = Vec::new();
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        // Unique, so that every version occurs once in the history of all notes.
        let mark = format!("{id}-{count}\n");
        let address = format!("@project/n{}.md", chance.below(notes));
        let other = format!("@project/n{}.md", chance.below(notes));
        let (tool, input) = match chance.below(10) {
            0..3 => ("notes_write", json!({ "address": address, "content": mark })),
            3..6 => ("notes_update", json!({ "address": address, "append": mark })),
            6..8 => (
                "notes_update",
                json!({ "address": address, "append": mark, "crumpled": chance.below(2) == 0 }),
            ),
            _ => ("notes_update", json!({ "address": address, "rename_to": other })),
        };
        let asked = Instant::now();
        let outcome = worker.call(tool, &input).unwrap();
        let answered = Instant::now();
        let data = &outcome["data"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        if outcome["ok"] == false {
            let code = outcome["error"]["code"].as_str().unwrap();
            assert!(
                ["not_found", "already_exists", "nothing_to_do"].contains(&code),
                "{outcome}"
            );
            continue;
        }
        let change = if data["renamed_from"].is_string() {
            Change::Moved {
                from: text(&data["renamed_from"]),
                to: text(&data["address"]),
                version: text(&data["version"]),
            }
        } else {
            Change::Changed {
                address: text(&data["address"]),
                from: data["previous_version"].as_str().map(str::to_owned),
                to: text(&data["version"]),
                crumpled: data["crumpled_at"].is_string(),
            }
        };
        journal.push(Entry {
            asked,
            answered,
            change,
        });
    }
    worker.finish();
    journal
}

/// Readers see whole notes only: each has frontmatter and lines of the writers.
fn read_at_random(store: &Store, stop: &AtomicBool, notes: u64) {
    let mut worker = Worker::start(store);
    let mut chance = Chance(7);
    while !stop.load(Ordering::Relaxed) {
        let address = format!("@project/n{}.md", chance.below(notes));
        let outcome = worker
            .call("notes_read", &json!({ "address": address, "limit_chars": 50_000 }))
            .unwrap();
        if outcome["ok"] == true {
            assert!(outcome["data"]["created_at"].is_string(), "{outcome}");
            let body = outcome["data"]["body"]["text"].as_str().unwrap();
            assert!(
                body.ends_with('\n') && body.lines().all(|line| line.contains('-')),
                "{body:?}"
            );
        } else {
            assert_eq!(outcome["error"]["code"], "not_found", "{outcome}");
        }
        let found = worker
            .call("notes_search", &json!({ "query": "-1", "limit": 1 }))
            .unwrap();
        assert_eq!(found["ok"], true, "{found}");
        assert_eq!(found["data"]["skipped"]["unreadable"], 0, "{found}");
    }
    worker.finish();
}

/// A version, and whether it is crumpled.
type Note = (String, bool);
/// What is at each address.
type State = BTreeMap<String, Note>;
/// What a change puts at addresses, or what was there before it.
type Writes = Vec<(String, Option<Note>)>;

/// Finds an order of the changes that explains each of them, that keeps each process's own order, and in which no
/// change comes before one that was answered when it was asked for. Gives what must be there in the end.
fn replay(journals: &[Vec<Entry>]) -> Option<BTreeMap<String, String>> {
    let mut state = State::new();
    let mut done = vec![0; journals.len()];
    let mut seen = BTreeSet::new();
    // The processes chosen so far, each with the state before its change.
    let mut chosen: Vec<(usize, Writes)> = Vec::new();
    let mut first = 0;
    loop {
        let next = |process: usize| journals[process].get(done[process]);
        let Some(soonest) = (0..journals.len()).filter_map(next).map(|entry| entry.answered).min() else {
            return Some(
                state
                    .into_iter()
                    .map(|(address, (version, _))| (address, version))
                    .collect(),
            );
        };
        let candidate = (first..journals.len()).find_map(|process| {
            let entry = next(process).filter(|entry| entry.asked <= soonest)?;
            Some((process, apply(&state, &entry.change)?))
        });
        if let Some((process, writes)) = candidate {
            let before = writes.into_iter().map(|(address, value)| {
                let old = match value {
                    Some(value) => state.insert(address.clone(), value),
                    None => state.remove(&address),
                };
                (address, old)
            });
            chosen.push((process, before.collect()));
            done[process] += 1;
            first = if seen.insert(done.clone()) { 0 } else { journals.len() };
        } else {
            // Nothing fits: take the last choice back, and try the next process there.
            let (process, before) = chosen.pop()?;
            done[process] -= 1;
            for (address, old) in before.into_iter().rev() {
                match old {
                    Some(old) => state.insert(address, old),
                    None => state.remove(&address),
                };
            }
            first = process + 1;
        }
    }
}

/// What a change writes where, if it can have happened in this state.
fn apply(state: &State, change: &Change) -> Option<Writes> {
    match change {
        Change::Changed {
            address,
            from,
            to,
            crumpled,
        } => {
            let there = state.get(address).map(|(version, _)| version);
            (there == from.as_ref()).then(|| vec![(address.clone(), Some((to.clone(), *crumpled)))])
        }
        Change::Moved { from, to, version } => {
            let note = state.get(from).filter(|(there, _)| there == version)?;
            let free = state.get(to).is_none_or(|(_, crumpled)| *crumpled);
            free.then(|| vec![(from.clone(), None), (to.clone(), Some(note.clone()))])
        }
    }
}
