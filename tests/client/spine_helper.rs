//! A helper that fails never harms the conversation, and one line says why.

use crate::spine::boots;
use crate::support::{Build, Lab, LabBuilder, Reply, both_builds};

/// The prompt and answers come through as without the plugin, in a terminal and headless; the line is on the screen.
#[track_caller]
fn goes_on_without(lab: LabBuilder, line: &str) {
    let lab = lab
        .script([Reply::bash("echo broth"), Reply::text("done"), Reply::text("and on")])
        .start();
    let mut tty = lab.interactive();
    tty.ask("look");
    tty.wait_for_screen("done");
    tty.wait_for_screen(line);
    tty.wait_for_screen("The session goes on without it.");
    tty.screenshot("said");
    tty.leave();
    assert_eq!(lab.headless_continue("go on").success().stdout.trim(), "and on");
    let requests = lab.model.requests();
    assert_eq!(requests.len(), 3, "{}", lab.model.outline());
    for request in &requests {
        request.assert_well_formed();
        assert!(boots(request).is_empty());
    }
    assert!(requests[2].has_prompt("look") && requests[2].contains("broth"));
    lab.logs().assert_clean();
}

fn lab(build: Build) -> LabBuilder {
    Lab::on(build)
}

both_builds! {
    fn missing(build) {
        goes_on_without(lab(build).helper("$ROOT/nowhere"), "nowhere, which is not there");
    }

    fn not_executable(build) {
        goes_on_without(lab(build).project_file("plain.txt", "no program").helper("$ROOT/project/plain.txt"), "it is not executable");
    }

    fn printing_rubbish(build) {
        goes_on_without(lab(build).helper_script("echo '{\"half\": '"), "something else than a reply");
    }

    fn exiting_with_1(build) {
        goes_on_without(lab(build).helper_script("echo 'the pot is empty' >&2; exit 1"), "the pot is empty");
    }

    /// It plans well and then sleeps past the time that the person allows.
    fn sleeping_past_its_time(build) {
        let real = env!("CARGO_BIN_EXE_notesoup");
        goes_on_without(
            lab(build)
                .hooks_toml("[helper]\ntimeout_ms = 300\n")
                .helper_script(&format!("[ \"$1\" = plan ] && exec '{real}' \"$@\"\nexec sleep 30")),
            "the program took longer than",
        );
    }
}
