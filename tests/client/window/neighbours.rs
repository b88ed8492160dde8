//! Another plugin that compacts, skips or replaces; the model's own tools; and the profile that refuses summaries.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{BOOT, CLOSE_OUT, lab};
use crate::spine::assert_boot;
use crate::support::{Asker, Reply, both_builds, checkout_plugin};

fn rival() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/client/rival")
}

both_builds! {
    /// Another plugin, outside ours: when it skips the reset nothing changes and the next turn tries again; when it
    /// puts its own messages in its place, they stand, with the next window's boot; its own compaction is a summary in
    /// our structure.
    fn another_plugin_skips_replaces_and_compacts(build) {
        let lab = lab(build)
            .plugins([rival(), checkout_plugin()])
            .script([
                Reply::text("pondering").tokens(960_000),
                Reply::text("saved").tokens(961_000),
                Reply::text("still here").tokens(962_000),
                Reply::text("replaced").tokens(20_000),
                Reply::text("summarised").tokens(20_000),
            ])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin while the rival skips");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("go on while the rival replaces");
        tty.ask("go on while the rival compacts");
        tty.ask("at last");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 5, "{}", lab.model.outline());
        assert!(requests.iter().all(|request| request.count(CLOSE_OUT) <= 1));
        assert_boot(&requests[2], 0);
        assert!(requests[2].contains("pondering"), "{}", requests[2].outline());
        assert_boot(&requests[3], 1);
        assert!(requests[3].has_prompt("what the rival keeps"), "{}", requests[3].outline());
        assert!(!requests[3].contains("pondering"));
        let summaries = lab.model.requests_of(Asker::Summary);
        assert_eq!(summaries.len(), 1, "{}", lab.model.outline());
        assert!(summaries[0].contains("handoff to a colleague") && summaries[0].contains("keep the rival in mind"));
        assert_boot(&requests[4], 2);
        requests[4].assert_well_formed();
        lab.logs().assert_clean();
    }

    /// Another plugin holds the command in which the close-out's prompt falls due: it is submitted when it lets go, once.
    fn a_plugin_that_holds_the_command_delays_the_close_out(build) {
        let lab = lab(build)
            .plugins([rival(), checkout_plugin()])
            .script([Reply::text("pondering").tokens(20_000), Reply::text("saved").tokens(21_000), Reply::text("fresh").tokens(20_000)])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin while the rival holds");
        tty.type_line("/fresh-window");
        tty.wait_for_screen("saved");
        tty.wait_idle();
        tty.ask("and now");
        tty.leave();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 3, "{}", lab.model.outline());
        assert_eq!(requests[1].count(CLOSE_OUT), 1, "{}", requests[1].outline());
        assert_boot(&requests[2], 1);
        lab.logs().assert_clean();
    }

    /// The model asks what room is left, then for a fresh window, which comes when it ends its turn; headless as well.
    fn the_model_asks_for_its_room_and_a_fresh_window(build) {
        let lab = lab(build)
            .hooks_toml("[hooks.fresh-window-tool]\nenabled = true\n")
            .script([
                Reply::tool("mcp__notesoup__context_remaining", json!({})).tokens(900_000),
                Reply::tool("mcp__notesoup__fresh_window", json!({})).tokens(901_000),
                Reply::text("bringing it to a close").tokens(902_000),
                Reply::text("fresh").tokens(20_000),
            ])
            .start();
        lab.headless("begin").success();
        lab.headless_continue("and now").success();
        let requests = lab.model.requests();
        assert_eq!(requests.len(), 4, "{}", lab.model.outline());
        assert!(requests[0].contains("call `mcp__notesoup__fresh_window`"), "the boot names the tool");
        let room: Value = serde_json::from_str(&requests[1].tool_results()[0].1).unwrap();
        assert_eq!(room, json!({ "tokens": 900_000, "until_warning": 42_424, "until_reset": 58_808 }));
        assert!(requests[2].tool_results()[1].1.contains("end it now"), "{}", requests[2].outline());
        assert!(requests.iter().all(|request| request.count(CLOSE_OUT) == 0));
        let fresh = lab.model.last();
        fresh.assert_well_formed();
        assert_boot(&fresh, 1);
        assert!(!fresh.contains("bringing it to a close"), "{}", fresh.outline());
        lab.logs().assert_clean();
    }

    /// The profile `notesoup` refuses `/compact` with a line that says what to run; the window stays as it is.
    fn the_profile_notesoup_refuses_a_summary(build) {
        let lab = lab(build)
            .option("profile", json!("notesoup"))
            .script([Reply::text("pondering").tokens(20_000), Reply::text("still here").tokens(20_000)])
            .start();
        let mut tty = lab.interactive();
        tty.ask("begin");
        tty.type_line("/compact keep the API names");
        tty.wait_for_screen("keeps no summaries");
        tty.wait_idle();
        tty.type_line("/compact prune");
        tty.wait_for_screen("no /compact prune");
        tty.wait_idle();
        tty.ask("go on");
        tty.leave();
        assert_eq!(lab.model.requests_of(Asker::Summary).len(), 0, "{}", lab.model.outline());
        let request = lab.model.last();
        assert!(request.contains("pondering") && request.count(BOOT) == 1, "{}", request.outline());
        lab.logs().assert_clean();
    }
}
