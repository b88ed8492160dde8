//! The client's own compaction becomes a fresh window that keeps the person's words.

use serde_json::json;

use crate::spine::{assert_boot, assert_sound, boots, paragraphs};
use crate::support::{Asker, Build, Gate, Key, Lab, Reply, Tty, both_builds};

/// Above the point where a window of a million is compacted, on both builds.
const FULL: u64 = 968_000;

/// Far below it: a window that is full from its first response on is not reset again.
const HALF: u64 = 300_000;

/// A reset of ours never becomes due, so that the client's own compaction comes first. The row that would cause it stays:
/// without one, compactions are left to the client.
const AUTO_ONLY: &str = "
[hooks.close-out]
enabled = false
[hooks.reset-after-turn]
when = { reason = 'aborted' }
[hooks.reset-at-measure]
enabled = false
";

/// A prompt that a careless hand-back would bend.
const PROMPT: &str = "Stir the «soup» 🍲  twice,\n\n  then say \"done\" <b>& nothing</b> else.\t";

/// What the person types.
const TYPED: &str = "this sets it off, «word» for word";

/// Fills the window, then types a prompt that sets the client's compaction off and is not answered until the gate opens.
fn full_then_prompt(build: Build, gate: &Gate) -> (Lab, Tty) {
    let lab = Lab::on(build)
        .hooks_toml(AUTO_ONLY)
        .script([
            Reply::text("half").tokens(HALF),
            Reply::text("full").tokens(FULL),
            Reply::text("late").held_by(gate),
        ])
        .start();
    let mut tty = lab.interactive();
    tty.ask("find the pot");
    tty.ask("fill the pot");
    tty.type_line(TYPED);
    lab.model.wait_for_requests(3);
    (lab, tty)
}

both_builds! {
    /// On a prompt, profile `both`; Escape right after brings the person's prompt back, not our text.
    fn on_a_prompt(build) {
        let gate = Gate::new();
        let (lab, mut tty) = full_then_prompt(build, &gate);
        let request = lab.model.last();
        assert_boot(&request, 1);
        assert_eq!(paragraphs(&request, "forced_reset"), 1, "{}", request.outline());
        assert!(request.has_prompt(TYPED), "{}", request.outline());
        assert!(!request.has_prompt("fill the pot"), "{}", request.outline());
        tty.press(Key::Escape);
        tty.wait_idle();
        gate.release();
        tty.screenshot("escape");
        assert_eq!(tty.prompt_box(), TYPED.replace(' ', ""));
        tty.leave();
        assert_sound(&lab);
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0);
    }

    /// The prompt that Escape brought back is sent again: with the boot, and once.
    fn sent_again_after_escape(build) {
        let gate = Gate::new();
        let (lab, mut tty) = full_then_prompt(build, &gate);
        tty.press(Key::Escape);
        tty.wait_idle();
        gate.release();
        tty.press(Key::Enter);
        let request = lab.model.wait_for_requests(4);
        tty.wait_idle();
        tty.leave();
        assert_eq!(request.count_prompt(TYPED), 1, "{}", request.outline());
        assert_boot(&request, 1);
    }

    /// On a prompt, profile `notesoup`, headless, byte for byte over several lines; the window stays after that.
    fn on_a_prompt_headless(build) {
        let lab = Lab::on(build)
            .option("profile", json!("notesoup"))
            .hooks_toml(AUTO_ONLY)
            .script([Reply::text("half").tokens(HALF), Reply::text("full").tokens(FULL), Reply::text("fresh"), Reply::text("on")])
            .start();
        let mut session = lab.stream(&[]);
        session.ask("find the pot");
        session.ask("fill the pot");
        assert_eq!(session.ask(PROMPT)["result"], "fresh");
        session.finish();
        let request = lab.model.last();
        assert_boot(&request, 1);
        assert_eq!(paragraphs(&request, "forced_reset"), 1, "{}", request.outline());
        assert!(request.has_prompt(PROMPT), "{:#?}", request.user_texts());
        lab.headless_continue("go on").success();
        let request = lab.model.last();
        assert_boot(&request, 1);
        assert_eq!(request.count_prompt(PROMPT), 1, "{}", request.outline());
        assert!(!request.contains("fill the pot"));
        assert_sound(&lab);
    }

    /// In the middle of the first turn, with a prompt typed meanwhile: both prompts stand in the next request.
    fn in_the_middle_of_the_first_turn(build) {
        let gate = Gate::new();
        let lab = Lab::on(build)
            .script([Reply::bash("echo broth").held_by(&gate).tokens(FULL), Reply::text("done")])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("stir it");
        lab.model.wait_for_requests(1);
        tty.type_line("and taste it");
        gate.release();
        let request = lab.model.wait_for_request("in a fresh window", |request| {
            boots(request).iter().any(|window| window.ends_with(":1"))
        });
        tty.wait_for_screen("done");
        tty.wait_idle();
        tty.leave();
        assert_boot(&request, 1);
        assert_eq!(paragraphs(&request, "forced_reset"), 1, "{}", request.outline());
        assert!(request.has_prompt("stir it"), "{}", request.outline());
        let last = lab.model.last();
        assert!(last.contains("and taste it"), "{}", last.outline());
        assert!(request.contains("echo broth"), "what was done is told\n{}", request.outline());
        assert_sound(&lab);
    }

    /// The API refuses the conversation as too long.
    fn prompt_too_long(build) {
        let lab = Lab::on(build)
            .script([Reply::text("one"), Reply::text("two"), Reply::prompt_too_long(), Reply::text("after all")])
            .start();
        lab.headless("first").success();
        lab.headless_continue("second").success();
        assert_eq!(lab.headless_continue(PROMPT).success().stdout.trim(), "after all");
        let request = lab.model.last();
        request.assert_well_formed();
        assert_boot(&request, 1);
        assert_eq!(paragraphs(&request, "forced_reset"), 1, "{}", request.outline());
        assert!(request.has_prompt(PROMPT), "{:#?}", request.user_texts());
        assert!(!request.has_prompt("first"), "{}", request.outline());
    }

    /// Profile `compact-shaper`: the client's own summary, shaped by us, and no boot anywhere.
    fn shaped_summary_under_compact_shaper(build) {
        let lab = Lab::on(build)
            .hooks_toml("profile = \"compact-shaper\"\n")
            .script([Reply::text("half").tokens(HALF), Reply::text("full").tokens(FULL), Reply::text("fresh")])
            .start();
        let mut session = lab.stream(&[]);
        session.ask("find the pot");
        session.ask("fill the pot");
        session.ask("go on");
        session.finish();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1);
        assert!(summaries[0].contains("Rejected approaches"), "{}", summaries[0].outline());
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.contains("What was said, in short.") && request.has_prompt("go on"));
        assert!(lab.model.requests().iter().all(|request| boots(request).is_empty()));
        lab.logs().assert_clean();
    }

    /// A subagent that fills its own context is compacted by the client as without us.
    fn a_subagent_keeps_its_native_compaction(build) {
        let call = json!({"description": "Taste", "prompt": "Taste it.", "subagent_type": "general-purpose", "run_in_background": false});
        let lab = Lab::on(build).script([Reply::tool("Agent", call), Reply::text("thanks")]).start();
        lab.model.script_subagents([
            Reply::bash("echo salt"),
            Reply::bash("echo pepper"),
            Reply::bash("echo garlic").tokens(FULL),
            Reply::text("It wants thyme."),
        ]);
        lab.headless("send somebody").success();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1, "{}", lab.model.outline());
        assert!(!summaries[0].contains("Rejected approaches"));
        let agents = lab.model.requests_of(Asker::Subagent);
        assert!(agents.iter().all(|request| boots(request).is_empty() && paragraphs(request, "forced_reset") == 0));
        assert!(agents.last().unwrap().contains("What was said, in short."));
        assert_boot(&lab.model.last(), 0);
        assert_sound(&lab);
    }
}
