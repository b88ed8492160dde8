//! `/prune-preview` and `/compact prune` on a conversation full of tool output.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::spine::{assert_boot, assert_sound};
use crate::support::{Build, Gate, Lab, Reply, Request, Tty, both_builds};

/// A red dot.
const PNG: [u8; 69] = [
    0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa, 0, 0, 0, 0xd, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0,
    0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0xc, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1,
    1, 0, 0xc9, 0xfe, 0x92, 0xef, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// How a cut output ends.
const NOTE: &str = "[notesoup cut ";

/// The conversation's prompts, word for word.
const PROMPTS: [&str; 6] = ["look at «everything»", "send somebody", "one", "two", "three", "four"];

fn bash(reply: Reply, id: &str, command: &str) -> Reply {
    reply.call_with_id(id, "Bash", json!({"command": command, "description": "Count"}))
}

/// A conversation with parallel calls, a failed call, an image, a background agent's report, and a prompt typed while
/// the model worked; the newest messages are plain words.
fn tool_heavy(build: Build) -> (Lab, Tty) {
    let gate = Gate::new();
    let recipe = (1..900)
        .map(|n| format!("{n}. stir, wait, taste\n"))
        .collect::<String>();
    let lab = Lab::on(build)
        .project_file("recipe.txt", recipe)
        .project_file("pot.png", PNG)
        .start();
    let file = |name: &str| json!({"file_path": lab.project().join(name)});
    let parallel = bash(Reply::text("I count twice and fail once."), "toolu_first", "seq 1 2500");
    let parallel = bash(
        bash(parallel, "toolu_second", "seq 5000 7000"),
        "toolu_failed",
        "seq 1 900; exit 3",
    );
    let reads = Reply::text("Now the files.").call_with_id("toolu_recipe", "Read", file("recipe.txt"));
    lab.model.script([
        parallel,
        reads.call_with_id("toolu_pot", "Read", file("pot.png")),
        bash(Reply::text("And once more."), "toolu_third", "seq 1 2000").held_by(&gate),
        Reply::text("That was everything."),
        Reply::text("Somebody goes.").call_with_id(
            "toolu_agent",
            "Agent",
            json!({"description": "Taste", "prompt": "Taste it.", "subagent_type": "general-purpose", "run_in_background": true}),
        ),
    ]);
    lab.model
        .script_subagents([Reply::bash("echo salt"), Reply::text("It wants thyme.")]);
    let mut tty = lab.interactive();
    tty.type_line(PROMPTS[0]);
    lab.model.wait_for_requests(3);
    tty.type_line("and taste it, please");
    gate.release();
    tty.wait_for_screen("That was everything.");
    tty.wait_idle();
    tty.ask(PROMPTS[1]);
    lab.model.wait_for_request("with the report", |request| {
        request.tool_calls().iter().any(|(id, ..)| id == "toolu_agent") && request.contains("It wants thyme.")
    });
    tty.wait_idle();
    for prompt in &PROMPTS[2..5] {
        tty.ask(prompt);
    }
    (lab, tty)
}

fn results(request: &Request) -> BTreeMap<String, String> {
    request.tool_results().into_iter().collect()
}

/// The calls that the preview on the screen names as cuts, by what each of them did.
fn previewed(screen: &str) -> BTreeSet<String> {
    let calls = [
        ("Bash seq 1 2500 ", "toolu_first"),
        ("Bash seq 5000 7000 ", "toolu_second"),
        ("Bash seq 1 900", "toolu_failed"),
        ("recipe.txt ", "toolu_recipe"),
        ("pot.png", "toolu_pot"),
        ("Bash seq 1 2000 ", "toolu_third"),
        ("Agent Taste", "toolu_agent"),
    ];
    // The client breaks a line where it ends on the screen.
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let section = screen.split("Largest cuts").nth(1).unwrap_or_default();
    let section = section.split("Protected").next().unwrap_or_default();
    let named = calls.into_iter().filter(|(did, _)| section.contains(did));
    named.map(|(_, id)| id.to_owned()).collect()
}

/// The ids whose results end in a note, or the inputs of whose calls do.
fn cut(request: &Request) -> BTreeSet<String> {
    let results = request
        .tool_results()
        .into_iter()
        .filter(|(_, text)| text.contains(NOTE))
        .map(|(id, _)| id);
    let calls = request
        .tool_calls()
        .into_iter()
        .filter(|(.., input)| input.to_string().contains(NOTE))
        .map(|(id, ..)| id);
    results.chain(calls).collect()
}

/// Fails unless each prompt stands there once and the typed-ahead one as well.
#[track_caller]
fn assert_words(request: &Request, prompts: &[&str]) {
    for prompt in prompts {
        assert_eq!(request.count_prompt(prompt), 1, "{prompt}\n{}", request.outline());
    }
    assert_eq!(request.count("and taste it, please"), 1, "{}", request.outline());
    assert_eq!(request.count("It wants thyme."), 1, "{}", request.outline());
}

both_builds! {
    /// The whole life of a conversation that is cut: preview, cut, two resumes, a second cut, a native summary, a reset.
    fn a_cut_stands(build) {
        let (lab, mut tty) = tool_heavy(build);
        let before = lab.model.last();
        assert_boot(&before, 0);
        assert_words(&before, &PROMPTS[..5]);

        tty.command("/prune-preview");
        tty.wait_for_screen("/compact prune would cut");
        tty.screenshot("preview");
        let promised = previewed(&tty.screen_text());
        assert!(promised.contains("toolu_first") && promised.contains("toolu_second"), "{promised:?}");
        assert!(!promised.contains("toolu_failed") && !promised.contains("toolu_agent"), "{promised:?}");
        tty.ask(PROMPTS[5]);
        let unchanged = lab.model.last();
        assert_eq!(results(&unchanged), results(&before));
        assert!(!unchanged.contains("would cut"), "the preview is for the person alone");

        tty.command("/compact prune");
        assert_eq!(lab.transcript().boundaries(), 1);
        tty.wait_for_screen("Pruned:");
        tty.screenshot("pruned");
        tty.command("/compact prune");
        tty.wait_for_screen("nothing is worth cutting");
        tty.ask("after the cut");
        tty.leave();
        let after = lab.model.last();
        assert_boot(&after, 1);
        assert_words(&after, &PROMPTS);
        assert_eq!(cut(&after), promised, "{}", after.outline());
        for (id, text) in results(&before) {
            if !promised.contains(&id) && id != "toolu_pot" {
                assert_eq!(results(&after)[&id], text, "{id} is not cut");
            }
        }
        let said = unchanged.assistant_texts();
        assert_eq!(after.assistant_texts()[..said.len()], said, "every word of the assistant, in order");

        for prompt in ["back once", "back twice"] {
            let mut tty = lab.interactive_continue();
            tty.ask(prompt);
            tty.leave();
            let resumed = lab.model.last();
            assert_boot(&resumed, 1);
            assert_words(&resumed, &PROMPTS);
            assert_eq!(results(&resumed), results(&after), "{}", resumed.outline());
            assert_eq!(resumed.assistant_texts()[..said.len()], said);
            assert_eq!(resumed.count_prompt("after the cut"), 1);
        }

        let mut tty = lab.interactive_continue();
        lab.model.script([bash(Reply::text("More."), "toolu_more", "seq 1 2600"), Reply::text("enough")]);
        for prompt in ["count again", "five", "six", "seven", "eight"] {
            tty.ask(prompt);
        }
        tty.command("/compact prune");
        tty.ask("after the second cut");
        let twice = lab.model.last();
        assert_boot(&twice, 2);
        let mut both = promised.clone();
        both.insert("toolu_more".to_owned());
        assert_eq!(cut(&twice), both, "{}", twice.outline());
        assert_words(&twice, &PROMPTS);

        tty.command("/compact");
        tty.ask("after the summary");
        assert_boot(&lab.model.last(), 3);

        tty.ask("/fresh-window");
        tty.ask("after the reset");
        tty.leave();
        let fresh = lab.model.last();
        assert_boot(&fresh, 4);
        assert!(!fresh.contains("after the summary"), "{}", fresh.outline());
        assert_sound(&lab);
    }
}
