//! The README promises only what is there.

use std::fs;

use notesoup::config::{self, Sources};
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
            .filter(|problem| problem.place.source == file.display().to_string())
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
