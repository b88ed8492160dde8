//! A writer that is killed at any moment leaves the old note or the new one, and no litter that lasts.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Chance, Store, Worker, ok};

/// How often a writer is killed.
const KILLS: usize = 1000;
const THREADS: usize = 2;
/// How many calls a writer is handed.
const CALLS: usize = 12;
const HERE: &str = "@project/a";
const THERE: &str = "@self/deep/b";
const FILLER: &str = "0123456789abcdef";

#[test]
fn a_killed_writer_leaves_the_old_note_or_the_new_one() {
    let mut chance = Chance::new();
    let seeds: Vec<u64> = (0..THREADS).map(|_| chance.below(u64::MAX)).collect();
    thread::scope(|scope| {
        for seed in seeds {
            scope.spawn(move || {
                let mut life = Life::new(Chance(seed));
                (0..KILLS / THREADS).for_each(|kill| life.kill(kill));
                assert!(
                    life.mid_work > KILLS / THREADS / 2,
                    "only {} kills were in the work",
                    life.mid_work
                );
            });
        }
    });
}

/// A note and what is known of it.
struct Life {
    store: Store,
    chance: Chance,
    number: u64,
    at: String,
    /// How many kills came after some work was acknowledged and before all was.
    mid_work: usize,
}

impl Life {
    fn new(chance: Chance) -> Self {
        let store = Store::new();
        ok(
            &store.notes(),
            "notes_write",
            json!({ "address": HERE, "content": body(0) }),
        );
        Self {
            store,
            chance,
            number: 0,
            at: HERE.to_owned(),
            mid_work: 0,
        }
    }

    /// Lets a process write, kills it at some moment, and looks at what is there.
    fn kill(&mut self, kill: usize) {
        let notes = self.store.notes();
        let mut worker = Worker::start(&self.store);
        let sent = self.hand_in(&mut worker);
        // At any moment of the next write: wait for some of them, then for a part of one.
        let mut acknowledged = 0;
        let expect_ok = |outcome: Value| assert_eq!(outcome["ok"], true, "kill {kill}: {outcome}");
        for _ in 0..self.chance.below(4) {
            expect_ok(worker.receive().expect("the worker is at work"));
            acknowledged += 1;
        }
        thread::sleep(Duration::from_micros(self.chance.below(1500)));
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
        while let Some(outcome) = worker.receive() {
            expect_ok(outcome);
            acknowledged += 1;
        }
        self.mid_work += usize::from(acknowledged > 0 && acknowledged < CALLS);
        // What is there is the last acknowledged state, or the one that was being made.
        let possible = &sent[acknowledged..(acknowledged + 2).min(sent.len())];
        let there: Vec<(u64, String)> = [HERE, THERE]
            .into_iter()
            .filter_map(|address| Some((number_of(&notes.whole(address).ok()?.body), address.to_owned())))
            .collect();
        assert_eq!(there.len(), 1, "kill {kill}: {there:?} of {possible:?}");
        assert!(
            possible.contains(&there[0]),
            "kill {kill}: {there:?} is none of {possible:?}"
        );
        (self.number, self.at) = there[0].clone();
        // The next operation works, and clears away what the dead one left.
        let read = ok(&notes, "notes_read", json!({ "address": self.at }));
        assert_eq!(read["body"]["next_offset_chars"], Value::Null);
        let litter = self.store.litter();
        assert!(litter.is_empty(), "kill {kill}: {litter:?}");
        let update = json!({ "address": self.at, "edits": [edit(self.number, self.number + 1)] });
        ok(&notes, "notes_update", update);
        self.number += 1;
    }

    /// Hands in writes, updates, crumples and renames, more than will be done, and gives the state before and after
    /// each.
    fn hand_in(&mut self, worker: &mut Worker) -> Vec<(u64, String)> {
        let mut sent = vec![(self.number, self.at.clone())];
        for _ in 0..CALLS {
            let (last, address) = sent.last().cloned().unwrap();
            let next = last + 1;
            let edits = json!([edit(last, next)]);
            let (tool, input, state) = match self.chance.below(4) {
                0 => (
                    "notes_write",
                    json!({ "address": address, "content": body(next) }),
                    (next, address),
                ),
                1 => {
                    let other = if address == HERE { THERE } else { HERE };
                    (
                        "notes_update",
                        json!({ "address": address, "rename_to": other }),
                        (last, other.to_owned()),
                    )
                }
                2 => {
                    let input = json!({ "address": address, "crumpled": next % 2 == 0, "edits": edits });
                    ("notes_update", input, (next, address))
                }
                _ => (
                    "notes_update",
                    json!({ "address": address, "edits": edits }),
                    (next, address),
                ),
            };
            worker.send(tool, &input);
            sent.push(state);
        }
        sent
    }
}

fn body(number: u64) -> String {
    format!("[{number}]\n{}\n[{number}]\n", FILLER.repeat(100))
}

/// The number at both ends; a torn note would have two.
fn number_of(body: &str) -> u64 {
    let number = body.split(['[', ']']).nth(1).unwrap().parse().unwrap();
    assert_eq!(body, self::body(number), "a torn note");
    number
}

fn edit(from: u64, to: u64) -> Value {
    json!({ "oldText": body(from), "newText": body(to) })
}
