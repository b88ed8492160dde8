//! `skills/` and `playbooks/` are the originals; the plugin carries byte-identical copies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `root`, by its path relative to it.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_plugin_carries_the_skills_and_the_playbooks_byte_for_byte() {
    for folder in ["skills", "playbooks"] {
        let (originals, copies) = (files(&top().join(folder)), files(&top().join("plugin").join(folder)));
        assert!(!originals.is_empty(), "{folder}/ is empty");
        let names = |map: &BTreeMap<PathBuf, Vec<u8>>| map.keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(&originals),
            names(&copies),
            "cp -r {folder}/. plugin/{folder}/ brings the copies up to date"
        );
        for (name, bytes) in &originals {
            assert!(
                copies[name] == *bytes,
                "plugin/{folder}/{} differs from its original: cp -r {folder}/. plugin/{folder}/",
                name.display()
            );
        }
    }
}

#[test]
fn a_skill_is_named_as_its_folder_says_when_to_use_it_and_is_read_in_one_go() {
    for (name, bytes) in files(&top().join("skills")) {
        let text = String::from_utf8(bytes).unwrap();
        let (front, body) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .unwrap_or_else(|| panic!("{} has no frontmatter", name.display()));
        let field = |key: &str| {
            front
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{key}: ")))
                .unwrap_or_else(|| panic!("{} has no {key}", name.display()))
        };
        assert_eq!(Path::new(field("name")), name.parent().unwrap());
        let description = field("description");
        assert!(description.contains("Use it when"), "{description}");
        assert!(description.chars().count() <= 1024, "{description}");
        assert!(body.chars().count() <= 8000, "{} is too long", name.display());
    }
}

#[test]
fn the_texts_for_the_model_name_the_tools_as_the_client_does() {
    for folder in ["skills", "playbooks"] {
        for (name, bytes) in files(&top().join(folder)) {
            let text = String::from_utf8(bytes).unwrap();
            for (at, _) in text.match_indices("mcp__") {
                let tool = &text[at..];
                assert!(
                    tool.starts_with("mcp__notesoup__"),
                    "{}: {}",
                    name.display(),
                    &tool[..30.min(tool.len())]
                );
            }
        }
    }
}

#[test]
fn the_plugins_table_is_a_copy_of_the_top_one() {
    let (original, copy) = (top().join("hooks.toml"), top().join("plugin/hooks.toml"));
    assert!(
        fs::read(original).unwrap() == fs::read(copy).unwrap(),
        "cp hooks.toml plugin/hooks.toml"
    );
}

#[test]
fn every_file_of_the_plugin_is_embedded_as_it_is_on_disk() {
    let left_out = |name: &str| {
        [
            "plugin/bin/",
            "plugin/.claude-plugin/types/",
            "plugin/node_modules/",
            "plugin/tests/",
        ]
        .iter()
        .any(|folder| name.starts_with(folder))
            || name == "plugin/tsconfig.json"
            || name.ends_with(".test.ts")
    };
    let on_disk: BTreeMap<String, Vec<u8>> = files(&top().join("plugin"))
        .into_iter()
        .map(|(name, bytes)| (format!("plugin/{}", name.display()), bytes))
        .filter(|(name, _)| !left_out(name))
        .chain([(
            ".claude-plugin/marketplace.json".to_owned(),
            fs::read(top().join(".claude-plugin/marketplace.json")).unwrap(),
        )])
        .collect();
    let embedded: BTreeMap<String, Vec<u8>> = notesoup::package::embedded::FILES
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
        .collect();
    assert_eq!(
        embedded.keys().collect::<Vec<_>>(),
        on_disk.keys().collect::<Vec<_>>(),
        "touch build.rs has the list made again"
    );
    for (name, bytes) in &on_disk {
        assert!(
            embedded[name] == *bytes,
            "{name} is embedded in an older state: touch build.rs"
        );
    }
}
