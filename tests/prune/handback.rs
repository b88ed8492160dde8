//! The rebuilt conversation.

use notesoup::prune::PruneOutcome;
use serde_json::json;

use crate::talk::{Talk, eager, ids, long, texts};

#[test]
fn entries_are_regrouped_by_response() {
    let mut talk = Talk::new();
    talk.prompt("go").respond().says("looking");
    talk.calls("toolu_1", "Bash", json!({ "command": "a" }))
        .calls("toolu_2", "Bash", json!({ "command": "b" }));
    talk.calls("toolu_3", "Bash", json!({ "command": "c" }));
    // Results come as the tools end.
    talk.answered("toolu_3", "c")
        .answered("toolu_1", &long(4_000))
        .answered("toolu_2", "b");
    talk.ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages[1]["text"], "looking");
    assert_eq!(ids(&messages[1], "toolUses"), ["toolu_1", "toolu_2", "toolu_3"]);
    assert_eq!(ids(&messages[2], "toolResults"), ["toolu_1", "toolu_2", "toolu_3"]);
    assert_eq!(messages[3]["text"], "reply 0");
}

#[test]
fn a_text_behind_a_call_begins_a_new_message() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .respond()
        .says("one")
        .calls("toolu_1", "Bash", json!({}));
    talk.says("between").calls("toolu_2", "Bash", json!({}));
    talk.answered("toolu_1", &long(4_000)).answered("toolu_2", "b").ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(ids(&messages[1], "toolUses"), ["toolu_1"]);
    assert_eq!(messages[3]["text"], "between");
    assert_eq!(ids(&messages[3], "toolUses"), ["toolu_2"]);
}

#[test]
fn words_stay_byte_for_byte_and_in_order() {
    let odd = "  tabs\t, \u{feff}bom, 🦀, \r\n, \u{0}, \"quotes\" \\ and a trailing blank \n";
    let mut talk = Talk::new();
    talk.prompt(odd).respond().says(odd).says("two").prompt("p2");
    talk.step("toolu_1", "Bash", json!({}), &long(4_000))
        .prompt(odd)
        .ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(
        texts(&messages, "user"),
        [odd, "p2", odd, "and then 0", "and then 1", "and then 2"]
    );
    assert_eq!(
        texts(&messages, "assistant"),
        [odd, "two", "reply 0", "reply 1", "reply 2"]
    );
}

#[test]
fn half_a_surrogate_pair_is_no_fault() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_1", "Bash", json!({}), &format!("HALF{}", long(4_000)))
        .ending();
    let event = talk.event().replace("HALF", "\\ud83d");
    let file = talk.transcript();
    let outcome = crate::talk::prune_event(&event, file.path(), &eager(), None);
    let PruneOutcome::Answer { messages, .. } = outcome else {
        panic!("not cut")
    };
    assert!(
        messages[2].tool_results[0]
            .text
            .as_ref()
            .unwrap()
            .starts_with("\u{fffd}the quick")
    );
}

#[test]
fn fields_that_are_null_or_missing_are_no_fault() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_1", "Bash", json!({}), &long(4_000))
        .ending();
    for entry in &mut talk.entries {
        let entry = entry.as_object_mut().unwrap();
        entry.insert("somethingNew".to_owned(), json!({ "a": [1] }));
        if entry["role"] == "user" && entry.get("toolResults").is_none() {
            entry.insert("toolResults".to_owned(), json!(null));
            entry.remove("toolUses");
        }
    }
    talk.cut(&eager());
}

#[test]
fn the_record_names_the_rows_of_each_message() {
    let mut talk = Talk::new();
    talk.prompt("go").file("/project/a", "text").respond().says("looking");
    talk.calls("toolu_1", "Bash", json!({}))
        .calls("toolu_2", "Bash", json!({}));
    talk.answered("toolu_2", "b").answered("toolu_1", &long(4_000)).ending();
    let PruneOutcome::Answer { record, .. } = talk.prune(&eager()) else {
        panic!("not cut")
    };
    let row = |index: usize| talk.rows[index]["uuid"].as_str().unwrap().to_owned();
    assert_eq!(record[0].rows, [row(0)]);
    assert_eq!(record[1].rows, [row(1)]);
    assert_eq!(record[2].rows, [row(2), row(3), row(4)]);
    assert_eq!(record[3].rows, [row(6), row(5)]);
    assert_eq!(record[3].tool_use_ids, ["toolu_1", "toolu_2"]);
}

#[test]
fn a_second_cut_changes_nothing() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .file("/project/a", &long(2_000))
        .meta("a skill's text");
    for step in 0..8 {
        talk.respond().says(&format!("step {step}"));
        let (one, two) = (format!("toolu_{step}_a"), format!("toolu_{step}_b"));
        talk.calls(&one, "Bash", json!({ "command": "make" }));
        talk.calls(
            &two,
            "Write",
            json!({ "file_path": "/project/x", "content": long(3_000) }),
        );
        talk.answered(&two, "ok")
            .answered(&one, &long(3_000))
            .queued(&format!("also {step}"));
    }
    talk.command("compact")
        .notification("<task-notification>done</task-notification>");
    let (messages, first) = talk.cut(&eager());
    let again = Talk::after(&messages);
    let PruneOutcome::Skip { reason, report } = again.prune(&eager()) else {
        panic!("cut twice")
    };
    let second = report.unwrap();
    assert!(reason.starts_with("nothing is worth cutting"), "{reason}");
    assert_eq!(second.kept.already_cut, first.cuts);
    assert_eq!(second.messages, first.messages);
}
