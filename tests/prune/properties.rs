//! What holds for every conversation.

use notesoup::prune::{PruneOptions, PruneOutcome, is_cut};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::talk::{Talk, check_law, eager, rebuild, texts};

/// One thing that happens in a conversation. Ids are few, so that they clash and calls stay open.
#[derive(Debug, Clone)]
enum Step {
    Prompt(String),
    Queued(String),
    File(String),
    Meta(String),
    Notification(String),
    Command,
    Respond,
    Says(String),
    Thinks,
    Calls(u8, usize, usize),
    Answered(u8, usize),
    Failed(u8, usize),
    Image(u8),
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z 🦀é\n]{0,12}", "[ \n]{0,3}", Just("<system-reminder>x".to_owned())]
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![0..40_usize, 300..900_usize, 2_000..4_000_usize];
    prop_oneof![
        1 => words().prop_map(Step::Prompt),
        1 => words().prop_map(Step::Queued),
        1 => words().prop_map(Step::File),
        1 => words().prop_map(Step::Meta),
        1 => words().prop_map(Step::Notification),
        1 => Just(Step::Command),
        2 => Just(Step::Respond),
        2 => words().prop_map(Step::Says),
        1 => Just(Step::Thinks),
        6 => (0..40_u8, 0..TOOLS.len(), size.clone()).prop_map(|(id, tool, size)| Step::Calls(id, tool, size)),
        6 => (0..40_u8, size.clone()).prop_map(|(id, size)| Step::Answered(id, size)),
        1 => (0..40_u8, size).prop_map(|(id, size)| Step::Failed(id, size)),
        1 => (0..40_u8).prop_map(Step::Image),
    ]
}

const TOOLS: &[&str] = &["Bash", "Read", "Edit", "Write", "MultiEdit", "Agent"];

fn output(size: usize) -> String {
    "é line of output\n".chars().cycle().take(size).collect()
}

fn talk(steps: &[Step]) -> Talk {
    let mut talk = Talk::new();
    for step in steps {
        match step {
            Step::Prompt(text) => talk.prompt(text),
            Step::Queued(text) => talk.queued(text),
            Step::File(text) => talk.file("/project/f", text),
            Step::Meta(text) => talk.meta(text),
            Step::Notification(text) => talk.notification(text),
            Step::Command => talk.command("compact"),
            Step::Respond => talk.respond(),
            Step::Says(text) => talk.says(text),
            Step::Thinks => talk.thinks("hm"),
            Step::Calls(id, tool, size) => {
                let input = json!({
                    "command": "ls", "file_path": format!("/project/{}", id % 4), "content": output(*size),
                    "edits": [{ "new_string": output(*size) }],
                });
                talk.calls(&format!("toolu_{id}"), TOOLS[*tool], input)
            }
            Step::Answered(id, size) => talk.answered(&format!("toolu_{id}"), &output(*size)),
            Step::Failed(id, size) => talk.failed(&format!("toolu_{id}"), &output(*size)),
            Step::Image(id) => talk.image(&format!("toolu_{id}")),
        };
    }
    talk
}

fn cut(talk: &Talk, options: &PruneOptions) -> Option<Vec<Value>> {
    match talk.prune(options) {
        PruneOutcome::Answer { messages, .. } => Some(rebuild(&talk.entries, &messages)),
        PruneOutcome::Skip { .. } => None,
    }
}

/// Texts that must be there again: those of the entries, without rows of local commands, and prompts typed meanwhile.
fn expected(talk: &Talk, role: &str) -> Vec<String> {
    let kept =
        |text: &str| !text.trim().is_empty() && !text.starts_with("<command-name>") && !text.starts_with("<local-");
    let mut all = Vec::new();
    for row in &talk.rows {
        let queued = row["attachment"]["prompt"].as_str().filter(|_| role == "user");
        let own = talk
            .entries
            .iter()
            .find(|entry| entry["handle"] == row["uuid"] && entry["role"] == role)
            .and_then(|entry| entry["text"].as_str());
        all.extend(queued.or(own).filter(|text| kept(text)).map(str::to_owned));
    }
    all
}

fn saved(messages: &[Value]) -> usize {
    messages.iter().map(|message| message.to_string().len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_law_holds_and_no_word_is_lost(steps in prop::collection::vec(step(), 0..60), preserve in 0..9_u32) {
        let talk = talk(&steps);
        let options = PruneOptions { preserve_recent_messages: preserve, ..eager() };
        if let Some(messages) = cut(&talk, &options) {
            check_law(&messages);
            prop_assert_eq!(texts(&messages, "assistant"), expected(&talk, "assistant"));
            let mut users = texts(&messages, "user").into_iter();
            for wanted in expected(&talk, "user") {
                // In order, and whole; a notification inside its frame.
                prop_assert!(users.any(|text| text == wanted || text.contains(&format!("\n{wanted}\n</system-reminder>"))), "{}", wanted);
            }
        }
    }

    #[test]
    fn a_second_cut_finds_nothing(steps in prop::collection::vec(step(), 0..60), preserve in 0..9_u32) {
        let talk = talk(&steps);
        let options = PruneOptions { preserve_recent_messages: preserve, ..eager() };
        if let Some(messages) = cut(&talk, &options) {
            let again = Talk::after(&messages);
            prop_assert_eq!(cut(&again, &options), None);
        }
    }

    #[test]
    fn a_larger_head_never_cuts_more(steps in prop::collection::vec(step(), 0..60), head in 0..600_u32, more in 1..600_u32) {
        let talk = talk(&steps);
        let small = PruneOptions { keep_head_chars: head, ..eager() };
        let large = PruneOptions { keep_head_chars: head + more, ..eager() };
        if let Some(larger) = cut(&talk, &large) {
            let smaller = cut(&talk, &small);
            prop_assert!(smaller.is_some(), "the larger head cuts, the smaller does not");
            // A line end may give the larger head up to a fifth of itself less.
            let slack = saved(&larger) / 5 + 1_000;
            prop_assert!(saved(&smaller.unwrap()) <= saved(&larger) + slack);
        }
    }

    #[test]
    fn what_is_kept_and_what_is_gone_is_all(size in 501..5_000_usize, head in 0..400_u32, tail in 0..200_u32) {
        let mut talk = Talk::new();
        let whole = output(size);
        talk.prompt("go").step("toolu_1", "Bash", json!({ "command": "x" }), &whole).ending();
        let options = PruneOptions { keep_head_chars: head, keep_tail_chars: tail, ..eager() };
        if let Some(messages) = cut(&talk, &options) {
            let text = crate::talk::result_of(&messages, "toolu_1");
            prop_assert!(is_cut(text));
            let (kept, note) = text.rsplit_once("[notesoup cut ").unwrap();
            let number = |text: &str| text.replace(',', "").parse::<usize>().unwrap();
            let (gone, total) = note.split_once(": ").unwrap().1.split_once(" characters").unwrap().0.split_once(" of ").unwrap();
            prop_assert_eq!(number(total), size);
            let (start, end) = kept.split_once("[…]\n").unwrap_or((kept, ""));
            let (start, end) = (trimmed(start, &whole, true), trimmed(end, &whole, false));
            prop_assert!(whole.starts_with(start) && whole.ends_with(end));
            prop_assert_eq!(start.chars().count() + end.chars().count() + number(gone), size);
        }
    }
}

/// Without the line end that was put behind a part which did not have one.
fn trimmed<'a>(part: &'a str, whole: &str, head: bool) -> &'a str {
    let there = if head {
        whole.starts_with(part)
    } else {
        whole.ends_with(part)
    };
    if there {
        part
    } else {
        part.strip_suffix('\n').unwrap_or(part)
    }
}
