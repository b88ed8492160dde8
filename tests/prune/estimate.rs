//! The figures, against what a model on the other end would count.

use notesoup::prune::{PruneOptions, PruneOutcome};
use serde_json::{Value, json};

use crate::talk::{Talk, eager, long, rebuild};

/// Tokens of a request, as a stand-in model counts: so many bytes of JSON each, over a fixed part.
fn counted(messages: &[Value], bytes_per_token: usize) -> u64 {
    const FIXED: usize = 12_000;
    let bytes: usize = messages
        .iter()
        .map(|message| request_part(message).to_string().len())
        .sum();
    (FIXED + bytes / bytes_per_token) as u64
}

fn request_part(message: &Value) -> Value {
    let results: Vec<Value> = message["toolResults"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|r| r["text"].clone())
        .collect();
    let calls: Vec<Value> = message["toolUses"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|c| c["input"].clone())
        .collect();
    json!([message["text"], calls, results])
}

/// A recorded conversation: the usage of each response is what was counted for the request it answers.
fn recorded(bytes_per_token: usize, line: &str) -> Talk {
    let mut talk = Talk::new();
    talk.prompt("go");
    for step in 0..30 {
        let tokens = counted(&talk.entries, bytes_per_token);
        let output: String = line.chars().cycle().take(400 + step * 220).collect();
        talk.tokens(tokens).step(
            &format!("toolu_{step}"),
            "Bash",
            json!({ "command": "make all" }),
            &output,
        );
    }
    talk.tokens(counted(&talk.entries, bytes_per_token))
        .respond()
        .says("done");
    talk
}

#[test]
fn the_estimate_is_within_a_tenth_of_what_is_counted_then() {
    for (bytes_per_token, line) in [
        (4, "the quick brown fox jumps over the lazy dog\n"),
        (3, "fn main() { println!(\"{}\", x); }\n"),
        (4, "日本語の行です。\n"),
        (2, "{\"a\": [1, 2, 3], \"b\": \"\\\\\"}\n"),
    ] {
        let talk = recorded(bytes_per_token, line);
        let PruneOutcome::Answer { messages, report, .. } = talk.prune(&eager()) else {
            panic!("not cut")
        };
        assert!(report.measured);
        let before = counted(&talk.entries, bytes_per_token);
        let after = counted(&rebuild(&talk.entries, &messages), bytes_per_token);
        for (told, is) in [(report.tokens_before, before), (report.tokens_after, after)] {
            let off = told.abs_diff(is) as f64 / is as f64;
            assert!(off < 0.1, "{line:?}: told {told}, is {is}");
        }
    }
}

#[test]
fn the_clients_own_figure_is_what_is_told_before() {
    use notesoup::prune::{CompactEvent, PruneInput, run};
    let talk = recorded(4, "a line of output\n");
    let (event, file) = (talk.event(), talk.transcript());
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(&event).unwrap();
    let event = CompactEvent::parse(&raw).unwrap();
    let options = PruneOptions::default();
    let outcome = run(&PruneInput {
        entries: &event.messages,
        transcript: Some(file.path()),
        options: &options,
        cwd: None,
        tokens: Some(123_456),
        target: None,
        seq: &|_| None,
    });
    let PruneOutcome::Answer { report, .. } = outcome else {
        panic!("not cut")
    };
    assert_eq!(report.tokens_before, 123_456);
    assert!(report.tokens_fixed > 80_000);
}

#[test]
fn without_usage_the_figures_are_marked_as_an_estimate_and_not_zero() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_1", "Bash", json!({}), &long(35_000))
        .ending();
    let PruneOutcome::Answer { report, .. } = talk.prune(&eager()) else {
        panic!("not cut")
    };
    assert!(!report.measured);
    assert!(
        (9_900..10_200).contains(&report.tokens_before),
        "{}",
        report.tokens_before
    );
    assert!(report.tokens_after > 0);
    assert!(notesoup::prune::cut_line(&report).contains(" % less, an estimate)"));
}
