//! What goes wrong beside the window, and what the window makes of it.

use serde_json::json;

use super::{BOOT, CLOSE_OUT, WARNING, lab, through_a_reset, wait_for};
use crate::spine::assert_boot;
use crate::support::{Gate, Key, Reply, both_builds};

/// A helper that takes as long over a compaction as the file `slow` stands beside it, and says so by another; while the
/// file `broken` stands there it fails.
fn slow_at_compactions() -> String {
    let program = env!("CARGO_BIN_EXE_notesoup");
    format!(
        r#"here=$(dirname "$0")
request=$(mktemp)
cat > "$request"
if [ -e "$here/slow" ] && grep -q '"event":"session.compact"' "$request"; then
  touch "$here/building"
  while [ -e "$here/slow" ]; do sleep 0.1; done
fi
if [ -e "$here/broken" ] && grep -q '"event":"session.compact"' "$request"; then
  echo "out of soup" >&2
  exit 1
fi
exec "{program}" "$@" < "$request""#
    )
}

both_builds! {
    /// A prompt typed ahead while a reset is due is answered once; the reset stays owed and comes after it, without a
    /// second close-out.
    fn a_prompt_typed_ahead_is_answered_and_the_reset_stays_owed(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000).held_by(&gate),
                Reply::text("answered ahead").tokens(962_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("begin");
        lab.model.wait_for_requests(2);
        tty.type_line("typed ahead");
        gate.release();
        tty.wait_for_screen("answered ahead");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        let fresh = lab.model.last();
        fresh.assert_well_formed();
        assert_eq!(requests.iter().filter(|request| request.count_prompt("typed ahead") > 0 && !request.contains("answered ahead")).count(), 1, "{}", lab.model.outline());
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert!(requests.iter().all(|request| request.count(CLOSE_OUT) <= 1));
        assert_eq!(fresh.count(BOOT), 1);
    }

    /// Escape while the reset is being built: nothing changed, no summary in its place, and the next turn tries again.
    /// The same when the helper fails at it.
    fn a_reset_that_is_interrupted_or_fails_changes_nothing(build) {
        let lab = lab(build)
            .helper_script(&slow_at_compactions())
            .script([
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("still here").tokens(962_000),
                Reply::text("here as before").tokens(962_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let slow = lab.root().join("slow");
        std::fs::write(&slow, "").unwrap();
        let mut tty = lab.interactive();
        tty.type_line("begin");
        let building = lab.root().join("building");
        wait_for("compaction", || building.exists());
        tty.press(Key::Escape);
        tty.wait_idle();
        let broken = lab.root().join("broken");
        std::fs::rename(&slow, &broken).unwrap();
        tty.ask("again");
        tty.wait_for_screen("out of soup");
        tty.wait_idle();
        tty.screenshot("failed");
        std::fs::remove_file(&broken).unwrap();
        tty.ask("once more");
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 5, "{}", lab.model.outline());
        for request in &requests[2..4] {
            assert_boot(request, 0);
            assert!(request.contains("pondering"), "the window was intact: {}", request.outline());
            assert_eq!(request.count(CLOSE_OUT), 1);
        }
        assert_boot(&requests[4], 1);
        assert!(!requests[4].contains("pondering"), "{}", requests[4].outline());
        assert_eq!(lab.model.requests_of(crate::support::Asker::Summary).len(), 0);
    }

    /// The notes cannot be read at the moment of a reset: it is vetoed, the window is intact, and the next turn tries
    /// again.
    fn a_boot_that_cannot_be_built_keeps_the_window(build) {
        let lab = lab(build)
            .script([
                Reply::text("early").tokens(20_000),
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("still here").tokens(962_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("first words");
        let notes = lab.notes();
        std::fs::remove_dir_all(&notes).unwrap();
        std::fs::write(&notes, "a file where the folder should be").unwrap();
        tty.ask("begin");
        tty.wait_for_screen("boot cannot be built");
        tty.wait_idle();
        tty.screenshot("vetoed");
        std::fs::remove_file(&notes).unwrap();
        tty.ask("again");
        tty.wait_for_screen("still here");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 5, "{}", lab.model.outline());
        assert!(requests[3].contains("pondering"), "the window was intact: {}", requests[3].outline());
        let fresh = lab.model.last();
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert_boot(&fresh, 1);
    }

    /// The client compacts by itself while the notes cannot be read: its own summary, and the boot comes back with the
    /// next prompt.
    fn a_boot_that_cannot_be_built_leaves_the_summary_to_the_client(build) {
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(20_000),
                Reply::bash("echo hello-soup").tokens(970_000),
                Reply::text("went on").tokens(30_000),
                Reply::text("with its memory").tokens(31_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        let notes = lab.notes();
        std::fs::remove_dir_all(&notes).unwrap();
        std::fs::write(&notes, "a file where the folder should be").unwrap();
        tty.ask("fill it");
        tty.wait_for_screen("went on");
        tty.wait_idle();
        tty.screenshot("summary");
        std::fs::remove_file(&notes).unwrap();
        tty.ask("and now");
        tty.leave();
        assert_eq!(lab.model.requests_of(crate::support::Asker::Summary).len(), 1, "{}", lab.model.outline());
        let request = lab.model.last();
        request.assert_well_formed();
        assert!(request.contains("What was said, in short."), "{}", request.outline());
        assert_boot(&request, 1);
    }

    /// A native summary in between: the boot is there again afterwards, once.
    fn after_a_native_summary_the_boot_is_there_once(build) {
        let lab = lab(build).script([Reply::text("pondering").tokens(20_000), Reply::text("after").tokens(20_000)]).start();
        lab.model.script_summaries([Reply::summary("what was done")]);
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.command("/compact keep the API names");
        tty.ask("and now");
        tty.leave();
        let summary = lab.model.requests_of(crate::support::Asker::Summary);
        assert_eq!(summary.len(), 1, "{}", lab.model.outline());
        assert!(summary[0].contains("handoff to a colleague") && summary[0].contains("keep the API names"));
        let request = lab.model.last();
        request.assert_well_formed();
        assert_eq!(request.count(BOOT), 1, "{}", lab.model.outline());
        assert!(request.contains(":1\">"));
    }

    /// The plugin is loaded again between warning and reset: nothing is forgotten, nothing comes twice.
    fn a_reload_between_warning_and_reset_forgets_nothing(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo one").tokens(944_000),
                Reply::text("warned").tokens(945_000),
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("fresh").tokens(30_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.command("/reload-plugins");
        tty.ask("go on");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert!(requests.iter().all(|request| request.count(WARNING) <= 1 && request.count(CLOSE_OUT) <= 1));
        assert_eq!(requests[3].count(CLOSE_OUT), 1, "{}", lab.model.outline());
        let fresh = lab.model.last();
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert_eq!(fresh.count(BOOT), 1);
        assert_eq!(requests.len(), 5);
    }

    /// A profile without a reset: no boot, no warning.
    fn a_profile_without_reset_does_not_warn(build) {
        let lab = lab(build)
            .option("profile", json!("compact-shaper"))
            .script([Reply::bash("echo one").tokens(944_000), Reply::text("done").tokens(945_000)])
            .start();
        lab.headless("begin").success();
        let request = lab.model.last();
        assert_eq!(lab.model.count(), 2);
        assert_eq!((request.count(BOOT), request.count(WARNING)), (0, 0), "{}", lab.model.outline());
    }

    /// Margins changed in the settings between two turns: the next check goes by them; one that is none is said.
    fn margins_that_change_between_two_turns_are_used(build) {
        let lab = lab(build)
            .settings(json!({ "notesoup": { "resetMarginTokens": -1, "warningRunwayTokens": 0.5 } }))
            .script([Reply::bash("echo one").tokens(900_000), Reply::text("done").tokens(900_100)])
            .start();
        let mut tty = lab.interactive();
        tty.wait_for_screen("found `-1`");
        tty.ask("begin");
        lab.set_settings(&json!({ "notesoup": { "resetMarginTokens": 60_000, "warningRunwayTokens": "lots" } }));
        // The client watches its settings and takes its time over it.
        wait_for("look at the settings", || {
            tty.ask("is it in yet");
            tty.shows("\"lots\"")
        });
        let before = lab.model.count();
        lab.model.script([Reply::bash("echo two").tokens(900_200), Reply::text("done again").tokens(900_300)]);
        tty.ask("again");
        tty.leave();
        let warnings: Vec<usize> = lab.model.requests().iter().map(|request| request.count(WARNING)).collect();
        assert!(warnings[..=before].iter().all(|count| *count == 0), "{warnings:?}");
        assert_eq!(warnings[before + 1..], [1], "{}", lab.model.outline());
    }

    /// A background subagent that runs and ends starts no reset and blocks none.
    fn a_background_subagent_neither_starts_nor_blocks_a_reset(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([
                Reply::tool("Agent", json!({ "description": "look around", "prompt": "look", "subagent_type": "general-purpose", "run_in_background": true })).tokens(20_000),
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
            ])
            .start();
        lab.model.script_subagents([Reply::text("seen it all").tokens(970_000).held_by(&gate)]);
        lab.model.rule(|request| request.contains("seen it all").then(|| Reply::text("fresh").tokens(30_000)));
        let mut tty = lab.interactive();
        tty.type_line("begin");
        tty.wait_for_screen("saved");
        wait_for("reset", || lab.transcript().boundaries() == 1);
        gate.release();
        let request = lab.model.wait_for_request("the report in the fresh window", |request| request.contains("seen it all") && request.count(BOOT) == 1);
        tty.wait_idle();
        tty.leave();
        request.assert_well_formed();
        assert!(!request.contains("pondering"), "{}", lab.model.outline());
    }

    /// A report that came in while the turn was at work is there behind the compaction that follows in the same turn.
    fn a_report_outlives_a_compaction_in_the_middle_of_the_turn(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([
                Reply::tool("Agent", json!({ "description": "taste", "prompt": "taste", "subagent_type": "general-purpose", "run_in_background": true })).tokens(20_000),
                Reply::bash("echo held").tokens(20_000).held_by(&gate),
                Reply::bash("echo full").tokens(970_000),
                Reply::text("went on").tokens(30_000),
            ])
            .start();
        lab.model.script_subagents([Reply::text("it wants thyme")]);
        let mut tty = lab.interactive();
        tty.type_line("have it tasted");
        lab.model.wait_for_requests(2);
        wait_for("report", || std::fs::read_to_string(lab.transcript().path).is_ok_and(|text| text.contains("it wants thyme")));
        gate.release();
        tty.wait_for_screen("went on");
        tty.wait_idle();
        tty.leave();
        let requests = lab.model.requests();
        assert!(requests[2].contains("it wants thyme"), "{}", requests[2].outline());
        let fresh = &requests[3];
        fresh.assert_well_formed();
        assert_boot(fresh, 1);
        assert_eq!(fresh.count("it wants thyme"), 1, "{}", fresh.outline());
        assert!(fresh.has_prompt("have it tasted"), "{}", fresh.outline());
    }

    /// A reset whose boot is above the mark, or that follows too soon, is not repeated.
    fn a_window_that_is_full_again_at_once_is_left_to_the_client(build) {
        let [mark, saved, _] = through_a_reset();
        let lab = lab(build)
            .script([mark, saved, Reply::text("full again").tokens(961_000), Reply::text("still full").tokens(962_000)])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.wait_for_screen("no automatic reset");
        tty.ask("go on");
        tty.leave();
        let request = lab.model.last();
        assert!(request.contains("full again"), "no second reset: {}", lab.model.outline());
        assert!(request.contains(":1\">"));
    }
}
