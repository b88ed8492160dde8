//! Conversations that no client should make, and very large ones.

use notesoup::prune::{OPENING, PruneOutcome, is_cut};
use serde_json::json;

use crate::talk::{Talk, check_law, eager, long, prune_event, rebuild, result_of};

#[test]
fn results_without_their_call_are_left_out_and_counted() {
    let mut talk = Talk::new();
    talk.prompt("go").answered("toolu_lost", &long(4_000));
    talk.step("toolu_1", "Bash", json!({}), &long(4_000)).ending();
    let (messages, report) = talk.cut(&eager());
    assert!(
        !messages
            .iter()
            .any(|message| message.to_string().contains("toolu_lost"))
    );
    assert_eq!(report.left_out.orphan_results, 1);
}

#[test]
fn calls_without_a_result_are_left_out_and_counted() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .respond()
        .says("trying")
        .calls("toolu_p", "Bash", json!({}));
    talk.prompt("stop").step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.respond()
        .calls("toolu_q", "Bash", json!({}))
        .calls("toolu_2", "Bash", json!({}))
        .answered("toolu_2", "x");
    talk.ending();
    let (messages, report) = talk.cut(&eager());
    assert_eq!(messages[1]["text"], "trying");
    assert_eq!(report.left_out.unanswered_calls, 2);
}

#[test]
fn of_equal_ids_the_first_counts() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_1", "Bash", json!({}), &long(4_000))
        .answered("toolu_1", "again");
    talk.step("toolu_1", "Bash", json!({}), "a third").ending();
    let (messages, report) = talk.cut(&eager());
    assert!(is_cut(result_of(&messages, "toolu_1")));
    // A second and a third result, and a second call.
    assert_eq!(report.left_out.duplicates, 3);
}

#[test]
fn a_result_far_behind_its_call_comes_to_it() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .respond()
        .calls("toolu_1", "Bash", json!({}))
        .prompt("meanwhile")
        .respond()
        .says("waiting");
    talk.answered("toolu_1", &long(4_000)).ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages[3]["text"], "meanwhile");
}

#[test]
fn a_result_before_its_call_comes_to_it() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .answered("toolu_1", &long(4_000))
        .respond()
        .calls("toolu_1", "Bash", json!({}))
        .ending();
    talk.cut(&eager());
}

#[test]
fn a_conversation_that_begins_with_the_model_gets_a_first_message() {
    let mut talk = Talk::new();
    talk.step("toolu_1", "Bash", json!({}), &long(4_000)).ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages[0]["text"], OPENING);
    let again = Talk::after(&messages);
    assert!(matches!(again.prune(&eager()), PruneOutcome::Skip { .. }));
}

#[test]
fn thinking_alone_makes_no_message() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .respond()
        .thinks("hm")
        .step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.respond().thinks("hm").prompt("and?").ending();
    let (_, report) = talk.cut(&eager());
    assert_eq!(report.left_out.empty, 2);
}

#[test]
fn a_prompt_of_an_image_alone_keeps_its_place() {
    let mut talk = Talk::new();
    let image = json!([{ "type": "image", "source": { "data": "AAAA" } }]);
    let row = talk.row(json!({ "type": "user", "message": { "role": "user", "content": image } }));
    talk.entries
        .push(json!({ "role": "user", "text": "", "toolUses": [], "handle": row }));
    talk.step("toolu_1", "Bash", json!({}), &long(4_000)).ending();
    let (messages, report) = talk.cut(&eager());
    assert_eq!(
        messages[0]["text"],
        "[notesoup: an image was here, which a cut cannot carry.]"
    );
    assert_eq!(report.media.images, 1);
}

#[test]
fn images_only_leave_nothing_to_cut() {
    let mut talk = Talk::new();
    talk.prompt("go");
    for step in 0..9 {
        let id = format!("toolu_{step}");
        talk.respond()
            .calls(&id, "Read", json!({ "file_path": "/project/a.png" }))
            .image(&id);
    }
    let PruneOutcome::Skip { report, .. } = talk.prune(&eager()) else {
        panic!("cut")
    };
    assert_eq!(report.unwrap().media.images, 9);
}

#[test]
fn an_empty_conversation_and_one_of_one_message_are_left_alone() {
    assert!(matches!(
        Talk::new().prune(&eager()),
        PruneOutcome::Skip { report: None, .. }
    ));
    let mut talk = Talk::new();
    talk.prompt("hello");
    let PruneOutcome::Skip { reason, report } = talk.prune(&eager()) else {
        panic!("cut")
    };
    assert!(reason.starts_with("nothing is worth cutting"), "{reason}");
    assert_eq!(report.unwrap().messages, 1);
}

#[test]
fn arguments_of_any_shape_are_no_fault() {
    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_1", "Bash", json!({}), &long(4_000));
    let odd = [
        json!(null),
        json!([]),
        json!("text"),
        json!(7),
        json!({ "command": 7, "file_path": [] }),
        json!({ "": "" }),
    ];
    for (index, input) in odd.into_iter().enumerate() {
        for tool in ["Bash", "Read", "Edit", "Write", "MultiEdit", ""] {
            talk.step(&format!("toolu_{tool}_{index}"), tool, input.clone(), &long(900));
        }
    }
    talk.ending();
    talk.cut(&eager());
}

#[test]
fn ten_thousand_messages() {
    let mut talk = Talk::new();
    for step in 0..2_500 {
        talk.prompt(&format!("prompt {step}"));
        talk.step(
            &format!("toolu_{step}"),
            "Bash",
            json!({ "command": "make" }),
            &long(700),
        )
        .respond()
        .says("ok");
    }
    assert_eq!(talk.entries.len(), 10_000);
    let (messages, report) = talk.cut(&eager());
    assert_eq!(messages.len(), 10_000);
    assert!(report.cuts > 2_400);
}

#[test]
fn an_event_of_fifty_megabytes() {
    let mut talk = Talk::new();
    talk.prompt("go");
    for step in 0..25 {
        talk.step(&format!("toolu_{step}"), "Bash", json!({ "command": "make" }), "OUTPUT");
    }
    // Each output stands in the event twice: as the model read it, and as the client stored it.
    let event = talk.event().replace("OUTPUT", &"a line of output\\n".repeat(60_000));
    assert!(event.len() > 50_000_000);
    let file = talk.transcript();
    let PruneOutcome::Answer { messages, report, .. } = prune_event(&event, file.path(), &eager(), None) else {
        panic!("not cut")
    };
    check_law(&rebuild(&talk.entries, &messages));
    assert_eq!(report.cuts, 22);
    assert!(serde_json::to_string(&messages).unwrap().len() < 100_000);
}
