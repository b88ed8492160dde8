use serde_json::{Value, json};

use super::*;
use crate::prune::{Insert, Row};

/// A conversation as the event carries it, and the rows that the transcript has beside it.
#[derive(Default)]
struct Conversation {
    messages: Vec<Value>,
    rows: Vec<Row>,
    prompt: Option<String>,
    without_prompt_ids: bool,
}

impl Conversation {
    fn row(&mut self, provenance: Provenance, restored: Option<(InsertKind, &str)>) -> String {
        let uuid = format!("u{}", self.rows.len());
        self.rows.push(Row {
            uuid: uuid.clone(),
            provenance,
            restored: restored.map(|(kind, text)| (kind, text.to_owned())),
            prompt_id: self
                .prompt
                .clone()
                .filter(|_| !self.without_prompt_ids && restored.is_none()),
            ..Row::default()
        });
        uuid
    }

    fn says(mut self, prompt: &str, text: &str) -> Self {
        self.prompt = Some(prompt.to_owned());
        self.add(Provenance::Person, text)
    }

    fn add(mut self, provenance: Provenance, text: &str) -> Self {
        let handle = self.row(provenance, None);
        self.messages
            .push(json!({ "role": "user", "text": text, "toolUses": [], "handle": handle }));
        self
    }

    fn beside(mut self, kind: InsertKind, text: &str) -> Self {
        self.row(Provenance::Person, Some((kind, text)));
        self
    }

    fn answers(mut self, text: &str) -> Self {
        let handle = self.row(Provenance::Person, None);
        self.rows.last_mut().unwrap().prompt_id = None;
        self.messages
            .push(json!({ "role": "assistant", "text": text, "toolUses": [], "handle": handle }));
        self
    }

    fn calls(mut self, id: &str, tool: &str, input: Value, result: &str) -> Self {
        let handle = self.row(Provenance::Person, None);
        self.rows.last_mut().unwrap().prompt_id = None;
        self.messages.push(json!({
            "role": "assistant", "text": "", "handle": handle,
            "toolUses": [{ "tool_use_id": id, "tool": tool, "input": input, "text": result }],
        }));
        let handle = self.row(Provenance::Person, None);
        self.messages.push(json!({
            "role": "user", "text": "", "toolUses": [], "handle": handle,
            "toolResults": [{ "tool_use_id": id, "text": result, "isError": false }],
        }));
        self
    }

    /// The answer's texts; those of entries in their own words.
    fn reset(&self, turn_is_open: bool, is_automatic: bool) -> Vec<String> {
        self.reset_with(turn_is_open, is_automatic, &WindowOptions::default())
    }

    fn reset_with(&self, turn_is_open: bool, is_automatic: bool, options: &WindowOptions) -> Vec<String> {
        let raw = json!(self.messages).to_string();
        let entries: Vec<Entry<'_>> = serde_json::from_str(&raw).unwrap();
        let branch = Branch::new(&self.rows, &entries);
        let messages = reset_messages(&ResetInput {
            entries: &entries,
            branch: &branch,
            session_id: "s",
            turn_is_open,
            is_automatic,
            options,
            text: &|text| match text {
                ResetText::Head => "Window claude:s:1 begins.".to_owned(),
                ResetText::LastCalls(count) => format!("{count} calls:"),
                ResetText::Todos(count) => format!("{count} open:"),
                ResetText::Request => "Last request:".to_owned(),
            },
        });
        messages
            .into_iter()
            .map(|message| {
                assert_eq!(message.role, "user");
                assert!(message.tool_uses.is_empty() && message.tool_results.is_empty());
                match message.text.unwrap() {
                    TextSpec::New(text) => text,
                    TextSpec::Of { of } => format!("entry {of}: {}", entries[of].text.as_str()),
                }
            })
            .collect()
    }
}

const HEAD: &str = "Window claude:s:1 begins.";

#[test]
fn between_two_turns_a_reset_that_was_asked_for_is_one_line() {
    let conversation = Conversation::default().says("p1", "do this").answers("done");
    assert_eq!(conversation.reset(false, false), [HEAD]);
    assert_eq!(Conversation::default().reset(false, true), [HEAD]);
    assert_eq!(Conversation::default().reset(true, true), [HEAD]);
}

#[test]
fn the_prompt_that_set_it_off_goes_back_whole_and_last() {
    let conversation = Conversation::default()
        .says("p1", "an earlier prompt")
        .beside(InsertKind::FileReading, "reading of an earlier file")
        .answers("first answer")
        .says("p2", "  look at @note.txt\n\tplease  ")
        .beside(InsertKind::FileReading, "reading of note.txt");
    assert_eq!(
        conversation.reset(true, true),
        [HEAD, "reading of note.txt", "entry 2:   look at @note.txt\n\tplease  "]
    );
}

#[test]
fn in_the_middle_of_a_turn_work_goes_on_and_queued_prompts_come_along() {
    let conversation = Conversation::default()
        .says("p1", "an earlier prompt")
        .answers("first answer")
        .says("p2", "do the work")
        .answers("let me look")
        .calls("toolu_1", "Bash", json!({ "command": "echo one" }), "one\n")
        .beside(InsertKind::QueuedPrompt, "typed while you work")
        .calls("toolu_2", "Bash", json!({ "command": "echo two" }), "two");
    let work = "<notesoup:work>\n2 calls:\n\n[toolu_1] Bash {\"command\":\"echo one\"}\none\n\n[toolu_2] Bash \
                {\"command\":\"echo two\"}\ntwo\n\nYour last words: let me look\n</notesoup:work>";
    assert_eq!(
        conversation.reset(true, true),
        [HEAD, work, "entry 2: do the work", "typed while you work"]
    );
}

/// What a cut in the middle of the turn wrote again does not say which turn it is of; rows behind it do.
#[test]
fn behind_a_cut_the_turn_begins_with_the_last_words_before_its_own_rows() {
    let mut conversation = Conversation::default()
        .says("p1", "an earlier prompt")
        .answers("an earlier answer")
        .says("p2", "and what now?");
    for row in &mut conversation.rows {
        row.prompt_id = None;
    }
    let texts = conversation
        .calls("toolu_1", "Bash", json!({ "command": "make" }), "made")
        .reset(true, true);
    assert_eq!(texts.last().unwrap(), "entry 2: and what now?");
    assert!(
        !texts.iter().any(|text| text.contains("an earlier prompt")),
        "{texts:?}"
    );
}

#[test]
fn without_the_rows_prompt_ids_the_turn_begins_with_the_last_words() {
    let conversation = Conversation {
        without_prompt_ids: true,
        ..Conversation::default()
    }
    .says("p1", "an earlier prompt")
    .answers("first answer")
    .says("p2", "do the work")
    .calls("toolu_1", "Read", json!({}), "text");
    let texts = conversation.reset(true, false);
    assert_eq!(texts.len(), 3);
    assert_eq!(texts[2], "entry 2: do the work");
    assert!(!texts[1].contains("Your last words"));
}

#[test]
fn without_rows_at_all_the_events_own_prompts_go_back() {
    let mut conversation = Conversation::default()
        .says("p1", "an earlier prompt")
        .answers("first answer")
        .says("p2", "do the work");
    conversation.rows.clear();
    assert_eq!(conversation.reset(true, true), [HEAD, "entry 2: do the work"]);
}

#[test]
fn a_second_reset_in_the_same_turn_hands_the_prompts_on_and_not_our_own_text() {
    let first = Conversation::default()
        .says(
            "p2",
            "Window claude:s:1 begins here; what came before is in window claude:s:0.",
        )
        .says(
            "p2",
            "<notesoup:open>\n1 open:\n- [pending] write it down\n</notesoup:open>",
        )
        .says("p2", "<notesoup:work>\n1 calls:\n</notesoup:work>")
        .says("p2", "reading of note.txt")
        .says("p2", "do the work")
        .says("p2", "typed while you work")
        .calls("toolu_3", "Bash", json!({}), "three");
    let texts = first.reset(true, true);
    assert_eq!(
        texts[1],
        "<notesoup:open>\n1 open:\n- [pending] write it down\n</notesoup:open>"
    );
    assert!(texts[2].contains("toolu_3") && !texts[2].contains("1 calls:\n</notesoup"));
    assert_eq!(
        &texts[3..],
        [
            "entry 3: reading of note.txt",
            "entry 4: do the work",
            "entry 5: typed while you work"
        ]
    );
}

#[test]
fn what_is_not_the_persons_stays_in_its_frame_or_away() {
    let mut conversation = Conversation::default().says("p1", "earlier").answers("yes");
    conversation.prompt = Some("p2".to_owned());
    let conversation = conversation
        .add(Provenance::Notification, "The agent has finished.")
        .beside(InsertKind::Frame, "<system-reminder>\nskill text\n</system-reminder>")
        .calls("toolu_1", "Bash", json!({}), "x")
        .beside(InsertKind::Frame, "<system-reminder>\nlater skill\n</system-reminder>")
        .add(Provenance::LocalCommand, "<command-name>/fresh-window</command-name>");
    let texts = conversation.reset(true, false);
    assert_eq!(texts.len(), 4);
    assert_eq!(texts[2], "<system-reminder>\nskill text\n</system-reminder>");
    assert!(texts[3].starts_with("<system-reminder>") && texts[3].contains("The agent has finished."));
}

#[test]
fn a_report_that_came_in_while_the_model_worked_stands_before_the_persons_words() {
    let report = "<system-reminder>\nThe taster says: thyme.\n</system-reminder>";
    let conversation = Conversation::default()
        .says("p1", "have it tasted")
        .calls("toolu_1", "Agent", json!({}), "launched")
        .beside(InsertKind::Report, report)
        .calls("toolu_2", "Bash", json!({}), "x");
    let texts = conversation.reset(true, false);
    assert!(texts[1].contains("launched"), "{texts:?}");
    assert_eq!(texts[2..], [report, "entry 0: have it tasted"]);
}

#[test]
fn the_rows_of_a_command_begin_no_turn() {
    let mut conversation = Conversation::default()
        .says("p1", "do the work")
        .calls("toolu_1", "Bash", json!({}), "x");
    conversation.prompt = Some("p9".to_owned());
    let conversation = conversation.add(Provenance::LocalCommand, "<command-name>/fresh-window</command-name>");
    assert_eq!(conversation.reset(true, false).last().unwrap(), "entry 0: do the work");
}

#[test]
fn a_close_out_turn_and_an_interruption_are_no_prompts() {
    let conversation = Conversation::default()
        .says("p1", "earlier")
        .says("p1", "[Request interrupted by user]")
        .says("p2", &format!("{CLOSE_OUT_TAG}\nsave your notes"))
        .calls("toolu_1", "Write", json!({}), "ok");
    let texts = conversation.reset(true, false);
    assert!(
        texts
            .iter()
            .all(|text| !text.contains("save your notes") && !text.contains("interrupted"))
    );
}

#[test]
fn an_image_is_missed_by_name() {
    let mut conversation = Conversation::default().says("p1", "what is in this picture?");
    conversation.rows[0].media.images = 1;
    let texts = conversation.reset(true, true);
    assert!(texts[1].contains("an image"));
    assert_eq!(texts[2], "entry 0: what is in this picture?");
}

#[test]
fn an_automatic_reset_between_turns_says_what_was_asked_last_and_what_is_open() {
    let todos = json!({ "todos": [
        { "content": "write the tests", "status": "in_progress", "activeForm": "writing" },
        { "content": "read the code", "status": "completed" },
        { "content": "ship\nit", "status": "pending" },
    ]});
    let conversation = Conversation::default()
        .says("p1", "build it")
        .calls(
            "toolu_1",
            "TodoWrite",
            json!({ "todos": [{ "content": "old", "status": "pending" }] }),
            "ok",
        )
        .calls("toolu_2", "TodoWrite", todos, "ok")
        .answers("done for now");
    assert_eq!(
        conversation.reset(false, true),
        [
            HEAD,
            "<notesoup:open>\nLast request:\nbuild it\n\n2 open:\n- [in_progress] write the tests\n- [pending] ship \
             it\n</notesoup:open>"
        ]
    );
    assert_eq!(
        conversation.reset(false, false),
        [HEAD],
        "a person knows what they asked"
    );
}

#[test]
fn tasks_kept_one_by_one_are_followed() {
    let conversation = Conversation::default()
        .says("p1", "build it")
        .calls(
            "c1",
            "TaskCreate",
            json!({ "subject": "one" }),
            "Task #1 created successfully: one",
        )
        .calls(
            "c2",
            "TaskCreate",
            json!({ "subject": "two" }),
            "Task #2 created successfully: two",
        )
        .calls(
            "c3",
            "TaskCreate",
            json!({ "subject": "three" }),
            "Task #3 created successfully: three",
        )
        .calls(
            "c4",
            "TaskUpdate",
            json!({ "taskId": "1", "status": "completed" }),
            "Updated task #1",
        )
        .calls(
            "c5",
            "TaskUpdate",
            json!({ "taskId": 2, "status": "in_progress", "subject": "two!" }),
            "Updated",
        )
        .calls(
            "c6",
            "TaskUpdate",
            json!({ "taskId": "3", "status": "deleted" }),
            "Updated",
        );
    let texts = conversation.reset(false, true);
    assert!(
        texts[1].ends_with("1 open:\n- [in_progress] #2 two!\n</notesoup:open>"),
        "{}",
        texts[1]
    );
}

#[test]
fn the_last_request_is_bounded_and_may_be_a_queued_one() {
    let options = WindowOptions {
        request_chars: 5,
        ..WindowOptions::default()
    };
    let conversation = Conversation::default()
        .says("p1", "build it")
        .calls("c1", "Bash", json!({}), "x")
        .beside(InsertKind::QueuedPrompt, "größer, bitte")
        .answers("done");
    let texts = conversation.reset_with(false, true, &options);
    assert_eq!(
        texts[1],
        "<notesoup:open>\nLast request:\ngröße … (8 characters more)\n</notesoup:open>"
    );
    let none = WindowOptions {
        request_chars: 0,
        ..options
    };
    assert_eq!(conversation.reset_with(false, true, &none), [HEAD]);
}

#[test]
fn the_work_is_bounded_in_calls_and_characters_and_short_ones_stay_whole() {
    let mut conversation = Conversation::default().says("p1", "work");
    for number in 0..20 {
        conversation = conversation.calls(
            &format!("toolu_{number}"),
            "Bash",
            json!({ "command": "x" }),
            &"y".repeat(if number == 19 { 50_000 } else { 10 }),
        );
    }
    let options = WindowOptions {
        work_calls: 4,
        work_chars: 1000,
        ..WindowOptions::default()
    };
    let work = &conversation.reset_with(true, true, &options)[1];
    assert!(work.contains("4 calls:") && work.contains("[toolu_16]") && !work.contains("[toolu_15]"));
    assert!(work.contains("\nyyyyyyyyyy\n"), "short ones stay whole");
    assert!(work.contains("characters more)"));
    assert!(work.chars().count() < 1000 + 300, "{}", work.chars().count());
    let none = WindowOptions {
        work_calls: 0,
        ..options
    };
    assert_eq!(conversation.reset_with(true, true, &none), [HEAD, "entry 0: work"]);
}

#[test]
fn a_call_without_a_result_and_a_failed_one_say_so() {
    let mut conversation = Conversation::default()
        .says("p1", "work")
        .calls("c1", "Bash", json!({}), "boom");
    conversation.messages[2]["toolResults"][0]["isError"] = json!(true);
    conversation.messages.push(json!({
        "role": "assistant", "text": "", "toolUses": [{ "tool_use_id": "c2", "tool": "Read", "input": {} }],
    }));
    let work = &conversation.reset(true, true)[1];
    assert!(work.contains("[c1] Bash {} (failed)\nboom"));
    assert!(work.contains("[c2] Read {} (no result yet)"));
}

#[test]
fn inserts_of_the_turn_before_stay_there() {
    let raw = json!([
        { "role": "user", "text": "one" },
        { "role": "assistant", "text": "yes" },
        { "role": "user", "text": "two" },
    ])
    .to_string();
    let entries: Vec<Entry<'_>> = serde_json::from_str(&raw).unwrap();
    let insert = |before, text: &str| Insert {
        before,
        kind: InsertKind::QueuedPrompt,
        text: text.to_owned(),
        row: "r".to_owned(),
    };
    let mut branch = Branch::default();
    branch.inserts = vec![insert(2, "of the turn before"), insert(3, "of this one")];
    let turn = open_turn(&entries, &branch, "s");
    assert_eq!(turn.prompts, [Prompt::Entry(2), Prompt::Text("of this one".to_owned())]);
}
