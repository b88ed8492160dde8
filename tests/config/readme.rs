//! What the README shows is good, and does what it says.

use std::fs;
use std::process::Command;

use notesoup::config::load;

use crate::support::{Bench, catalog};

/// The blocks of the README in this language.
fn blocks(language: &str) -> Vec<String> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let start = format!("```{language}\n");
    let mut rest = readme.as_str();
    let mut found = Vec::new();
    while let Some(at) = rest.find(&start) {
        rest = &rest[at + start.len()..];
        let end = rest.find("```").unwrap();
        found.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    found
}

#[test]
fn every_table_in_the_readme_is_a_good_file() {
    let tables = blocks("toml");
    assert!(tables.len() >= 2);
    for text in tables {
        let bench = Bench::new().user(&text);
        let loaded = load(&bench.sources, &catalog());
        assert_eq!(bench.messages(&loaded), Vec::<String>::new(), "{text}");
    }
}

/// The lines of the workflow and of the hook that start the program, run on a good project and on a bad one.
#[test]
fn the_workflow_and_the_hook_tell_a_good_file_from_a_bad_one() {
    let yaml = blocks("yaml");
    let lines = yaml.iter().flat_map(|block| block.lines());
    let commands: Vec<Vec<String>> = lines
        .filter_map(|line| {
            let line = line.trim_start_matches([' ', '-']);
            let command = line.strip_prefix("run: ").or_else(|| line.strip_prefix("entry: "))?;
            let mut words: Vec<String> = command
                .strip_prefix("notesoup ")?
                .split(' ')
                .map(str::to_owned)
                .collect();
            if !words.iter().any(|word| word.ends_with(".toml")) {
                // A hook is given the files behind its entry.
                words.push(".claude/notesoup.toml".to_owned());
            }
            Some(words)
        })
        .collect();
    assert_eq!(commands.len(), 2, "{yaml:?}");
    for (text, code) in [
        ("[window]\nreset_margin_tokens = 5\n", 0),
        ("[notes]\nhome = '/x'\n", 1),
    ] {
        let bench = Bench::new().project(text);
        for words in &commands {
            let output = Command::new(env!("CARGO_BIN_EXE_notesoup"))
                .args(words)
                .current_dir(bench.path("project"))
                .env_clear()
                .env("HOME", bench.path("home"))
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
            let is_annotated = said.contains("::error file=.claude/notesoup.toml,line=2,");
            assert_eq!(
                is_annotated,
                code == 1 && words.contains(&"--github".to_owned()),
                "{said}"
            );
        }
    }
}
