//! `/fresh-window` in every position.

use super::{BOOT, CLOSE_OUT, lab};
use crate::support::{Gate, Key, Reply, both_builds};

both_builds! {
    /// Asked for while a turn runs: the turn ends, closes out, and then the window is replaced.
    fn busy_it_waits_for_the_turn(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(20_000).held_by(&gate),
                Reply::text("saved").tokens(21_000),
                Reply::text("fresh").tokens(20_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("begin");
        lab.model.wait_for_requests(1);
        tty.type_line("/fresh-window");
        tty.wait_for_screen("a fresh window follows this turn");
        tty.screenshot("asked");
        gate.release();
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 3, "{}", lab.model.outline());
        assert_eq!(requests[1].count(CLOSE_OUT), 1);
        let fresh = &requests[2];
        fresh.assert_well_formed();
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert_eq!(fresh.count(BOOT), 1);
        assert!(fresh.contains(":1\">"));
        lab.logs().assert_clean();
    }

    /// Taken back: the turn ends and the window stays.
    fn cancelled_the_window_stays(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([Reply::text("pondering").tokens(20_000).held_by(&gate), Reply::text("still here").tokens(21_000)])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("begin");
        lab.model.wait_for_requests(1);
        tty.type_line("/fresh-window");
        tty.wait_for_screen("a fresh window follows this turn");
        tty.type_line("/fresh-window cancel");
        tty.wait_for_screen("the fresh window is taken back");
        gate.release();
        tty.wait_for_screen("pondering");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let request = lab.model.last();
        assert!(request.contains("pondering"));
        assert_eq!((request.count(BOOT), request.count(CLOSE_OUT)), (1, 0));
        assert_eq!(lab.model.count(), 2);
    }

    /// The close-out turn is interrupted: the request is dropped, and said.
    fn interrupted_it_is_dropped(build) {
        let gate = Gate::new();
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(20_000),
                Reply::text("never seen").held_by(&gate),
                Reply::text("still here").tokens(21_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.type_line("/fresh-window");
        lab.model.wait_for_requests(2);
        tty.press(Key::Escape);
        tty.wait_for_screen("close-out interrupted");
        gate.release();
        tty.wait_idle();
        tty.screenshot("dropped");
        tty.clear_prompt_box();
        tty.ask("and now");
        tty.leave();
        let request = lab.model.last();
        assert!(request.contains("pondering"), "the window stays: {}", lab.model.outline());
        assert!(request.contains(":0\">") && !request.contains(":1\">"));
    }

    /// In a headless run it starts no turn and says that the reset comes by itself.
    fn headless_it_says_so(build) {
        let lab = lab(build).script([Reply::text("pondering").tokens(20_000)]).start();
        let run = lab.headless("/fresh-window");
        assert!(run.said().contains("comes by itself"), "{}", run.said());
        assert_eq!(lab.model.count(), 0, "{}", lab.model.outline());
    }

    /// `DISABLE_COMPACT`: it says that it cannot run. The figure is above where both marks would be, and below where
    /// the client itself refuses to go on.
    fn without_compaction_it_says_so(build) {
        let lab = lab(build).env("DISABLE_COMPACT", "1").script([Reply::text("pondering").tokens(973_000)]).start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.type_line("/fresh-window");
        tty.wait_for_screen("no window can be reset");
        tty.ask("go on");
        tty.leave();
        let request = lab.model.last();
        assert!(!request.contains("<notesoup:warning"), "no reset can follow, so there is no warning");
        assert!(request.contains("pondering"));
    }
}
