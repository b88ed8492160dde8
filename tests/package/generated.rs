//! Completions and manual pages.

use std::fs;
use std::process::Stdio;

use crate::bench::{Bench, program};

#[test]
fn every_shell_gets_completions_that_know_the_commands() {
    let bench = Bench::new(None);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = bench.run(&["completions", shell]).ok();
        for word in ["install", "doctor", "dream"] {
            assert!(said.stdout.contains(word), "{shell}: {word}");
        }
    }
    let said = bench.run(&["completions", "csh"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("possible values"), "{}", said.stderr);
}

#[test]
fn there_is_a_manual_page_for_the_program_and_one_for_each_command() {
    let bench = Bench::new(None);
    let said = bench.run(&["man"]).ok();
    assert!(said.stdout.contains(".TH notesoup 1"), "{}", said.stdout);
    let dir = bench.root().join("man1");
    bench.run(&["man", "--dir", dir.to_str().unwrap()]).ok();
    for page in ["notesoup.1", "notesoup-install.1", "notesoup-dream.1"] {
        assert!(dir.join(page).exists(), "{page}");
    }
    fs::write(bench.root().join("file"), "").unwrap();
    bench
        .run(&["man", "--dir", bench.root().join("file/man1").to_str().unwrap()])
        .fails_with("cannot write");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() {
    let bench = Bench::new(None);
    let mut child = bench
        .command(&program(), &["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stderr.is_empty());
}

#[test]
fn output_that_is_lost_on_a_full_disk_is_a_failure() {
    let bench = Bench::new(None);
    for args in [
        &["schema", "hooks"][..],
        &["completions", "zsh"],
        &["man"],
        &["demo"],
        &["config", "show", "--toml"],
        &["doctor", "--json"],
    ] {
        let output = bench
            .command(&program(), args)
            .stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("No space left on device"), "{args:?}: {said}");
    }
}

#[test]
fn a_page_has_the_examples_as_they_are_typed() {
    let bench = Bench::new(None);
    bench.run(&["man", "--dir", bench.root().to_str().unwrap()]).ok();
    let page = fs::read_to_string(bench.root().join("notesoup-config-check.1")).unwrap();
    let lines: Vec<&str> = page.lines().collect();
    let examples = lines.iter().position(|line| *line == ".SH EXAMPLES").unwrap();
    assert_eq!(
        lines[examples + 1..examples + 3],
        [".nf", "notesoup config check"],
        "{page}"
    );
    assert!(
        page.contains(".SH \"EXIT CODES\"") && page.contains("notesoup config check [OPTIONS] [FILES]..."),
        "{page}"
    );
    let index = fs::read_to_string(bench.root().join("notesoup.1")).unwrap();
    for listed in index.lines().filter_map(|line| line.strip_suffix("(1)")) {
        let name = format!("{}.1", listed.replace('\\', ""));
        assert!(bench.root().join(&name).exists(), "{name} is listed and not there");
    }
}
