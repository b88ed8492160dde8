//! Sessions without a screen are not second class: warning, close-out and reset come there too.

use super::{BOOT, CLOSE_OUT, WARNING, lab, through_a_reset};
use crate::support::{Reply, both_builds};

both_builds! {
    /// Three prompts over `-p` and `--continue`: the warning comes once.
    fn the_warning_comes_in_a_headless_turn(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo one").tokens(944_000),
                Reply::text("done").tokens(945_000),
                Reply::text("more").tokens(946_000),
            ])
            .start();
        lab.headless("begin").success();
        lab.headless_continue("go on").success();
        let warnings: Vec<usize> = lab.model.requests().iter().map(|request| request.count(WARNING)).collect();
        assert_eq!(warnings, [0, 1, 1], "{}", lab.model.outline());
    }

    /// A `-p` run that crosses the reset mark closes out and resets; the next one goes on in the fresh window.
    fn the_reset_comes_in_a_headless_run(build) {
        let lab = lab(build).script(through_a_reset()).start();
        lab.headless("begin").success();
        lab.headless_continue("and now").success();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 3, "{}", lab.model.outline());
        assert_eq!(requests[1].count(CLOSE_OUT), 1);
        let fresh = &requests[2];
        fresh.assert_well_formed();
        assert_eq!(fresh.count(BOOT), 1, "{}", lab.model.outline());
        assert!(fresh.contains(":1\">"));
        assert!(!fresh.contains("pondering"));
    }

    /// The same in a session that takes its prompts as rows of JSON. The client says that a turn is over before its end
    /// was heard of, so a prompt sent at once may still be answered in the old window, and one that comes during the
    /// reset is answered behind it.
    fn the_reset_comes_in_a_stream(build) {
        let lab = lab(build).script(through_a_reset()).start();
        let mut stream = lab.stream(&[]);
        stream.ask("begin");
        stream.ask("meanwhile");
        stream.ask("and now");
        stream.finish();
        let fresh = lab.model.last();
        fresh.assert_well_formed();
        assert!(!fresh.contains("pondering"), "{}", lab.model.outline());
        assert_eq!(fresh.count(BOOT), 1);
        assert!(fresh.contains(":1\">"));
        assert!(fresh.contains("and now"), "{}", lab.model.outline());
    }
}
