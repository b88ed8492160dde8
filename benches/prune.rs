//! What a cut of a large conversation costs, beside what reading and writing its event alone costs.
//!
//! `cargo bench --bench prune [MEGABYTES]`. Both are run in turn; medians are printed.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::Write as _;
use std::time::{Duration, Instant};

use notesoup::prune::{CompactEvent, PruneInput, PruneOptions, PruneOutcome, run};
use serde_json::value::RawValue;
use serde_json::{Value, json};

const ROUNDS: usize = 21;

fn main() {
    let megabytes: usize = std::env::args()
        .filter_map(|word| word.parse().ok())
        .next()
        .unwrap_or(20);
    let (event, transcript) = conversation(megabytes * 1_000_000);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(transcript.as_bytes()).unwrap();

    let (mut plain, mut cut) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(timed(|| {
            let value: Value = serde_json::from_str(&event).unwrap();
            serde_json::to_vec(&value).unwrap().len()
        }));
        cut.push(timed(|| prune(&event, file.path())));
    }
    let (plain, cut) = (median(plain), median(cut));
    println!(
        "event {:.1} MB, transcript {:.1} MB",
        event.len() as f64 / 1e6,
        transcript.len() as f64 / 1e6
    );
    println!("read and write with serde_json: {plain:.1?}");
    println!(
        "prune, transcript read too:     {cut:.1?}  ({:.2} times)",
        cut.as_secs_f64() / plain.as_secs_f64()
    );
}

fn prune(event: &str, transcript: &std::path::Path) -> usize {
    let raw: &RawValue = serde_json::from_str(event).unwrap();
    let parsed = CompactEvent::parse(raw).unwrap();
    let options = PruneOptions::default();
    let outcome = run(&PruneInput {
        entries: &parsed.messages,
        transcript: Some(transcript),
        options: &options,
        cwd: Some("/project"),
        tokens: None,
        target: None,
        seq: &|_| None,
    });
    match outcome {
        PruneOutcome::Answer { messages, .. } => serde_json::to_vec(&messages).unwrap().len(),
        PruneOutcome::Skip { reason, .. } => unreachable(&reason),
    }
}

fn unreachable(reason: &str) -> usize {
    println!("not cut: {reason}");
    std::process::exit(1);
}

fn timed(work: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Event and transcript of a conversation of calls, so many bytes of event.
fn conversation(size: usize) -> (String, String) {
    let output: String = "fn line(of: &str) -> Output { \"quoted\".into() }\n".repeat(80);
    let (mut entries, mut rows) = (Vec::new(), String::new());
    let mut parent = Value::Null;
    let mut bytes = 0;
    let mut row = |mut fields: Value| {
        let uuid = format!("row-{}", rows.len());
        fields["uuid"] = json!(uuid);
        fields["parentUuid"] = std::mem::replace(&mut parent, json!(uuid));
        rows.push_str(&format!("{fields}\n"));
        uuid
    };
    let mut step = 0;
    while bytes < size {
        step += 1;
        let (id, text) = (
            format!("toolu_{step}"),
            format!("Step {step}: let me look at this file."),
        );
        let input = json!({ "file_path": format!("/project/src/{}.rs", step % 50) });
        let handle = row(json!({ "type": "user", "message": { "role": "user", "content": text } }));
        entries.push(json!({ "role": "user", "text": text, "toolUses": [], "handle": handle }));
        let handle = row(json!({ "type": "assistant", "message": { "id": id, "role": "assistant",
            "content": [{ "type": "tool_use", "id": id, "name": "Read", "input": input }],
            "usage": { "input_tokens": 12_000 + step * 1_200 } } }));
        entries.push(json!({ "role": "assistant", "text": "", "handle": handle, "toolUses": [
            { "tool_use_id": id, "tool": "Read", "input": input, "text": output, "result": { "file": { "content": output } } },
        ] }));
        let handle = row(
            json!({ "type": "user", "toolUseResult": { "file": { "content": output } },
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] } }),
        );
        entries.push(
            json!({ "role": "user", "text": "", "toolUses": [], "handle": handle, "toolResults": [
            { "tool_use_id": id, "text": output, "isError": false, "result": { "file": { "content": output } } },
        ] }),
        );
        bytes += 4 * output.len() + 900;
    }
    (json!({ "trigger": "manual", "messages": entries }).to_string(), rows)
}
