//! The README promises only what is there.

use std::fs;

use notesoup::config::{self, Severity, Sources};
use notesoup::handlers::catalog;

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

#[test]
fn the_settings_it_shows_are_settings_there_are() {
    let text = readme();
    let blocks: Vec<_> = text
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("readme.toml");
        fs::write(&file, block).unwrap();
        let sources = Sources {
            user_file: Some(file.clone()),
            ..Sources::default()
        };
        let problems: Vec<_> = config::load(&sources, &catalog())
            .problems
            .into_iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| problem.to_string())
            .collect();
        assert_eq!(problems, Vec::<String>::new());
    }
}

#[test]
fn the_files_it_links_to_are_there() {
    for link in readme().split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        if !link.starts_with("http") {
            let file = format!("{}/{link}", env!("CARGO_MANIFEST_DIR"));
            assert!(fs::exists(&file).unwrap(), "{link}");
        }
    }
}

#[test]
fn the_commands_it_names_are_commands_there_are() {
    use clap::CommandFactory as _;
    let text = readme();
    let mut seen = 0;
    for rest in text.split("notesoup ").skip(1) {
        let words: Vec<_> = rest
            .split(|c: char| !(c.is_ascii_lowercase() || c == ' '))
            .next()
            .unwrap()
            .split(' ')
            .collect();
        if words[0].is_empty() {
            continue;
        }
        let root = notesoup::cli::Cli::command();
        let Some(command) = root.find_subcommand(words[0]) else {
            // "notesoup keeps …" is a sentence; in code it would be a command.
            let is_code = text.contains(&format!("`notesoup {}", words[0]));
            assert!(!is_code, "there is no command `notesoup {}`", words[0]);
            continue;
        };
        seen += 1;
        if command.has_subcommands() && words.len() > 1 && !words[1].is_empty() {
            assert!(
                command.find_subcommand(words[1]).is_some(),
                "there is no command `notesoup {} {}`",
                words[0],
                words[1]
            );
        }
    }
    assert!(seen > 10, "{seen}");
}
