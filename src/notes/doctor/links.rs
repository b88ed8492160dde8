//! The addresses that a note's text names.

use std::path::PathBuf;

use super::HomeFolder;
use crate::notes::address::Address;
use crate::notes::home::{Home, Homes};
use crate::notes::note::{Key, Note};

/// A note that a text names.
pub(super) struct Target {
    /// As the text has it.
    pub(super) shown: String,
    /// Where it should be.
    pub(super) file: PathBuf,
    /// The line of the body, from 1.
    pub(super) line: usize,
}

/// What ends an address in running text.
const ENDS: &str = "`'\"()[]<>{}|,;";

/// All addresses named in a note whose meaning is certain. In a `MAP.md`, links and names in backticks that end in
/// `.md` count as well: they are notes of its own home.
pub(super) fn of(homes: &Homes, home: &HomeFolder, path: &str, note: &Note) -> Vec<Target> {
    let mut targets = Vec::new();
    for (index, text) in note.body.lines().enumerate() {
        let mut add = |shown: &str, key: Option<String>| {
            if let Some(key) = key {
                targets.push(Target {
                    shown: shown.to_owned(),
                    file: homes.root().join(key),
                    line: index + 1,
                });
            }
        };
        for address in addresses(text) {
            add(address, resolve(homes, home, note, address));
        }
        if path == "MAP.md" {
            for name in names(text) {
                let legal = Address::of_file(&Home::Human, name);
                add(name, legal.map(|legal| format!("{}/{}", home.key, legal.path())));
            }
        }
    }
    targets
}

/// Everything in a line that looks like `@head/path`.
fn addresses(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('@').filter_map(move |(start, _)| {
        let before = line.get(..start)?.chars().next_back();
        // An address of mail, or a package with a scope.
        if before.is_some_and(|c| c.is_alphanumeric() || c == '/') {
            return None;
        }
        let rest = line.get(start..)?;
        let length = rest
            .find(|c: char| c.is_whitespace() || ENDS.contains(c))
            .unwrap_or(rest.len());
        let address = rest
            .get(..length)?
            .trim_end_matches(['.', ':', '!', '?', '*', '_', '…']);
        (!address.contains(['*', '…', '#', '?']) && address.contains('/') && !address.ends_with('/')).then_some(address)
    })
}

/// Names of notes in a map: targets of links, and names in backticks.
fn names(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for part in line.split("](").skip(1) {
        names.extend(part.split([')', '#', ' ']).next());
    }
    names.extend(line.split('`').skip(1).step_by(2));
    names.retain(|name| {
        name.ends_with(".md") && !name.contains("://") && !name.starts_with('@') && !name.contains([' ', '*', '<', '…'])
    });
    names
}

/// The note's key below the root, when the address means one thing only where it stands.
fn resolve(homes: &Homes, home: &HomeFolder, note: &Note, address: &str) -> Option<String> {
    let (head, _) = address.strip_prefix('@')?.split_once('/')?;
    let parsed = Address::parse(homes, address).ok()?;
    let (kind, name) = home.key.split_once('/').unwrap_or((&home.key, ""));
    let folder = match (head, kind) {
        ("human", _) => "human".to_owned(),
        ("agents" | "models", _) => homes.relative_folder(parsed.home()).ok()?,
        ("project", "project") | ("self", "agents") | ("model", "models") => home.key.clone(),
        ("project", "pi") => format!("project/{}", note.get(Key::Project)?),
        // Of this conversation only is it known who wrote it.
        ("self" | "model", "pi") if homes.relative_folder(&Home::Session).as_deref() == Ok(&format!("pi/{name}")) => {
            homes.relative_folder(parsed.home()).ok()?
        }
        _ => return None,
    };
    Some(format!("{folder}/{}", parsed.path()))
}
