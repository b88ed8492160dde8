//! Both renderings of every answer stay within 32 KiB, whatever the transcript holds.

use notesoup::history::{Conversation, Head};
use notesoup::outcome::{MAX_BYTES, Outcome, to_json, to_text};
use serde_json::{Value, json};

use crate::support::{Lab, data};

fn fits(outcome: &Outcome) {
    let json = to_json(outcome).to_string().len();
    assert!(json <= MAX_BYTES, "{json} bytes of JSON");
    let text = to_text(outcome).len();
    assert!(text <= MAX_BYTES, "{text} bytes of text");
}

fn row(number: usize, kind: &str, more: &Value) -> String {
    let parent = number.checked_sub(1).map(|number| format!("row-{number}"));
    let mut row = json!({"uuid": format!("row-{number}"), "parentUuid": parent, "type": kind, "sessionId": "s"});
    for (name, value) in more.as_object().unwrap() {
        row[name] = value.clone();
    }
    row.to_string() + "\n"
}

/// A conversation whose every text is long and takes much room when it is written as JSON.
fn heavy(rows: usize, text: &str, tool: &str) -> String {
    let mut lines = String::new();
    for number in 0..rows {
        let message = match number % 4 {
            0 => json!({"role": "user", "content": text}),
            1 => json!({"id": format!("m{number}"), "content": [{"type": "text", "text": text}]}),
            2 => json!({"id": format!("n{number}"), "content": [
                {"type": "tool_use", "id": format!("t{number}"), "name": format!("{tool}{number}"), "input": {"a": text}}]}),
            _ => json!({"content": [
                {"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": text, "is_error": true}]}),
        };
        let kind = if matches!(number % 4, 1 | 2) {
            "assistant"
        } else {
            "user"
        };
        lines.push_str(&row(
            number,
            kind,
            &json!({"message": message, "timestamp": "2026-12-01T00:00:00.000Z"}),
        ));
    }
    lines
}

#[test]
fn lists_and_reads_of_long_texts_fit() {
    let texts = [
        "\u{1}".repeat(30_000),
        "🦀\"\\\n".repeat(9_000),
        "a b".repeat(15_000),
        "é".to_owned(),
    ];
    for text in &texts {
        let tool = &"\"tool\u{2}".repeat(40);
        let lab = Lab::with(heavy(60, text, tool));
        for input in [
            json!({}),
            json!({"limit": 200, "max_chars_per_item": 20_000}),
            json!({"limit": 200, "max_chars_per_item": 1, "roles": ["tool", "user"]}),
            json!({"after": 1, "limit": 50, "max_chars_per_item": 20_000}),
            json!({"query": ["a", "🦀", "é", "\u{1}"], "max_chars_per_item": 20_000, "limit": 9}),
        ] {
            let outcome = lab.call("history_list", input.clone(), Head::AssumeLast);
            fits(&outcome);
            assert!(!data(outcome)["items"].as_array().unwrap().is_empty(), "{input}");
        }
        fits(&lab.call("history_windows", json!({}), Head::AssumeLast));
        fits(&lab.call(
            "history_read",
            json!({"seq": 1, "limit_chars": 50_000}),
            Head::AssumeLast,
        ));
    }
}

#[test]
fn the_windows_of_a_read_rebuild_the_event() {
    let text = "🦀\"\\\n\u{1}x".repeat(6_000);
    let lab = Lab::with(heavy(4, &text, "Bash"));
    let mut read = String::new();
    let mut offset = 0;
    loop {
        let outcome = lab.call(
            "history_read",
            json!({"seq": 1, "offset_chars": offset, "limit_chars": 50_000}),
            Head::AssumeLast,
        );
        fits(&outcome);
        let data = data(outcome);
        read.push_str(data["content"]["text"].as_str().unwrap());
        match data["content"]["next_offset_chars"].as_i64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert!(read == text, "what was read is not the text");
}

#[test]
fn of_too_many_windows_the_newest_are_shown() {
    let mut lines = String::new();
    let prompt = "why \"so\" many ".repeat(40);
    for number in 0..900 {
        lines.push_str(&if number % 3 == 2 {
            let boundary = json!({"parentUuid": null, "logicalParentUuid": format!("row-{}", number - 1),
                "subtype": "compact_boundary", "content": "Conversation compacted"});
            row(number, "system", &boundary)
        } else {
            row(number, "user", &json!({"message": {"content": prompt}}))
        });
    }
    let lab = Lab::with(lines);
    let mut before = Value::Null;
    let mut ids = Vec::new();
    loop {
        let outcome = lab.call("history_windows", json!({"before": before}), Head::AssumeLast);
        fits(&outcome);
        let page = data(outcome);
        assert_eq!(page["total"], 301);
        let mut shown: Vec<String> = page["windows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|window| window["window_id"].as_str().unwrap().to_owned())
            .collect();
        if ids.is_empty() {
            assert_eq!(shown.last().unwrap(), "claude:s:300");
        }
        shown.extend(ids);
        ids = shown;
        before = page["older_before"].clone();
        if before.is_null() {
            break;
        }
    }
    let all: Vec<String> = (0..=300).map(|ordinal| format!("claude:s:{ordinal}")).collect();
    assert_eq!(ids, all);
}

#[test]
fn folds_of_many_tools_name_the_most_used() {
    let mut lines = row(0, "user", &json!({"message": {"content": "go"}}));
    for number in 1..400 {
        let name = format!("tool_{}_{}", number % 90, "x".repeat(300));
        let block = json!({"type": "tool_use", "id": format!("t{number}"), "name": name, "input": {}});
        lines.push_str(&row(
            number,
            "assistant",
            &json!({"message": {"id": format!("m{number}"), "content": [block]}}),
        ));
    }
    let lab = Lab::with(lines);
    let outcome = lab.call("history_list", json!({}), Head::AssumeLast);
    fits(&outcome);
    let page = data(outcome);
    let fold = &page["items"][1];
    let named = fold["tools"].as_object().unwrap();
    assert_eq!(named.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 399);
    assert!(named.contains_key("(others)"));
}

#[test]
fn a_line_of_ten_megabytes_is_read() {
    let text = "ten megabytes of \\u0041 and \"quotes\" ".repeat(280_000);
    let lab = Lab::with(
        heavy(3, "short", "Bash")
            + &row(
                3,
                "user",
                &json!({"message": {"content": [
        {"type": "tool_result", "tool_use_id": "t2", "content": text}]}}),
            ),
    );
    let conversation: Conversation = lab.open(Head::AssumeLast).unwrap();
    let events: Vec<_> = conversation.shown().map(Result::unwrap).collect();
    assert!(events[2].text.ends_with(&text));
    let page = data(lab.call("history_list", json!({"query": "OF \\u0041 AND"}), Head::AssumeLast));
    assert_eq!(page["items"][0]["match_count"], 280_000);
}
