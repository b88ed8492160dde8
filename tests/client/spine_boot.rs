//! The boot in the real client: in every request exactly once, and the new one.

use crate::spine::{assert_boot, assert_sound, boots};
use crate::support::{Asker, Gate, Key, Lab, Reply, both_builds};

both_builds! {
    /// At the start, after a native `/compact`, `/clear`, `/branch`, and after leaving and `--continue`.
    fn in_every_window(build) {
        let lab = Lab::on(build).start();
        let mut tty = lab.interactive();
        tty.ask("one");
        assert_boot(&lab.model.last(), 0);
        let first = lab.model.last().session().to_owned();

        tty.command("/compact");
        tty.ask("two");
        assert_boot(&lab.model.last(), 1);

        tty.command("/clear");
        tty.ask("three");
        assert_boot(&lab.model.last(), 0);
        let second = lab.model.last().session().to_owned();
        assert_ne!(first, second);

        tty.command("/branch");
        tty.ask("four");
        let branch = lab.model.last();
        assert_ne!(branch.session(), second);
        // What the conversation said before the branch stays in it, the old boot among it; the last one counts.
        let windows = boots(&branch);
        let ours = windows.iter().filter(|window| window.contains(branch.session())).count();
        assert_eq!(ours, 1, "{windows:?}");
        assert!(windows.last().unwrap().contains(branch.session()), "{windows:?}");
        assert!(branch.has_prompt("three"));
        tty.leave();

        let mut tty = lab.interactive_continue();
        tty.ask("five");
        tty.leave();
        let last = lab.model.last();
        assert_eq!(last.session(), branch.session());
        assert_eq!(boots(&last), windows);
        assert!(last.has_prompt("three") && last.has_prompt("four"));
        last.assert_well_formed();
        lab.logs().assert_clean();
    }

    /// Two compactions without a request between them, and a resume behind them.
    fn after_two_compactions_in_a_row(build) {
        let lab = Lab::on(build).start();
        let mut tty = lab.interactive();
        tty.ask("one");
        tty.ask("two");
        tty.command("/compact");
        tty.command("/compact and keep the names");
        let ordinal = lab.transcript().boundaries();
        assert_eq!(ordinal, 2);
        tty.ask("three");
        tty.leave();
        let request = lab.model.last();
        let windows = boots(&request);
        assert!(windows.last().unwrap().ends_with(":2"), "{windows:?}");
        // The older build still holds the boot that no request has carried yet, and sends both; the last one counts.
        if !build.is_oldest() {
            assert_boot(&request, 2);
        }
        let mut tty = lab.interactive_continue();
        tty.ask("four");
        tty.leave();
        assert_eq!(boots(&lab.model.last()), windows);
    }

    /// The first prompt is taken back by Escape and sent again, then by `/rewind`, and another one sent.
    fn when_the_first_prompt_is_taken_back(build) {
        let gate = Gate::new();
        let lab = Lab::on(build).script([Reply::text("late").held_by(&gate)]).start();
        let mut tty = lab.interactive();
        tty.type_line("one");
        lab.model.wait_for_requests(1);
        tty.wait_busy();
        tty.press(Key::Escape);
        tty.wait_idle();
        gate.release();
        assert_eq!(tty.prompt_box(), "one");
        tty.press(Key::Enter);
        let again = lab.model.wait_for_requests(2);
        tty.wait_idle();
        assert_boot(&again, 0);
        tty.ask("two");
        tty.rewind(2);
        tty.clear_prompt_box();
        tty.ask("three");
        tty.leave();
        let rewound = lab.model.last();
        assert!(rewound.has_prompt("three") && !rewound.has_prompt("one"), "{}", rewound.outline());
        assert_boot(&rewound, 0);
        assert_sound(&lab);
    }

    /// Headless, over three runs; a subagent gets none.
    fn headless_and_not_for_subagents(build) {
        let call = serde_json::json!({"description": "Taste", "prompt": "Taste it.", "subagent_type": "general-purpose"});
        let lab = Lab::on(build).start();
        lab.headless("one").success();
        lab.model.script([Reply::tool("Agent", call)]);
        lab.headless_continue("two").success();
        lab.headless_continue("three").success();
        assert_boot(&lab.model.last(), 0);
        assert_sound(&lab);
        let agents = lab.model.requests_of(Asker::Subagent);
        assert!(!agents.is_empty());
        assert!(agents.iter().all(|request| boots(request).is_empty()));
    }
}
