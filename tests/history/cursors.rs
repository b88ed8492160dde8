//! Walking from page to page meets every event exactly once.

use notesoup::history::{Head, Shown};
use serde_json::{Value, json};

use crate::agreement::{many, name};
use crate::generator::Taste;
use crate::support::{Lab, data};

/// The seqs that a page shows, and the stretches that it folds, in order.
fn contents(page: &Value, shown: &[Shown]) -> Vec<u64> {
    let mut seqs = Vec::new();
    for entry in page["items"].as_array().unwrap() {
        if entry["folded"] == true {
            let range = entry["first_seq"].as_u64().unwrap()..=entry["last_seq"].as_u64().unwrap();
            let inside: Vec<&Shown> = shown.iter().filter(|event| range.contains(&event.seq)).collect();
            assert!(
                inside.iter().all(|event| event.window_id == entry["window_id"]),
                "a fold spans two windows"
            );
            seqs.extend(inside.iter().map(|event| event.seq));
        } else {
            seqs.push(entry["seq"].as_u64().unwrap());
        }
    }
    seqs
}

fn walk(lab: &Lab, head: &str, shown: &[Shown], filter: &Value, newer: bool) -> Vec<u64> {
    let mut pages = Vec::new();
    let mut cursor: Option<u64> = if newer { Some(0) } else { None };
    for _ in 0..10_000 {
        let mut input = filter.clone();
        if let Some(cursor) = cursor {
            input[if newer { "after" } else { "before" }] = json!(cursor);
        }
        if newer && cursor == Some(0) {
            // Nothing lies at 0; a filler counts as absent, so the walk begins at the lowest page by its own means.
            input["before"] = json!(u64::from(u32::MAX));
            input["after"] = json!(lowest(shown));
        }
        let page = data(lab.call("history_list", input, Head::Uuid(head)));
        pages.push(contents(&page, shown));
        cursor = page[if newer { "newer_after" } else { "older_before" }].as_u64();
        if cursor.is_none() {
            break;
        }
    }
    if !newer {
        pages.reverse();
    }
    pages.concat()
}

/// An address before which there is nothing but, maybe, the first event.
fn lowest(shown: &[Shown]) -> u64 {
    shown.first().map_or(1, |event| event.seq)
}

#[test]
fn every_event_is_met_once_in_both_directions() {
    let filters = [
        json!({"limit": 1}),
        json!({"limit": 3}),
        json!({"limit": 7, "window_id": "@current"}),
        json!({"limit": 2, "roles": ["user", "tool"]}),
        json!({"limit": 4, "roles": ["user", "assistant", "tool", "context"]}),
        json!({"limit": 2, "query": ["ok", "ΔELTA"]}),
        json!({"limit": 3, "tool": "bash"}),
        json!({"limit": 3, "status": "ok", "max_chars_per_item": 3}),
    ];
    many(200, Taste::Plausible, |seed, made| {
        let lab = Lab::with(&made.bytes);
        let Ok(shown) = lab.shown(Head::Uuid(&made.head)) else {
            return;
        };
        let filter = &filters[usize::try_from(seed).unwrap() % filters.len()];
        let wanted: Vec<u64> = shown
            .iter()
            .filter(|event| matches(event, filter, &shown))
            .map(|event| event.seq)
            .collect();
        let older = walk(&lab, &made.head, &shown, filter, false);
        assert_eq!(older, wanted, "seed {seed}, {filter}");
        let newer = walk(&lab, &made.head, &shown, filter, true);
        let first = lowest(&shown);
        let rest: Vec<u64> = wanted.into_iter().filter(|seq| *seq > first).collect();
        assert_eq!(newer, rest, "seed {seed}, {filter}, newer");
    });
}

fn matches(event: &Shown, filter: &Value, shown: &[Shown]) -> bool {
    let role = filter["roles"]
        .as_array()
        .is_none_or(|roles| roles.contains(&json!(name(event.role))));
    let window = filter["window_id"].is_null() || Some(&event.window_id) == newest_window(shown).as_ref();
    let text = event.text.to_lowercase();
    let query = filter["query"].as_array().is_none_or(|texts| {
        texts
            .iter()
            .any(|wanted| text.contains(&wanted.as_str().unwrap().to_lowercase()))
    });
    let tool = filter["tool"]
        .as_str()
        .is_none_or(|tool| event.tool.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(tool)));
    let status = filter["status"].is_null() || json!(event.tool_status) == filter["status"];
    role && window && query && tool && status
}

fn newest_window(shown: &[Shown]) -> Option<String> {
    let ordinal = |event: &&Shown| event.window_id.rsplit_once(':').unwrap().1.parse::<u32>().unwrap();
    shown.iter().max_by_key(ordinal).map(|event| event.window_id.clone())
}
