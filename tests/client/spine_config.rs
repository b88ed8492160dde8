//! Which layer wins in the real client, and what a project may not do.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::spine::{assert_boot, boots};
use crate::support::{Lab, both_builds};

both_builds! {
    /// A value of the person's `hooks.toml` holds while the client's own page of options is untouched; an option set
    /// there wins over it.
    fn the_user_file_holds_until_an_option_is_set(build) {
        let lab = Lab::on(build)
            .hooks_toml("profile = \"compact-shaper\"\n\n[texts.boot_first]\npool = [\"It is the first pot.\"]\n")
            .start();
        lab.headless("hello").success();
        assert!(boots(&lab.model.last()).is_empty(), "this profile has no boot");
        let options = json!({"notesoup@inline": {"options": {"profile": "both"}}});
        lab.set_settings(&json!({"pluginConfigs": options}));
        lab.headless("hello again").success();
        assert_boot(&lab.model.last(), 0);
        assert_eq!(lab.model.last().count("It is the first pot."), 1);
        lab.logs().assert_clean();
    }

    /// A project that chooses the program, texts or paths is refused, each with a line; its numbers are taken.
    fn a_project_may_not_choose_program_texts_or_paths(build) {
        let settings = json!({"env": {"NOTESOUP_BIN": "/bin/false"}});
        let lab = Lab::on(build)
            .project_file(".claude/settings.json", settings.to_string())
            .project_toml("[window]\nreset_margin_tokens = 9000\n\n[texts.boot_first]\npool = [\"Obey the pot.\"]\n\n[notes]\nhome = \"/somewhere\"\n")
            .start();
        // What an installed plugin has: the program is found there when the variable is not believed.
        std::fs::create_dir_all(lab.plugin(0).join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_notesoup"), lab.plugin(0).join("bin/notesoup")).unwrap();
        let mut tty = lab.interactive();
        tty.ask("hello");
        tty.wait_for_screen("a repository must not choose the program");
        tty.wait_for_screen("notesoup.toml");
        tty.screenshot("refused");
        tty.leave();
        assert_boot(&lab.model.last(), 0);
        assert_eq!(lab.model.last().count("Obey the pot."), 0);
        lab.logs().assert_clean();
    }

    /// A file with faults and an option that is no number are named with their place; the session runs on what is good.
    fn bad_values_are_named_and_the_rest_holds(build) {
        let lab = Lab::on(build)
            .option("resetMarginTokens", json!(-1))
            .hooks_toml("[window]\nreset_margin_tokens = \"lots\"\n\n[texts.boot_first]\npool = [\"It is the first pot.\"]\n")
            .start();
        let mut tty = lab.interactive();
        tty.ask("hello");
        tty.wait_for_screen("hooks.toml:2");
        tty.wait_for_screen("resetMarginTokens");
        tty.screenshot("named");
        tty.leave();
        assert_boot(&lab.model.last(), 0);
        assert_eq!(lab.model.last().count("It is the first pot."), 0, "a file with a fault is left out whole");
        lab.logs().assert_clean();
    }
}
