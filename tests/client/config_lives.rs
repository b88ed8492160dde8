//! The person edits while the client runs, and what was set up for older plugins goes on to count.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::{Lab, Reply, both_builds};

/// Under this profile `/compact` is refused with a text that a test can change, and that is for such sessions alone.
fn refusing_with(words: &str) -> String {
    let here = "when = { model = '.*opus.*', headless = false }";
    format!(
        "profile = \"notesoup\"\n\n[texts.veto_compact]\npool = [\"elsewhere\", {{ text = \"{words}\", {here} }}]\n"
    )
}

both_builds! {
    /// A change counts from the next event on; a broken file leaves what was good and is told once; a program of the
    /// person's own decides as soon as its row is there, and no longer than that.
    fn an_edit_counts_at_once_and_a_broken_one_keeps_the_last_good(build) {
        let lab = Lab::on(build).hooks_toml(&refusing_with("the first lid is on")).start();
        let mut tty = lab.interactive();
        tty.ask("hello");
        tty.command("/compact");
        tty.wait_for_screen("Not compacted · the first lid is on");

        lab.set_hooks_toml(&refusing_with("the second lid is on"));
        tty.command("/compact");
        tty.wait_for_screen("Not compacted · the second lid is on");

        lab.set_hooks_toml("[window]\nreset_margin_tokens = 9000\nwarning_runway_tokens = \"lots\"\n");
        tty.ask("is it broken");
        tty.wait_for_screen("hooks.toml:3");
        tty.wait_for_screen("notesoup config check");
        tty.ask("and now");
        tty.command("/compact");
        tty.wait_until("the second refusal by the same lid", |screen, _| {
            screen.contents().matches("the second lid is on").count() == 2
        });
        tty.screenshot("broken");
        assert_eq!(tty.screen_text().matches("hooks.toml:3").count(), 1, "{}", tty.screen_text());

        let policy = lab.root().join("config/policy");
        fs::write(&policy, "#!/bin/sh\ngrep -q '\"event\":\"session.compact\"' && echo '{\"v\":1,\"answer\":{\"kind\":\"skip\",\"reason\":\"the cook says no\"}}'\n").unwrap();
        fs::set_permissions(&policy, fs::Permissions::from_mode(0o700)).unwrap();
        let row = format!("\n[hooks.cook]\nevent = \"session.compact\"\nrun = \"exec\"\norder = 5\noptions = {{ argv = [\"{}\"] }}\n", policy.display());
        lab.set_hooks_toml(&(refusing_with("the third lid is on") + &row));
        tty.command("/compact");
        tty.wait_for_screen("Not compacted · the cook says no");
        lab.set_hooks_toml(&refusing_with("the third lid is on"));
        tty.command("/compact");
        tty.wait_for_screen("Not compacted · the third lid is on");
        tty.screenshot("edited");
        tty.leave();
    }

    /// What was set for the older plugin decides what a cut leaves, and the settings object where the window ends.
    fn older_options_and_the_settings_object_count_and_are_explained(build) {
        let older = json!({ "compact-shaper@elsewhere": { "options": { "preserveRecentMessages": 0, "keepHeadChars": 12 } } });
        let lab = Lab::on(build)
            .settings(json!({ "pluginConfigs": older, "notesoup": { "resetMarginTokens": 60_000, "warningRunwayTokens": 7_000 } }))
            .script([
                Reply::bash("seq 1000 1999").tokens(4_000),
                Reply::text("counted").tokens(4_100),
                Reply::text("still here").tokens(5_000),
                Reply::bash("echo on").tokens(901_000),
                Reply::text("done").tokens(901_100),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("count");
        tty.command("/compact prune");
        tty.ask("and now");
        tty.ask("go on");
        tty.leave();
        let cut = &lab.model.requests()[2];
        cut.assert_well_formed();
        // Two lines and the number that the twelve characters end in the middle of.
        assert!(cut.texts().contains("1000\n1001\n10\n[notesoup cut"), "{}", cut.outline());
        assert!(!cut.contains("1005"), "{}", cut.outline());
        // 967,000 less 60,000 and 7,000.
        let warnings: Vec<usize> = lab.model.requests().iter().map(|request| request.count("<notesoup:warning")).collect();
        assert_eq!(warnings, [0, 0, 0, 0, 1], "{}", lab.model.outline());
        for (key, value, source) in [
            ("prune.keep_head_chars", "12", "compact-shaper@elsewhere"),
            ("window.reset_margin_tokens", "60000", "resetMarginTokens"),
        ] {
            let told = lab.helper(&["config", "explain", key], "").success();
            assert!(told.stdout.contains(value) && told.stdout.contains(source), "{}", told.stdout);
        }
        lab.logs().assert_clean();
    }
}
