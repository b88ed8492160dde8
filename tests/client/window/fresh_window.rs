//! `/fresh-window` in every position.

use super::{CLOSE_OUT, lab, wait_for};
use crate::spine::assert_boot;
use crate::support::{Gate, Key, Reply, both_builds};

both_builds! {
    /// Asked for and taken back, asked for and its close-out turn interrupted with Escape: the window stays, and the
    /// person is told. Asked for while a turn runs: the turn ends, closes out, and then the window is replaced.
    fn taken_back_interrupted_and_while_a_turn_runs(build) {
        let (first, never, third) = (Gate::new(), Gate::new(), Gate::new());
        let lab = lab(build)
            .script([
                Reply::text("pondering").tokens(20_000).held_by(&first),
                Reply::text("never seen").held_by(&never),
                Reply::text("still here").tokens(21_000).held_by(&third),
                Reply::text("saved").tokens(22_000),
                Reply::text("fresh").tokens(20_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.type_line("begin");
        lab.model.wait_for_requests(1);
        tty.type_line("/fresh-window");
        tty.wait_for_screen("a fresh window follows this turn");
        tty.type_line("/fresh-window cancel");
        tty.wait_for_screen("the fresh window is taken back");
        first.release();
        tty.wait_for_screen("pondering");
        tty.wait_idle();

        tty.type_line("/fresh-window");
        lab.model.wait_for_requests(2);
        tty.press(Key::Escape);
        tty.wait_for_screen("close-out interrupted");
        never.release();
        tty.wait_idle();
        tty.clear_prompt_box();

        tty.type_line("go on");
        lab.model.wait_for_requests(3);
        tty.type_line("/fresh-window");
        wait_for("second answer", || tty.screen_text().matches("a fresh window follows this turn").count() == 2);
        third.release();
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();

        let requests = lab.model.requests();
        assert_eq!(requests.len(), 5, "{}", lab.model.outline());
        assert!(requests[2].contains("pondering"), "the window stays: {}", requests[2].outline());
        assert_boot(&requests[2], 0);
        assert_eq!(requests[0].count(CLOSE_OUT) + requests[1].count(CLOSE_OUT), 1);
        assert_eq!(requests[3].count(CLOSE_OUT), requests[2].count(CLOSE_OUT) + 1, "{}", requests[3].outline());
        let fresh = &requests[4];
        fresh.assert_well_formed();
        assert!(!fresh.contains("pondering"), "{}", fresh.outline());
        assert_boot(fresh, 1);
        lab.logs().assert_clean();
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
