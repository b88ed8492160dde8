//! The report in words.

use notesoup::prune::{PruneOutcome, Report, lines};
use serde_json::json;

use crate::talk::{Talk, eager, long};

fn report() -> Report {
    let mut talk = Talk::new();
    talk.prompt("look at @a").file("/project/a", "the file");
    for step in 0..12 {
        let command = format!("cargo test --package a-rather-long-name-{step} --all-features -- --nocapture");
        talk.tokens(12_000 + step * 1_000);
        talk.step(
            &format!("toolu_{step:02}"),
            "Bash",
            json!({ "command": command }),
            &long(4_000),
        );
    }
    talk.step(
        "toolu_r",
        "Read",
        json!({ "file_path": "/project/src/日本/main.rs" }),
        &long(5_000),
    );
    talk.step(
        "toolu_e",
        "Edit",
        json!({ "file_path": "/project/src/日本/main.rs", "old_string": long(900), "new_string": "x" }),
        "ok",
    );
    talk.step("toolu_g", "Bash", json!({ "command": "git status" }), &long(600));
    talk.respond()
        .calls("toolu_f", "Bash", json!({ "command": "false" }))
        .failed("toolu_f", "Exit code 1");
    talk.respond()
        .calls("toolu_i", "Read", json!({ "file_path": "/project/a.png" }))
        .image("toolu_i");
    talk.ending();
    let PruneOutcome::Answer { report, .. } = talk.prune(&eager()) else {
        panic!("not cut")
    };
    *report
}

#[test]
fn it_reads_well() {
    insta::assert_snapshot!(lines(&report(), 100).join("\n"));
}

#[test]
fn it_reads_well_on_a_narrow_terminal() {
    insta::assert_snapshot!(lines(&report(), 40).join("\n"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let report = report();
    for width in 20..160 {
        for line in lines(&report, width) {
            assert!(
                unicode_width::UnicodeWidthStr::width(line.as_str()) <= width,
                "{width}: {line}"
            );
        }
    }
    assert!(!lines(&report, 0).is_empty());
}

#[test]
fn a_cut_that_is_not_worth_it_is_told_with_its_figures() {
    let mut talk = Talk::new();
    talk.prompt(&long(100_000))
        .step("toolu_1", "Bash", json!({}), &long(4_000))
        .ending();
    let PruneOutcome::Skip { report, .. } = talk.prune(&notesoup::prune::PruneOptions::default()) else {
        panic!("cut")
    };
    let first = lines(&report.unwrap(), 200)[0].clone();
    assert!(
        first.starts_with("/compact prune would change nothing: cutting would save 3"),
        "{first}"
    );
}
