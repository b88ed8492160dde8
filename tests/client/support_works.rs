//! The test support itself, shown on a plugin of a few lines.

use std::path::PathBuf;

use crate::support::{Lab, LabBuilder, Reply, both_builds};

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
