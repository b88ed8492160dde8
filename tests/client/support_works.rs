//! The test support itself, shown on a plugin of a few lines.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{Asker, Build, Gate, Key, Lab, LabBuilder, Reply, both_builds};

fn probe() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/client/probe")
}

fn lab(build: Build) -> LabBuilder {
    Lab::on(build).plugins([probe()])
}

both_builds! {
    /// A headless run, one that goes on with it, and a session fed by rows of JSON.
    fn headless(build) {
        let lab = lab(build)
            .script([
                Reply::text("first answer"),
                Reply::text("second answer"),
                Reply::text("third"),
                Reply::bash("echo broth"),
                Reply::text("fourth"),
            ])
            .start();
        assert_eq!(lab.headless("What is in the pot?").success().stdout.trim(), "first answer");
        assert_eq!(lab.headless_continue("And now?").success().stdout.trim(), "second answer");
        let request = lab.model.last();
        assert_eq!(request.count("probe boot"), 1);
        assert!(request.has_prompt("What is in the pot?") && request.has_prompt("And now?"));
        assert!(!request.has_prompt("What is in the pot"));

        let mut session = lab.stream(&[]);
        assert_eq!(session.ask("one")["result"], "third");
        assert_eq!(session.ask("two")["result"], "fourth");
        session.finish();
        let request = lab.model.last();
        assert_eq!(request.count("probe boot"), 1);
        assert!(request.has_prompt("one") && !request.has_prompt("And now?"));
        for request in lab.model.requests() {
            request.assert_well_formed();
        }
        assert_eq!(lab.model.count(), 5);
        lab.logs().assert_clean();
    }

    /// In a terminal: calls one by one and two in one response, a prompt typed ahead, a turn that Escape ends.
    fn turns(build) {
        let (first, second) = (Gate::new(), Gate::new());
        let lab = lab(build)
            .script([
                Reply::text("I look.").and_bash("echo one-soup"),
                Reply::bash("echo two-soups").and_bash("echo three-soups").held_by(&first),
                Reply::text("seen all"),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("look");
        lab.model.wait_for_requests(2);
        tty.type_line("and look again");
        first.release();
        tty.wait_for_screen("seen all");
        tty.wait_idle();
        tty.screenshot("seen");
        let request = lab.model.last();
        assert_eq!(request.tool_calls().len(), 3);
        let mut results: Vec<String> = request.tool_results().into_iter().map(|(_, text)| text).collect();
        results[1..].sort(); // Parallel calls are answered in the order in which they end.
        assert_eq!(results, ["one-soup", "three-soups", "two-soups"]);
        assert_eq!(request.count("probe boot"), 1);
        assert!(request.contains("and look again"));

        lab.model.script([Reply::text("never seen").held_by(&second), Reply::text("a short answer")]);
        let before = lab.model.count();
        tty.type_line("a long one");
        lab.model.wait_for_requests(before + 1);
        tty.wait_busy();
        tty.press(Key::Escape);
        tty.wait_idle();
        second.release();
        tty.screenshot("interrupted");
        tty.clear_prompt_box();
        tty.ask("a short one");
        tty.wait_for_screen("a short answer");
        tty.leave();
        let request = lab.model.last();
        assert!(request.has_prompt("a short one"));
        assert!(!request.contains("never seen"));
        for request in lab.model.requests() {
            request.assert_well_formed();
        }
        lab.logs().assert_clean();
    }

    /// The client compacts on a prompt behind a response that filled the window, and when the API refuses; the plugin
    /// answers both. `/compact` asks the model for a summary, which is told from the conversation's own requests.
    fn compactions(build) {
        let lab = lab(build).script([Reply::text("full now").tokens(968_000)]).start();
        lab.model.script_summaries([Reply::summary("They spoke of soup.")]);
        let mut tty = lab.interactive();
        tty.ask("fill the pot");
        tty.ask("this one sets it off");
        let request = lab.model.last();
        assert!(request.has_prompt("probe reset") && request.has_prompt("this one sets it off"));
        assert_eq!(request.count("fill the pot"), 0);
        assert_eq!(request.count("probe boot"), 1);
        assert_eq!(request.count("start=\"compact\""), 1);

        lab.model.script([Reply::prompt_too_long(), Reply::text("after all")]);
        tty.type_line("too much");
        tty.wait_for_screen("after all");
        tty.wait_idle();
        let request = lab.model.last();
        assert!(request.has_prompt("too much") && request.has_prompt("probe reset"));
        assert!(!request.has_prompt("this one sets it off"));
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0);

        tty.command("/compact keep the recipe");
        tty.ask("go on");
        tty.leave();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert!(summaries[0].contains("keep the recipe"), "{}", summaries[0].outline());
        let request = lab.model.last();
        assert_eq!(request.count("They spoke of soup."), 1);
        assert_eq!(request.count("probe boot"), 1);
        for request in lab.model.requests() {
            request.assert_well_formed();
        }
        assert_eq!(lab.transcript().boundaries(), 3);
    }

    /// `/clear` begins another conversation; `--continue` goes on with that one; `/rewind` takes a prompt back.
    fn conversations(build) {
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
        tty.ask("alpha");
        tty.ask("beta");
        tty.ask("gamma");
        let third = lab.model.last();
        assert_eq!(third.session(), second.session());
        assert!(third.has_prompt("after") && third.has_prompt("gamma"));
        assert_eq!(third.count("probe boot"), 1);
        tty.rewind(2);
        assert_eq!(tty.prompt_box(), "beta");
        tty.clear_prompt_box();
        tty.ask("delta");
        tty.leave();
        let last = lab.model.last();
        assert!(last.has_prompt("alpha") && last.has_prompt("delta"));
        assert!(!last.has_prompt("beta") && !last.has_prompt("gamma"));
        for request in lab.model.requests() {
            request.assert_well_formed();
        }
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
        let throws = "on('classic.SessionStart', async () => { throw new Error('boiled over') })";
        let throws = broken(&format!("export function register(on) {{ {throws} }}"));
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

/// What is wrong with a conversation is found, and what is right is not.
#[test]
fn faults_of_a_request_are_found() {
    use crate::support::Request;
    let faults = |messages: serde_json::Value| Request::recorded(json!({"messages": messages, "tools": [{}]})).faults();
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]});
    let user = json!({"role": "user", "content": "hello"});
    let system = json!({"role": "system", "content": "between"});

    assert!(faults(json!([user, call("a"), result("a"), system])).is_empty());
    assert!(faults(json!([user, call("a"), system, result("a")])).is_empty());
    assert!(faults(json!([call("a"), result("a")]))[0].contains("first message"));
    assert!(faults(json!([user, call("a"), user]))[0].contains("answered 0 times"));
    assert!(faults(json!([user, call("a"), user, result("a")])).len() == 2);
    assert!(faults(json!([user, result("a")]))[0].contains("does not stand behind its call"));
    assert!(faults(json!([user, call("a"), result("a"), call("a"), result("a")]))[0].contains("comes twice"));
    assert!(faults(json!([user, call("a")])).len() == 2);
}
