//! The line under the prompt: how full the window is, and what comes next.

use serde_json::json;

use crate::support::{Lab, Reply, both_builds};

/// The three rows.
const ON: &str =
    "[hooks]\nstatus-line.enabled = true\nstatus-line-in-turn.enabled = true\nstatus-line-at-start.enabled = true\n";

both_builds! {
    /// Off, then on: nothing far below the marks, then the way to each of them, and gone with the window.
    fn it_comes_near_a_mark_says_what_is_next_and_goes_with_the_window(build) {
        let gate = crate::support::Gate::new();
        let lab = Lab::on(build)
            .hooks_toml(ON)
            .script([
                Reply::text("simmering").tokens(900_000),
                Reply::bash("echo one").tokens(930_000),
                Reply::text("boiling").tokens(931_000).held_by(&gate),
                Reply::bash("echo two").tokens(944_000),
                Reply::text("warned").tokens(945_808),
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        assert!(!tty.shows("notesoup: window"), "{}", tty.screen_text());
        tty.type_line("go on");
        // In the middle of the turn, before its last response.
        tty.wait_for_screen("window :0 ███████████░ 930,000 of 967,000 · the model is warned in 12,424");
        tty.screenshot("in-turn");
        gate.release();
        tty.wait_for_screen("931,000 of 967,000 · the model is warned in 11,424");
        tty.wait_idle();
        tty.ask("go on");
        tty.wait_for_screen("945,808 of 967,000 · a fresh window in 13,000");
        tty.screenshot("warned");
        tty.ask("and on");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.wait_until_gone("notesoup: window :0 ");
        tty.ask("and now");
        assert!(!tty.shows("of 967,000"), "{}", tty.screen_text());
        tty.screenshot("fresh");
        lab.set_hooks_toml(&ON.replace("line.enabled = true", "line = { enabled = true, options.show = \"always\" }"));
        tty.ask("still there?");
        tty.wait_for_screen("notesoup: window :1 ");
        tty.screenshot("always");
        // Where windows are not made, no reset is promised.
        lab.set_hooks_toml(&format!("profile = \"compact-shaper\"\n{}", ON.replace("line.enabled = true", "line = { enabled = true, options.show = \"always\" }")));
        lab.model.script([Reply::text("shaped").tokens(60_000)]);
        tty.ask("and now?");
        tty.wait_for_screen("60,000 of 967,000 · Claude Code compacts in 907,000");
        tty.screenshot("no-reset");
        tty.leave();
        // The rows that wait for a mark were not woken by the one that does not: of two batches one was above the mark.
        let log = lab.logs().helper();
        assert_eq!(log.matches("\"input\":\"ToolBatch\"").count(), 1, "{log}");
        lab.logs().assert_clean();
    }

    /// The whole way of a window, as the README's picture shows it: filled, warned in the middle of a turn, saved, and
    /// gone on with in a fresh one.
    fn the_picture_of_it_at_work(build) {
        let checkpoint = "# Checkpoint\n\nGoal: the importer streams. Done: the reader. Open: tests for empty files.\n";
        let update = json!({ "address": "checkpoint.md", "content": checkpoint });
        let lab = Lab::on(build)
            .hooks_toml(&(ON.replace("line.enabled = true", "line = { enabled = true, options.show = \"always\" }") + "[texts.reset_head]\npool = [\"A fresh window begins here; what came before is in the history.\"]\n"))
            .script([
                Reply::text("I look at the reader first, then at what calls it.").and_bash("echo 'test result: ok. 41 passed'").tokens(944_000),
                Reply::tool("mcp__notesoup__notes_write", update).tokens(946_500),
                Reply::text("The reader streams now, and its 41 tests pass. What is decided and what is open is in my notes.").tokens(950_424),
                Reply::text("Next are the tests for empty files.").tokens(959_000),
                Reply::text("The notes are up to date.").tokens(960_000),
                Reply::text("The checkpoint says that the reader is done and the tests for empty files are open. I go on there.").tokens(31_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("make the importer stream instead of loading the file");
        tty.wait_for_screen("a fresh window in 8,384");
        tty.screenshot("near");
        tty.ask("go on");
        tty.wait_for_screen("The notes are up to date.");
        tty.wait_idle();
        tty.ask("where were we?");
        tty.wait_for_screen("I go on there.");
        tty.wait_for_screen("window :1 ");
        tty.wait_idle();
        tty.screenshot("at-work");
        tty.command("/notesoup");
        tty.wait_for_screen("warning at 942,424, reset at 958,808");
        tty.screenshot("overview");
        tty.leave();
        let request = lab.model.last();
        assert_eq!(request.count("tests for empty files"), 1, "the checkpoint is in the boot: {}", request.outline());
        lab.logs().assert_clean();
    }
}
