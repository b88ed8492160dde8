//! The reader and the slow second reader say the same of random transcripts.

use std::time::{Duration, Instant};

use notesoup::history::record::{self, Cut, HandedBack};
use notesoup::history::{Head, Role, ToolStatus};
use notesoup::outcome::Outcome;
use serde_json::json;

use crate::generator::{Made, Taste, make};
use crate::oracle::{self, At, Expected};
use crate::support::Lab;

/// How long random transcripts are tried at most; on a slow machine fewer are.
const BUDGET: Duration = Duration::from_secs(2);

pub fn name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Context => "context",
    }
}

fn status(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Error => "error",
        ToolStatus::Unfinished => "unfinished",
    }
}

/// Runs `check` on made-up transcripts until the budget is spent; at least a hundred.
pub fn many(count: u64, taste: Taste, mut check: impl FnMut(u64, &Made)) {
    let started = Instant::now();
    for seed in 0..count {
        if seed > 99 && started.elapsed() > BUDGET {
            return;
        }
        let size = 5 + usize::try_from(seed % 60).unwrap();
        check(seed, &make(seed, size, taste));
    }
}

pub fn remember(lab: &Lab, made: &Made) {
    for cut in &made.cuts {
        let messages = cut
            .iter()
            .map(|(rows, tool_use_ids)| HandedBack {
                rows: rows.clone(),
                tool_use_ids: tool_use_ids.clone(),
            })
            .collect();
        record::write(&lab.state(), &lab.path, &Cut { messages }).unwrap();
    }
}

fn agree(seed: u64, made: &Made, with_record: bool) -> bool {
    let lab = Lab::with(&made.bytes);
    let cuts = if with_record { made.cuts.as_slice() } else { &[] };
    if with_record {
        remember(&lab, made);
    }
    let expected = oracle::read(&made.bytes, &made.head, cuts);
    let found = lab.shown(Head::Uuid(&made.head));
    let story = match (expected, found) {
        (Err(code), Err(error)) => {
            assert_eq!(error.code(), code, "seed {seed}: {error}");
            return false;
        }
        (Err(code), Ok(_)) => panic!("seed {seed}: expected a refusal, {code}"),
        (Ok(_), Err(error)) => panic!("seed {seed}: {error}"),
        (Ok(story), Ok(found)) => {
            let found: Vec<Expected> = found
                .into_iter()
                .map(|shown| Expected {
                    seq: shown.seq,
                    ordinal: shown.window_id.rsplit_once(':').unwrap().1.parse().unwrap(),
                    role: name(shown.role),
                    tool: shown.tool,
                    status: shown.tool_status.map(status),
                    text: shown.text,
                })
                .collect();
            for (expected, found) in story.events.iter().zip(&found) {
                assert_eq!(expected, found, "seed {seed}");
            }
            assert_eq!(story.events.len(), found.len(), "seed {seed}");
            story
        }
    };
    addresses(seed, &lab, made, &story);
    true
}

fn addresses(seed: u64, lab: &Lab, made: &Made, story: &oracle::Story) {
    let read = |seq: u64| lab.call("history_read", json!({"seq": seq}), Head::Uuid(&made.head));
    let last = story.addresses.keys().last().copied().unwrap_or(0);
    for (seq, at) in &story.addresses {
        assert_eq!(&seen(read(*seq)), at, "seed {seed}, seq {seq}");
    }
    for seq in [last + 1, last + 1000] {
        assert_eq!(read(seq).unwrap_err().code, "unknown_seq", "seed {seed}");
    }
    let data = crate::support::data(lab.call("history_windows", json!({}), Head::Uuid(&made.head)));
    let windows = data["windows"].as_array().unwrap();
    let ordinals: Vec<u32> = windows
        .iter()
        .map(|window| {
            window["window_id"]
                .as_str()
                .unwrap()
                .rsplit_once(':')
                .unwrap()
                .1
                .parse()
                .unwrap()
        })
        .collect();
    assert_eq!(ordinals, story.ordinals, "seed {seed}");
}

fn seen(outcome: Outcome) -> At {
    match outcome {
        Ok(answer) => At::Event(answer.data["seq"].as_u64().unwrap()),
        Err(refusal) => match (refusal.code, refusal.details) {
            ("not_an_event", Some(details)) => At::ResultOf(details["seq"].as_u64().unwrap()),
            ("not_an_event", None) => At::Nothing,
            ("not_on_branch", _) => At::NotOnBranch,
            (code, _) => panic!("{code}: {}", refusal.message),
        },
    }
}

#[test]
fn plausible_transcripts_are_read_as_the_slow_reader_reads_them() {
    let mut shown = 0;
    many(3000, Taste::Plausible, |seed, made| {
        shown += usize::from(agree(seed, made, false))
    });
    assert!(shown > 80, "hardly any was shown: {shown}");
}

#[test]
fn with_the_record_of_cuts_too() {
    many(3000, Taste::Plausible, |seed, made| {
        agree(seed + 1_000_000, &make(seed + 1_000_000, 40, Taste::Plausible), true);
        let _ = made;
    });
}

#[test]
fn wild_ones_are_read_or_refused_alike() {
    many(3000, Taste::Wild, |seed, made| {
        agree(seed, made, seed % 2 == 0);
    });
}
