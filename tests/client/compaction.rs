//! Compaction to the end: the ladder, the budget, the estimate, the handoff with any text of the person behind it.

use serde_json::{Value, json};

use crate::spine::{assert_boot, assert_sound};
use crate::support::{Asker, Build, Lab, LabBuilder, Reply, both_builds};

/// How a cut output ends.
const NOTE: &str = "[notesoup cut ";

/// The smallest window that can be configured: the client compacts at 67,000 tokens.
const SMALL_WINDOW: (&str, &str) = ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");

/// Above that point.
const FULL: u64 = 68_000;

/// What fills the window of the ladder.
const PROMPTS: [&str; 4] = ["count «everything»", "is it all?", "really?", "and nothing else?"];

/// The ladder alone: no reset of ours becomes due, so that the client's own compaction comes first.
const LADDER: &str = "
[hooks.ladder]
enabled = true
options = { target_percent = 80 }
[hooks.close-out]
enabled = false
[hooks.reset-after-turn]
when = { reason = 'aborted' }
[hooks.reset-at-measure]
enabled = false
";

fn ladder(build: Build) -> LabBuilder {
    Lab::on(build).hooks_toml(LADDER).env(SMALL_WINDOW.0, SMALL_WINDOW.1)
}

/// Long outputs, all in one response.
fn outputs(count: usize, text: &str) -> Reply {
    (0..count).fold(Reply::text(text), |reply, at| {
        reply.and_bash(&format!("seq {at}00 5000"))
    })
}

/// What the stand-in model counts, where it is not told otherwise.
const fn counted(bytes: usize) -> u64 {
    bytes as u64 / 4
}

both_builds! {
    /// A full window is cut, and the conversation stays word for word; full again in the same turn, it is reset.
    fn the_ladder_cuts_once_and_then_resets(build) {
        let lab = ladder(build)
            .script([
                outputs(4, "I count."),
                Reply::text("Counted."),
                Reply::text("Yes."),
                Reply::text("Indeed."),
                Reply::text("That is all.").tokens(FULL),
                Reply::bash("echo crowded").tokens(FULL),
                Reply::text("in a fresh window").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        for prompt in PROMPTS {
            tty.ask(prompt);
        }
        let before = lab.model.last();
        tty.type_line("and what now?");
        tty.wait_for_screen("in a fresh window");
        tty.wait_idle();
        tty.screenshot("ladder");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 7, "{}", lab.model.outline());
        let cut = &requests[5];
        assert_boot(cut, 1);
        for prompt in PROMPTS.iter().chain(&["and what now?"]) {
            assert_eq!(cut.count_prompt(prompt), 1, "{prompt}\n{}", cut.outline());
        }
        let said = before.assistant_texts();
        assert_eq!(cut.assistant_texts()[..said.len()], said, "every word of the assistant");
        let notes = |results: Vec<(String, String)>| results.into_iter().map(|(_, text)| text.contains(NOTE)).collect::<Vec<_>>();
        assert_eq!(notes(before.tool_results()), [false; 4]);
        assert_eq!(notes(cut.tool_results()), [true; 4], "{}", cut.outline());

        let fresh = &requests[6];
        assert_boot(fresh, 2);
        assert!(!fresh.has_prompt(PROMPTS[0]) && !fresh.contains(NOTE), "{}", fresh.outline());
        assert!(fresh.has_prompt("and what now?"), "{}", fresh.outline());
        assert_eq!(lab.transcript().boundaries(), 2);
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0);
        assert_sound(&lab);

        // The conversation as it was recorded, once more through the table: what the cut wrote again is no news.
        let transcript = lab.transcript().path;
        let replayed = lab.helper(&["replay", transcript.to_str().unwrap(), "--json"], "").success();
        let told: Value = serde_json::from_str(&replayed.stdout).unwrap();
        let told = &told["conversations"][0];
        assert_eq!((&told["turns"], &told["windows_recorded"]), (&json!(5), &json!(3)), "{told:#}");
        assert_eq!(told["fill"].as_array().unwrap().len(), 7, "{told:#}");
        let did = |row: &str| told["rows"].as_array().unwrap().iter().find(|found| found["id"] == row).unwrap()["did"].clone();
        assert_eq!(did("ladder"), 1, "{told:#}");
    }

    /// Where a cut would not bring the window under the share, it is reset at once.
    fn the_ladder_leaves_a_window_full_of_words_to_the_reset(build) {
        let lab = ladder(build)
            .script([Reply::text("half").tokens(30_000), Reply::text("full").tokens(FULL), Reply::text("fresh").tokens(20_000)])
            .start();
        let mut session = lab.stream(&[]);
        session.ask("find the pot");
        session.ask("fill the pot");
        assert_eq!(session.ask("and now?")["result"], "fresh");
        session.finish();
        let fresh = lab.model.last();
        assert_boot(&fresh, 1);
        assert!(fresh.has_prompt("and now?") && !fresh.has_prompt("fill the pot"), "{}", fresh.outline());
        assert_eq!((lab.transcript().boundaries(), lab.model.requests_of(Asker::Summary).len()), (1, 0));
        assert_sound(&lab);
    }

    /// A budget that no cut can reach: previewed, done as far as it goes, said; and the estimate is what the model then
    /// counts. Behind it a handoff with a text that is long and looks like an option.
    fn a_budget_out_of_reach_and_a_long_handoff(build) {
        // Most of the window is protected and stays: what the client lists again behind a cut, or not, is little beside it.
        let counting = (0..6).fold(outputs(4, "I count."), |reply, _| reply.and_bash("seq 1 5000"));
        let lab = Lab::on(build)
            .hooks_toml("[prune]\nprotected_commands = [\"seq 1 5000\"]\n")
            .script([counting, Reply::text("Counted.")])
            .start();
        let mut tty = lab.interactive();
        for prompt in ["count", "one", "two", "three", "four"] {
            tty.ask(prompt);
        }
        tty.command("/prune-preview 5k");
        tty.wait_for_screen("/compact prune 5k would cut 4 outputs");
        tty.screenshot("budget");
        let transcript = lab.transcript().path;
        let preview = lab.helper(&["prune", "--preview", transcript.to_str().unwrap(), "--to", "5k", "--json"], "").success();
        let report: Value = serde_json::from_str(&preview.stdout).unwrap();
        assert_eq!(report["measured"], true);
        assert_eq!(report["target"]["met"], false);
        let dominates = report["target"]["rest"][0]["what"].as_str().unwrap();

        let before = lab.model.last();
        tty.command("/compact prune 5k");
        tty.wait_for_screen("The target of 5.0k tokens is out of reach by");
        tty.wait_for_screen("most of the rest is");
        tty.screenshot("out-of-reach");
        let screen: String = tty.screen_text().split_whitespace().collect();
        let dominates: String = dominates.split_whitespace().collect();
        assert!(screen.contains(&dominates), "{screen}");
        tty.ask("and on");
        let after = lab.model.last();
        let estimate = report["tokens_after"].as_f64().unwrap();
        let (was, is) = (counted(before.bytes) as f64, counted(after.bytes) as f64);
        assert!(is < was * 0.8, "{was} became {is}");
        assert!((estimate / is - 1.0).abs() < 0.1, "estimated {estimate}, counted {is}, from {was}");
        tty.leave();

        let wish = format!("--help me {}END", "keep every name, path and \"quoted\" word; ".repeat(120));
        lab.headless_continue(&format!("/compact {wish}")).success();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1, "{}", lab.model.outline());
        let order = summaries[0].texts();
        assert_eq!(order.matches(&wish).count(), 1, "the whole text, once");
        let (structure, behind) = order.split_once(&wish).unwrap();
        assert!(structure.contains("7. Files to read first:"), "{structure}");
        for ours in ["Files to read first", "Rejected approaches", "handoff"] {
            assert!(!behind.contains(ours), "the person's text is the last: {behind}");
        }
        lab.headless_continue("go on").success();
        assert!(lab.model.last().contains("What was said, in short."));
        assert_boot(&lab.model.last(), 2);
        assert_sound(&lab);
    }
}

/// The structure of the handoff is a text of the config.
#[test]
fn the_words_of_the_handoff_are_the_persons_to_change() {
    Build::NEWEST.run(|build| {
        let lab = Lab::on(build)
            .hooks_toml("[texts.handoff]\npool = [\"List the spices, nothing else.\"]\n")
            .settings(json!({}))
            .start();
        lab.headless("what is in the pot").success();
        lab.headless_continue("/compact and the salt").success();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1, "{}", lab.model.outline());
        assert_eq!(summaries[0].count("List the spices, nothing else."), 1);
        assert!(!summaries[0].contains("Rejected approaches"));
        assert!(summaries[0].contains("and the salt"));
        lab.logs().assert_clean();
    });
}
