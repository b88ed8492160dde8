//! What comes from the transcript's rows.

use std::io::Write as _;

use notesoup::prune::{PreviewInput, PruneOutcome, preview};
use serde_json::json;

use crate::talk::{Talk, eager, long, prune_event, texts};

fn typical() -> Talk {
    let mut talk = Talk::new();
    talk.prompt("look at @a")
        .file("/project/a", "the file")
        .step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.queued("also this").respond().says("yes").ending();
    talk
}

#[test]
fn prompts_typed_meanwhile_and_readings_go_back_in_their_place() {
    let (messages, report) = typical().cut(&eager());
    assert_eq!(
        texts(&messages, "user"),
        [
            "look at @a",
            "<system-reminder>\nResult of calling the Read tool:\nthe file\n</system-reminder>",
            "also this",
            "and then 0",
            "and then 1",
            "and then 2"
        ]
    );
    assert_eq!(messages[4]["text"], "also this");
    assert_eq!((report.restored.queued_prompts, report.restored.file_readings), (1, 1));
}

#[test]
fn a_prompt_typed_at_the_last_moment_is_not_lost() {
    let mut talk = typical();
    talk.step("toolu_2", "Bash", json!({}), "done").queued("one more");
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages.last().unwrap()["text"], "one more");
}

#[test]
fn a_prompt_between_a_call_and_its_result_stands_behind_the_result() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .respond()
        .calls("toolu_1", "Bash", json!({}))
        .queued("meanwhile");
    talk.answered("toolu_1", &long(4_000)).ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages[3]["text"], "meanwhile");
}

#[test]
fn what_is_not_the_persons_goes_back_inside_a_frame() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_s", "Skill", json!({ "skill": "x" }), "Launching")
        .meta("how to do x");
    talk.meta("<system-reminder>\na reminder\n</system-reminder>");
    talk.step("toolu_1", "Bash", json!({}), &long(4_000))
        .notification("<task-notification>done</task-notification>");
    talk.ending();
    let (messages, report) = talk.cut(&eager());
    let users = texts(&messages, "user");
    assert_eq!(users[1], "<system-reminder>\nhow to do x\n</system-reminder>");
    assert_eq!(users[2], "<system-reminder>\na reminder\n</system-reminder>");
    assert!(users[3].starts_with("<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\n"));
    assert!(users[3].ends_with("<task-notification>done</task-notification>\n</system-reminder>"));
    assert_eq!(report.restored.frames, 3);
}

#[test]
fn an_agents_report_that_waited_in_line_is_not_the_persons() {
    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.row(json!({
        "type": "attachment",
        "rendered": [{ "content": "<system-reminder>\nreport\n</system-reminder>" }],
        "attachment": {
            "type": "queued_command", "prompt": "report", "commandMode": "task-notification",
            "origin": { "kind": "task-notification" },
        },
    }));
    talk.ending();
    let (messages, _) = talk.cut(&eager());
    assert_eq!(messages[3]["text"], "<system-reminder>\nreport\n</system-reminder>");
}

#[test]
fn a_prompt_typed_meanwhile_with_an_image_keeps_its_words() {
    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.row(json!({
        "type": "attachment",
        "attachment": {
            "type": "queued_command", "commandMode": "prompt",
            "prompt": [{ "type": "text", "text": "see this" }, { "type": "image", "source": {} }],
        },
    }));
    talk.ending();
    let (messages, report) = talk.cut(&eager());
    assert_eq!(messages[3]["text"], "see this");
    assert_eq!(report.media.images, 1);
}

#[test]
fn rows_of_local_commands_are_left_out_and_custom_commands_stay() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_1", "Bash", json!({}), &long(4_000))
        .command("compact");
    talk.prompt("<command-message>mine</command-message>\n<command-name>/mine</command-name>")
        .meta("do it");
    talk.prompt("<command-name>is how a tag looks").ending();
    let (messages, report) = talk.cut(&eager());
    let users = texts(&messages, "user");
    assert!(
        !users
            .iter()
            .any(|text| text.contains("compact") || text.contains("stdout"))
    );
    assert_eq!(
        users[1],
        "<command-message>mine</command-message>\n<command-name>/mine</command-name>"
    );
    assert_eq!(users[2], "<system-reminder>\ndo it\n</system-reminder>");
    assert_eq!(users[3], "<command-name>is how a tag looks");
    assert_eq!(report.left_out.command_rows, 2);
}

#[test]
fn images_are_counted_and_their_place_is_kept() {
    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_1", "Bash", json!({}), &long(4_000));
    talk.respond()
        .calls("toolu_i", "Read", json!({ "file_path": "/project/a.png" }))
        .image("toolu_i");
    talk.respond().thinks("hm").ending();
    let (messages, report) = talk.cut(&eager());
    assert_eq!(
        crate::talk::result_of(&messages, "toolu_i"),
        "[notesoup: an image was here, which a cut cannot carry; read the file again]"
    );
    assert_eq!((report.media.images, report.media.thinking), (1, 1));
}

#[test]
fn without_a_transcript_nothing_is_cut() {
    let talk = typical();
    let missing = std::path::Path::new("/nowhere/t.jsonl");
    let PruneOutcome::Skip { reason, report } = prune_event(&talk.event(), missing, &eager(), None) else {
        panic!("cut")
    };
    assert!(reason.contains("/nowhere/t.jsonl"), "{reason}");
    assert!(report.is_none());
}

#[test]
fn a_head_that_is_not_written_is_a_refusal() {
    let mut talk = typical();
    let file = talk.transcript();
    talk.prompt("not written yet");
    let PruneOutcome::Skip { reason, .. } = prune_event(&talk.event(), file.path(), &eager(), None) else {
        panic!("cut")
    };
    assert!(
        reason.contains("not in the transcript") && reason.contains("again in a moment"),
        "{reason}"
    );
}

#[test]
fn a_head_that_is_written_late_is_waited_for() {
    let mut talk = typical();
    let mut file = talk.transcript();
    talk.prompt("late");
    let (event, path) = (talk.event(), file.path().to_owned());
    let line = talk.rows.last().unwrap().to_string();
    let cut = std::thread::spawn(move || prune_event(&event, &path, &eager(), None));
    // First a line in flight, then the whole.
    let (start, end) = line.split_at(line.len() - 9);
    file.write_all(start.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    file.write_all(format!("{end}\n").as_bytes()).unwrap();
    assert!(matches!(cut.join().unwrap(), PruneOutcome::Answer { .. }));
}

#[test]
fn a_branch_that_breaks_off_is_a_refusal_that_names_the_row() {
    let mut talk = typical();
    talk.rows[2]["parentUuid"] = json!("no-such-row");
    let PruneOutcome::Skip { reason, .. } = talk.prune(&eager()) else {
        panic!("cut")
    };
    assert!(reason.contains("no-such-row"), "{reason}");
}

#[test]
fn a_cycle_ends() {
    let mut talk = typical();
    talk.rows[0]["parentUuid"] = talk.rows[4]["uuid"].clone();
    talk.cut(&eager());
}

#[test]
fn only_the_window_of_the_head_is_read() {
    let mut old = Talk::new();
    old.prompt("before").queued("an old aside").respond().says("x");
    let talk = typical();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for row in &old.rows {
        // The old window has rows of its own.
        writeln!(file, "{}", row.to_string().replace("00000000-", "11111111-")).unwrap();
    }
    writeln!(file, "rubbish that is no row with \"uuid\"").unwrap();
    for row in &talk.rows {
        writeln!(file, "{row}\r").unwrap();
    }
    let PruneOutcome::Answer { report, .. } = prune_event(&talk.event(), file.path(), &eager(), None) else {
        panic!("not cut")
    };
    assert_eq!(report.restored.queued_prompts, 1);
}

#[test]
fn rows_of_another_branch_stay_out() {
    let mut talk = typical();
    // The person went back to an earlier prompt: the rows behind it are still in the file.
    let end = talk.rows.last().unwrap()["uuid"].clone();
    talk.queued("taken back").respond().says("taken back, too");
    talk.rows.last_mut().unwrap()["isSidechain"] = json!(false);
    let mut tail = Talk::new();
    std::mem::swap(&mut tail, &mut talk);
    let mut talk = typical();
    talk.rows = tail.rows;
    talk.row(json!({ "type": "user", "message": { "role": "user", "content": "instead" } }));
    let last = talk.rows.len() - 1;
    talk.rows[last]["parentUuid"] = end;
    talk.rows[last]["uuid"] = json!("the-new-head");
    talk.entries
        .push(json!({ "role": "user", "text": "instead", "handle": "the-new-head" }));
    let (messages, report) = talk.cut(&eager());
    assert_eq!(report.restored.queued_prompts, 1);
    assert!(!texts(&messages, "user").contains(&"taken back"));
}

#[test]
fn the_preview_from_the_transcript_says_what_the_cut_does() {
    let mut talk = Talk::new();
    talk.prompt("go").file("/project/a", "the file");
    for step in 0..5 {
        talk.tokens(12_000 + step * 1_000).respond().says("looking");
        let (one, two) = (format!("toolu_{step}_1"), format!("toolu_{step}_2"));
        talk.calls(&one, "Bash", json!({ "command": "make" }));
        talk.calls(&two, "Read", json!({ "file_path": "/project/a.rs" }));
        // The client hangs a result behind its own call, and goes on from the one that came last.
        talk.answered(&two, &long(3_000)).answered(&one, &long(2_000));
        let rows = talk.rows.len();
        talk.rows[rows - 2]["parentUuid"] = talk.rows[rows - 3]["uuid"].clone();
        talk.rows[rows - 1]["parentUuid"] = talk.rows[rows - 4]["uuid"].clone();
        talk.queued("also");
    }
    talk.notification("<task-notification>x</task-notification>").ending();
    let (_, done) = talk.cut(&eager());
    let (file, options) = (talk.transcript(), eager());
    let told = preview(&PreviewInput {
        transcript: file.path(),
        head: None,
        options: &options,
        cwd: Some("/project"),
        tokens: None,
        target: None,
        seq: &|_| None,
    })
    .unwrap();
    assert_eq!(told, done);
    assert!(done.measured);
}
