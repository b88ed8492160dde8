//! The end of a transcript by itself: a page of it is the page that all of the transcript gives, and it is used.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use notesoup::history::tools;
use notesoup::history::{Conversation, Head};
use notesoup::outcome::Outcome;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::support::{Lab, boundary, call, lines, result, run, said, user};

/// A long conversation of two windows behind bookkeeping that makes it worth an index; its last row is `said-69`.
fn base() -> String {
    let snapshot = "x".repeat(4_400_000);
    let mut text = format!("{{\"type\":\"file-history-snapshot\",\"snapshot\":\"{snapshot}\"}}\n");
    let mut last: Option<String> = None;
    for round in 0..70 {
        let name = |what: &str| format!("{what}-{round}");
        if round == 9 {
            text.push_str(&lines(&[boundary("boundary", last.as_deref().unwrap())]));
            let mut summary = user("summary", Some("boundary"), "so far");
            summary["isCompactSummary"] = json!(true);
            text.push_str(&lines(&[summary]));
            last = Some("summary".to_owned());
        }
        text.push_str(&lines(&[
            user(&name("user"), last.as_deref(), &format!("prompt {round}")),
            call(&name("call"), &name("user"), &name("message"), &name("id")),
            result(&name("result"), &name("call"), &name("id"), &format!("output {round}")),
            said(&name("said"), &name("result"), &format!("answer {round}")),
        ]));
        last = Some(name("said"));
    }
    text
}

fn end_of(lab: &Lab) -> PathBuf {
    let mut folders = fs::read_dir(lab.state().join("history")).unwrap();
    folders.next().unwrap().unwrap().path().join("end")
}

/// A lab whose conversation was read once.
fn noted() -> (Lab, String) {
    let text = base();
    let lab = Lab::with(&text);
    lab.call("history_list", json!({}), Head::AssumeLast).unwrap();
    assert!(end_of(&lab).exists());
    (lab, text)
}

fn append(lab: &Lab, rows: &[Value]) {
    let mut file = OpenOptions::new().append(true).open(&lab.path).unwrap();
    file.write_all(lines(rows).as_bytes()).unwrap();
}

fn told(outcome: Outcome) -> Result<(Value, String), &'static str> {
    outcome
        .map(|answer| (answer.data, answer.text))
        .map_err(|refusal| refusal.code)
}

fn by_end(lab: &Lab, head: Head<'_>) -> bool {
    Conversation::end(&lab.path, head, &lab.state()).is_some()
}

/// Rows that go on in many ways, sound and not.
fn rows(random: &mut ChaCha8Rng, first: usize, follows: &str) -> Vec<Value> {
    let mut last = follows.to_owned();
    let mut rows = Vec::new();
    let odd = random.random_range(0..3) > 0;
    for number in first..first + random.random_range(1..7) {
        let uuid = format!("new-{number}");
        let old = |random: &mut ChaCha8Rng| random.random_range(0..70);
        let mut row = match random.random_range(0..if odd { 16 } else { 5 }) {
            0 | 1 => user(&uuid, Some(&last), "more"),
            2 => said(&uuid, &last, "an answer"),
            3 => call(&uuid, &last, &format!("m-{number}"), &format!("i-{number}")),
            4 => result(&uuid, &last, &format!("i-{}", number.saturating_sub(1)), "put out"),
            5 => result(&uuid, &last, &format!("id-{}", old(random)), "once more"),
            6 => call(&uuid, &last, &format!("message-{}", old(random)), "i-x"),
            7 => call(&uuid, &last, "m-x", &format!("id-{}", old(random))),
            8 => user(&uuid, Some(&format!("said-{}", old(random))), "instead"),
            9 => user(&format!("user-{}", old(random)), Some(&last), "said otherwise"),
            10 => user(&uuid, None, "anew"),
            11 => boundary(&uuid, &last),
            12 => user(&uuid, Some(&format!("new-{}", number + 1)), "too early"),
            13 => said(&format!("new-{}", random.random_range(0..7)), &last, "maybe again"),
            14 => user(&uuid, Some(&last), "<notesoup window=\"claude:s:7\">"),
            _ => json!({"type": "novelty", "uuid": uuid, "parentUuid": last, "sessionId": "s"}),
        };
        if odd && random.random_range(0..8) == 0 {
            row["isSidechain"] = json!(true);
        } else {
            last = row["uuid"].as_str().unwrap().to_owned();
        }
        rows.push(row);
    }
    rows
}

#[test]
fn a_page_of_the_end_is_a_page_of_all() {
    let (lab, text) = noted();
    let note = fs::read(end_of(&lab)).unwrap();
    let (mut short, mut long, mut noted) = (0, 0, 0);
    for seed in 0..60 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        fs::write(end_of(&lab), &note).unwrap();
        let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
        file.set_len(text.len() as u64).unwrap();
        let before = rows(random, 100, "said-69");
        let follows = if seed % 3 == 0 {
            before.last().unwrap()["uuid"].as_str().unwrap()
        } else {
            "said-69"
        };
        let rows = rows(random, 0, follows);
        if seed % 3 == 0 {
            // The note is made where the conversation is odd, and more follows.
            fs::remove_file(end_of(&lab)).unwrap();
            append(&lab, &before);
            let _ = lab.call("history_list", json!({}), Head::AssumeLast);
            noted += u32::from(end_of(&lab).exists());
        }
        append(&lab, &rows);
        let uuid = match random.random_range(0..4) {
            0 => format!("said-{}", random.random_range(0..70)),
            _ => rows.last().unwrap()["uuid"].as_str().unwrap().to_owned(),
        };
        let head = if seed % 2 == 0 {
            Head::AssumeLast
        } else {
            Head::Uuid(&uuid)
        };
        let all = Conversation::open(&lab.path, head, None, Duration::ZERO);
        for _ in 0..3 {
            let mut input = json!({"limit": random.random_range(1..24)});
            if random.random_range(0..3) == 0 {
                input["roles"] = json!(["tool", "context", "user"]);
            }
            if random.random_range(0..3) == 0 {
                input["before"] = json!(random.random_range(180..300));
            }
            if by_end(&lab, head) {
                short += 1;
            } else {
                long += 1;
            }
            let kept = lab.call("history_list", input.clone(), head);
            let kept = kept.map(|answer| answer.data).map_err(|refusal| refusal.code);
            let read = match &all {
                Ok(all) => {
                    let page = tools::list(all, serde_json::from_value(input.clone()).unwrap());
                    page.map(|page| json!(page)).map_err(|refusal| refusal.code)
                }
                Err(error) => Err(error.code()),
            };
            assert_eq!(kept, read, "seed {seed}, {input}, {head:?}, {rows:#?}");
        }
    }
    assert!(
        short > 25 && long > 25 && noted > 5,
        "{short} by the end, {long} by all, {noted} notes"
    );
}

/// The proof that it is used: what stands before it is not read, neither in the file nor in the index.
#[test]
fn what_stands_before_the_end_is_not_read() {
    let (lab, _) = noted();
    let expected = told(lab.call("history_list", json!({}), Head::AssumeLast));
    fs::remove_file(end_of(&lab).with_file_name("index")).unwrap();
    let modified = fs::metadata(&lab.path).unwrap().modified().unwrap();
    let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
    file.write_all_at(b"\"", 100_000).unwrap();
    file.set_modified(modified).unwrap();
    let all = told(run(&lab.path, None, "history_list", &json!({}), Head::AssumeLast));
    assert_eq!(all, Err("malformed_row"));
    assert_eq!(told(lab.call("history_list", json!({}), Head::AssumeLast)), expected);
    append(&lab, &[user("more", Some("said-69"), "and behind it")]);
    let (_, text) = told(lab.call("history_list", json!({}), Head::Uuid("more"))).unwrap();
    assert!(text.contains("and behind it"), "{text}");
    // More than the end has needs all.
    let all = told(lab.call("history_list", json!({"limit": 200}), Head::Uuid("more")));
    assert_eq!(all, Err("malformed_row"));
}

#[test]
fn a_damaged_note_or_that_of_another_file_is_not_believed() {
    let (lab, _) = noted();
    append(&lab, &[user("more", Some("said-69"), "and behind it")]);
    let head = Head::Uuid("more");
    assert!(by_end(&lab, head));
    let expected = told(lab.call("history_list", json!({}), head));
    let note = end_of(&lab);
    let good = fs::read(&note).unwrap();
    for at in (0..good.len()).step_by(3) {
        let mut damaged = good.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&note, &damaged).unwrap();
        assert!(!by_end(&lab, head), "another bit at {at}");
    }
    for length in (0..good.len()).step_by(7) {
        fs::write(&note, &good[..length]).unwrap();
        assert!(!by_end(&lab, head), "{length} bytes of it");
    }
    assert_eq!(told(lab.call("history_list", json!({}), head)), expected);
    assert!(by_end(&lab, head), "it is made anew");

    let copy = lab.folder.path().join("copy");
    fs::copy(&lab.path, &copy).unwrap();
    fs::rename(&copy, &lab.path).unwrap();
    assert!(!by_end(&lab, head), "another file under its name");
}
