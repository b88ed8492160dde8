//! What stands after leaving, branching, clearing and rewinding.

use super::{BOOT, WARNING, lab, through_a_reset};
use crate::support::{Reply, both_builds};

both_builds! {
    /// After a reset, leaving and `--continue`: the same window id, no second boot, and the boot that was kept is the
    /// one the model sees.
    fn a_resumed_conversation_keeps_its_window_and_its_boot(build) {
        let lab = lab(build).script(through_a_reset()).start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let mut tty = lab.interactive_continue();
        tty.ask("after the break");
        tty.leave();
        let before = lab.model.requests()[2].clone();
        let after = lab.model.last();
        after.assert_well_formed();
        assert_eq!(after.count(BOOT), 1, "{}", lab.model.outline());
        assert!(before.contains(":1\">") && after.contains(":1\">"));
        assert!(after.has_prompt("and now") && after.has_prompt("after the break"));
    }

    /// `/clear`: a new identity with a boot of its own, and the warning can come again. `/resume` of the first one: its
    /// own boot and its own warning, and neither again.
    fn a_cleared_conversation_begins_anew_and_the_first_one_is_taken_up_again(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo one").tokens(944_000),
                Reply::text("done").tokens(945_000),
                Reply::bash("echo two").tokens(944_000),
                Reply::text("done again").tokens(945_000),
                Reply::bash("echo three").tokens(946_000),
                Reply::text("done at last").tokens(947_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        let first = lab.transcript().session();
        tty.command("/clear");
        tty.ask("once more");
        tty.command(&format!("/resume {first}"));
        tty.ask("back again");
        tty.leave();
        let requests = lab.model.requests();
        let boots: Vec<usize> = requests.iter().map(|request| request.count(BOOT)).collect();
        let warnings: Vec<usize> = requests.iter().map(|request| request.count(WARNING)).collect();
        assert_eq!(boots, [1; 6], "{}", lab.model.outline());
        assert_eq!(warnings, [0, 1, 0, 1, 1, 1], "{}", lab.model.outline());
        let request = lab.model.last();
        assert!(request.has_prompt("begin") && request.has_prompt("back again"), "{}", request.outline());
        assert!(request.contains(&format!("{BOOT}claude:{first}:0\">")), "{}", request.outline());
    }

    /// `/branch` of a window that was warned: a new identity with its own boot, once, and one warning.
    fn a_branched_conversation_has_a_boot_of_its_own(build) {
        let lab = lab(build)
            .script([
                Reply::bash("echo one").tokens(944_000),
                Reply::text("done").tokens(945_000),
                Reply::bash("echo two").tokens(945_000),
                Reply::text("branched").tokens(946_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        let first = lab.transcript().session();
        tty.command("/branch");
        tty.ask("go on");
        tty.leave();
        let request = lab.model.last();
        assert_ne!(request.session(), first);
        request.assert_well_formed();
        // What the first one began with is a part of the conversation that was branched.
        let id = format!("{BOOT}claude:{}:0\">", request.session());
        assert_eq!(request.count(&id), 1, "{}", request.outline());
        assert_eq!(request.count(WARNING), 1, "{}", request.outline());
    }

    /// `/rewind` to before a reset: the window that stands again is the first one. To before its warning: it is warned
    /// again when it is as full again, and not before.
    fn a_rewind_to_before_a_reset_brings_the_first_window_back(build) {
        let lab = lab(build)
            .script([Reply::bash("echo zero").tokens(19_000), Reply::text("early").tokens(20_000)])
            .start();
        let mut tty = lab.interactive();
        tty.ask("first words");
        lab.model.script(through_a_reset());
        tty.ask("begin");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        lab.model.script([Reply::bash("echo one").tokens(944_000), Reply::text("rewound").tokens(945_000)]);
        tty.rewind(4);
        tty.clear_prompt_box();
        tty.ask("another way");
        let request = lab.model.last();
        request.assert_well_formed();
        let id = format!("{BOOT}claude:{}:0\">", lab.transcript().session());
        assert_eq!((request.count(BOOT), request.count(&id)), (1, 1), "{}", request.outline());
        assert_eq!(request.count(WARNING), 1, "{}", lab.model.outline());
        assert!(!request.has_prompt("begin"), "{}", request.outline());

        lab.model.script([
            Reply::bash("echo one").tokens(30_000),
            Reply::bash("echo two").tokens(944_000),
            Reply::bash("echo three").tokens(945_000),
            Reply::text("rewound again").tokens(946_000),
        ]);
        tty.rewind(1);
        tty.clear_prompt_box();
        tty.ask("a third way");
        tty.leave();
        let requests = lab.model.requests();
        let third = &requests[requests.len() - 4..];
        let warnings: Vec<usize> = third.iter().map(|request| request.count(WARNING)).collect();
        assert_eq!(warnings, [0, 0, 1, 1], "{}", lab.model.outline());
        assert!(third.iter().all(|request| request.count(BOOT) == 1), "{}", lab.model.outline());
    }
}
