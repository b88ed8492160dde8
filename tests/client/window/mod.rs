//! The window in the real client: the warning that arrives, the reset that keeps its word, `/fresh-window`.
//!
//! Scripted usage drives it: a million tokens of window, the client compacts at 967,000, the reset mark is 958,808 and
//! the warning mark 942,424.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Build, Lab, LabBuilder, PATIENCE, Reply, both_builds};

/// The frame of every boot.
const BOOT: &str = "<notesoup window=\"";
/// The tag of the warning.
const WARNING: &str = "<notesoup:warning";
/// The tag of the close-out.
const CLOSE_OUT: &str = "<notesoup:close-out";

fn lab(build: Build) -> LabBuilder {
    Lab::on(build)
}

/// Waits for what neither the screen nor the model shows.
#[track_caller]
fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_there() {
        assert!(Instant::now() < end, "no {what} within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

both_builds! {
    /// Crossing the warning mark in the middle of a long turn: the very next request carries the warning, one copy,
    /// and never again in that window.
    fn the_warning_comes_in_the_middle_of_a_turn_and_once(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo one").tokens(944_000),
                Reply::bash("echo two").tokens(945_000),
                Reply::text("done").tokens(946_000),
                Reply::text("more").tokens(947_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.ask("go on");
        tty.leave();
        let warnings: Vec<usize> = lab.model.requests().iter().map(|request| request.count(WARNING)).collect();
        assert_eq!(warnings, [0, 1, 1, 1]);
        assert!(lab.model.last().contains("958,808"));
        lab.logs().assert_clean();
    }

    /// Crossing the reset mark: one close-out in the same turn, then the reset after it; the next request has the boot
    /// of the next window and one paragraph.
    fn the_reset_comes_after_the_turn_that_closed_out(build) {
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.screenshot("after");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests[1].count(CLOSE_OUT), 1, "{}", lab.model.outline());
        assert_eq!(requests.len(), 3, "{}", lab.model.outline());
        let fresh = &requests[2];
        fresh.assert_well_formed();
        assert_eq!(fresh.count(BOOT), 1);
        assert!(fresh.contains(":1\">"));
        assert!(!fresh.contains("pondering"));
        assert_eq!(fresh.count(CLOSE_OUT), 0);
        assert!(fresh.has_prompt("and now"));
        lab.logs().assert_clean();
    }

    /// A prompt that sets the client's own compaction off: our answer stands in its place, and the prompt is answered,
    /// byte for byte.
    fn a_compaction_that_a_prompt_sets_off_keeps_the_prompt(build) {
        let prompt = "a question, \"quoted\" and with ünïcode — to the letter";
        let lab = lab(build)
            .script([Reply::text("pondering").tokens(940_000), Reply::text("filled").tokens(968_000), Reply::text("answered").tokens(30_000)])
            .hooks_toml("[hooks.close-out]\nenabled = false\n[hooks.reset-after-turn]\nenabled = false\n[hooks.reset-at-measure]\nenabled = false\n")
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.ask("fill it");
        tty.ask(prompt);
        tty.wait_for_screen("answered");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt(prompt), "{}", lab.model.outline());
        assert_eq!(request.count(BOOT), 1, "{}", lab.model.outline());
        assert!(request.contains(":1\">"));
        assert!(!request.contains("pondering"));
        assert_eq!(lab.model.requests().len(), 3, "{}", lab.model.outline());
    }

    /// The same in the middle of the first turn, after one response that leaps over both marks: the turn goes on.
    fn a_compaction_in_the_middle_of_a_turn_lets_it_go_on(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo hello-soup").tokens(970_000),
                Reply::text("went on").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("do the thing");
        tty.wait_for_screen("went on");
        tty.leave();
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.has_prompt("do the thing"), "{}", lab.model.outline());
        assert!(request.contains("hello-soup"), "the last results are handed on as text: {}", lab.model.outline());
        assert_eq!(request.count(BOOT), 1);
        assert!(request.contains(":1\">"));
    }

    /// `/fresh-window` while nothing runs: one close-out turn, then the reset; asked twice it says so.
    fn fresh_window_closes_out_and_resets(build) {
        let gate = crate::support::Gate::new();
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(20_000),
                Reply::tool("mcp__notesoup__notes_write", serde_json::json!({ "address": "checkpoint.md", "content": "# Where I was\n" })).tokens(21_000).held_by(&gate),
                Reply::text("saved").tokens(22_000),
                Reply::text("fresh").tokens(20_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.type_line("/fresh-window");
        lab.model.wait_for_requests(2);
        tty.type_line("/fresh-window");
        tty.wait_for_screen("asked for already");
        gate.release();
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests[1].count(CLOSE_OUT), 1);
        let fresh = lab.model.last();
        fresh.assert_well_formed();
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert_eq!(fresh.count(BOOT), 1);
        assert!(fresh.contains("Where I was"), "the checkpoint is in the boot");
        assert_eq!(requests.len(), 4, "{}", lab.model.outline());
        lab.logs().assert_clean();
    }
}

mod fresh_window;
mod headless;
mod neighbours;
mod sessions;
mod trouble;
mod two_processes;

/// A reply that crosses the reset mark, one for the close-out, and one in the fresh window.
fn through_a_reset() -> [Reply; 3] {
    [
        Reply::text("pondering").tokens(960_000),
        Reply::text("saved").tokens(961_000),
        Reply::text("fresh").tokens(30_000),
    ]
}
