//! The test support itself, shown on a plugin of a few lines.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{Asker, Gate, Key, Lab, LabBuilder, Reply, both_builds};

fn probe() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/client/probe")
}

fn lab(build: crate::support::Build) -> LabBuilder {
    Lab::on(build).plugins([probe()])
}

both_builds! {
    /// A headless run and one that goes on with it: the boot is there once, and the prompts whole.
    fn headless_runs(build) {
        let lab = lab(build).script([Reply::text("first answer"), Reply::text("second answer")]).start();
        assert_eq!(lab.headless("What is in the pot?").success().stdout.trim(), "first answer");
        assert_eq!(lab.headless_continue("And now?").success().stdout.trim(), "second answer");
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.count("probe boot"), 1);
        assert!(request.has_prompt("What is in the pot?") && request.has_prompt("And now?"));
        assert_eq!(lab.model.count(), 2);
        lab.logs().assert_clean();
    }

    /// A turn with one call, then one with two calls in one response, in a terminal.
    fn tool_turns(build) {
        let lab = lab(build)
            .script([
                Reply::text("I look.").and_bash("echo one-soup"),
                Reply::text("seen"),
                Reply::bash("echo two-soups").and_bash("echo three-soups"),
                Reply::text("seen both"),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("look once");
        tty.wait_for_screen("seen");
        tty.ask("look twice");
        tty.wait_for_screen("seen both");
        tty.screenshot("two-turns");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.tool_calls().len(), 3);
        let mut results: Vec<String> = request.tool_results().into_iter().map(|(_, text)| text).collect();
        results[1..].sort(); // Parallel calls are answered in the order in which they end.
        assert_eq!(results, ["one-soup", "three-soups", "two-soups"]);
        assert_eq!(request.count("probe boot"), 1);
        lab.logs().assert_clean();
    }
}

both_builds! {
    /// The client compacts by itself on the prompt behind a response that filled the window; the plugin answers.
    fn automatic_compaction_on_a_prompt(build) {
        let lab = lab(build).script([Reply::text("full now").tokens(968_000), Reply::text("fresh")]).start();
        let mut tty = lab.interactive();
        tty.ask("fill the pot");
        tty.ask("this one sets it off");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt("probe reset") && request.has_prompt("this one sets it off"));
        assert_eq!(request.count("fill the pot"), 0);
        assert_eq!(request.count("probe boot"), 1);
        assert_eq!(request.count("start=\"compact\""), 1);
        assert_eq!(lab.transcript().boundaries(), 1);
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0);
    }

    /// The API refuses a conversation that no longer fits: the client compacts and asks again.
    fn prompt_too_long(build) {
        let lab = lab(build)
            .script([Reply::text("one"), Reply::text("two"), Reply::prompt_too_long(), Reply::text("after all")])
            .start();
        let mut tty = lab.interactive();
        tty.ask("first");
        tty.ask("second");
        tty.type_line("too much");
        lab.model.wait_for_requests(4);
        tty.wait_idle();
        tty.wait_for_screen("after all");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt("too much") && request.has_prompt("probe reset"));
        assert_eq!(request.count("probe boot"), 1);
    }

    /// `/compact` asks the model for a summary, which is told from the conversation's own requests.
    fn a_native_summary(build) {
        let lab = lab(build).script([Reply::text("soup"), Reply::text("more")]).start();
        lab.model.script_summaries([Reply::summary("They spoke of soup.")]);
        let mut tty = lab.interactive();
        tty.ask("what is in the pot");
        tty.command("/compact keep the recipe");
        tty.ask("go on");
        tty.leave();
        let summary = lab.model.requests_of(Asker::Summary).remove(0);
        assert!(summary.contains("keep the recipe"), "{}", summary.outline());
        assert_eq!(lab.model.count(), 2);
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.count("They spoke of soup."), 1);
        assert_eq!(request.count("probe boot"), 1);
    }

    /// `/clear` begins another conversation; leaving and `--continue` goes on with that one.
    fn clear_and_continue(build) {
        let lab = lab(build).start();
        let mut tty = lab.interactive();
        tty.ask("before");
        let first = lab.model.last().session().to_owned();
        tty.command("/clear");
        tty.ask("after");
        tty.leave();
        let second = lab.model.last();
        assert_ne!(second.session(), first);
        assert!(second.has_prompt("after") && !second.has_prompt("before"));
        assert_eq!(second.count("probe boot"), 1);
        assert_eq!(lab.transcripts().len(), 2);

        let mut tty = lab.interactive_continue();
        tty.ask("and on");
        tty.leave();
        let third = lab.model.last();
        third.assert_well_formed();
        assert_eq!(third.session(), second.session());
        assert!(third.has_prompt("after") && third.has_prompt("and on"));
        assert_eq!(third.count("probe boot"), 1);
    }

    /// Escape while the model is held: the turn is given up, a prompt typed ahead still goes out.
    fn escape_during_a_held_turn(build) {
        let gate = Gate::new();
        let lab = lab(build).script([Reply::text("never seen").held_by(&gate), Reply::text("second")]).start();
        let mut tty = lab.interactive();
        tty.type_line("a long one");
        lab.model.wait_for_requests(1);
        tty.wait_busy();
        tty.press(Key::Escape);
        tty.wait_idle();
        gate.release();
        tty.screenshot("interrupted");
        tty.clear_prompt_box();
        tty.ask("a short one");
        tty.wait_for_screen("second");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt("a short one"));
        assert!(!request.contains("never seen"));
    }

    /// A prompt typed while a turn runs joins it or follows it.
    fn a_prompt_typed_ahead(build) {
        let gate = Gate::new();
        let lab = lab(build).script([Reply::bash("echo broth").held_by(&gate), Reply::text("both done")]).start();
        let mut tty = lab.interactive();
        tty.type_line("first of two");
        lab.model.wait_for_requests(1);
        tty.type_line("second of two");
        gate.release();
        let request = lab.model.wait_for_request("with both prompts", |request| {
            request.contains("first of two") && request.contains("second of two")
        });
        request.assert_well_formed();
        tty.wait_idle();
        tty.leave();
    }

    /// `/rewind` to a prompt takes it and what followed back into the box.
    fn rewind(build) {
        let lab = lab(build).start();
        let mut tty = lab.interactive();
        tty.ask("alpha");
        tty.ask("beta");
        tty.ask("gamma");
        tty.rewind(2);
        assert_eq!(tty.prompt_box(), "beta");
        tty.clear_prompt_box();
        tty.ask("delta");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt("alpha") && request.has_prompt("delta"));
        assert!(!request.has_prompt("beta") && !request.has_prompt("gamma"));
    }

    /// A background agent with calls of its own; its report comes later, as a prompt of the client.
    fn a_background_agent(build) {
        let call = json!({
            "description": "Taste", "prompt": "Taste the soup.", "subagent_type": "general-purpose",
            "run_in_background": true,
        });
        let lab = lab(build).script([Reply::tool("Agent", call), Reply::text("sent one out")]).start();
        lab.model.script_subagents([
            Reply::bash("echo salt").and_bash("echo pepper"),
            Reply::text("It wants thyme."),
        ]);
        let mut tty = lab.interactive();
        tty.ask("send somebody");
        let report = lab.model.wait_for_request("with the report", |request| {
            request.asker == Asker::Main && request.contains("It wants thyme.")
        });
        report.assert_well_formed();
        tty.wait_idle();
        tty.leave();
        let agents = lab.model.requests_of(Asker::Subagent);
        assert_eq!(agents.len(), 2);
        agents[1].assert_well_formed();
        assert!(agents[0].contains("Taste the soup."));
        assert_eq!(agents[1].tool_results().len(), 2);
        assert_eq!(agents[0].count("probe boot"), 0);
        assert_eq!(lab.model.replies_left(), 0);
    }

    /// A session fed by rows of JSON.
    fn a_stream_of_prompts(build) {
        let lab = lab(build).script([Reply::text("first"), Reply::bash("echo broth"), Reply::text("second")]).start();
        let mut session = lab.stream(&[]);
        assert_eq!(session.ask("one")["result"], "first");
        assert_eq!(session.ask("two")["result"], "second");
        session.finish();
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.count("probe boot"), 1);
    }

    /// A module that is refused, one that throws, and a model that fails are three different things.
    fn faults_are_told_apart(build) {
        let broken = |body: &str| {
            let lab = lab(build).start();
            std::fs::write(lab.plugin(0).join("hooks/register.js"), body).unwrap();
            lab.headless("hello").success();
            lab
        };
        let refused = broken("export function register(on) { not a module");
        assert!(!refused.logs().module_refused().is_empty());
        assert!(refused.logs().hook_failed().is_empty());
        let throws = broken("export function register(on) { on('classic.SessionStart', async () => { throw new Error('boiled over') }) }");
        assert!(throws.logs().module_refused().is_empty());
        assert!(throws.logs().hook_failed().iter().any(|line| line.contains("boiled over")));
        assert!(throws.logs().model_failed().is_empty());

        let down = lab(build).start();
        // A build may try once more with another shape of request.
        down.model.rule(|_| Some(Reply::error(400, "invalid_request_error", "no soup today")));
        let run = down.headless("hello");
        assert!(run.said().contains("no soup today"), "{}", run.said());
        assert!(!down.logs().model_failed().is_empty());
        down.logs().assert_clean();
    }
}
