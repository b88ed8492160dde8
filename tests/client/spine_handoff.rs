//! `/compact` by profile.

use crate::spine::{assert_boot, assert_sound};
use crate::support::{Asker, Lab, both_builds};

both_builds! {
    /// Under `both` it is the client's own summary with our structure and the person's words.
    fn shaped_under_both(build) {
        let lab = Lab::on(build).start();
        let mut tty = lab.interactive();
        tty.ask("what is in the pot");
        tty.command("/compact keep the API names");
        tty.ask("go on");
        tty.leave();
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1, "{}", lab.model.outline());
        assert!(summaries[0].contains("keep the API names"));
        assert!(summaries[0].contains("Rejected approaches") && summaries[0].contains("Files to read first"));
        assert_boot(&lab.model.last(), 1);
        assert_eq!(lab.model.last().count("What was said, in short."), 1);
        assert_sound(&lab);
    }

    /// Under `notesoup` it is refused in a line that says what to run instead, and nothing is changed.
    fn refused_under_notesoup(build) {
        let lab = Lab::on(build).hooks_toml("profile = \"notesoup\"\n").start();
        let mut tty = lab.interactive();
        tty.ask("what is in the pot");
        tty.command("/compact");
        tty.wait_for_screen("run /fresh-window for a fresh window");
        tty.command("/compact prune");
        tty.wait_for_screen("has no /compact prune");
        tty.screenshot("refused");
        tty.ask("go on");
        tty.leave();
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0);
        assert!(lab.model.last().has_prompt("what is in the pot"));
        assert_boot(&lab.model.last(), 0);
        assert_sound(&lab);
    }
}
