//! Where the client keeps the transcript of a conversation: `<its folder>/projects/<folder's key>/<session>.jsonl`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::outcome::Refusal;
use crate::paths::{self, tilde};

/// The client cuts a key to this length and adds a hash.
const MAX_KEY: usize = 200;
/// A subagent's transcript begins so; it is no conversation.
const OF_SUBAGENT: &str = "agent-";
/// How many conversations a refusal names.
const NAMED: usize = 5;

/// The transcript of the conversation with this id, or with the only id that begins so.
pub(super) fn by_id(id: &str) -> Result<PathBuf, Refusal> {
    let root = root().map_err(|why| unknown(format!("{why} Give --transcript FILE.")))?;
    let mut found: Vec<PathBuf> = folders(&root)
        .flat_map(|folder| transcripts(&folder))
        .filter(|path| stem(path).starts_with(id))
        .collect();
    if let Some(exact) = found.iter().position(|path| stem(path) == id) {
        return Ok(found.swap_remove(exact));
    }
    found.sort();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(unknown(format!(
            "There is no conversation `{id}` below {}. --transcript FILE names a transcript anywhere.",
            root.display()
        ))),
        several => {
            let ids: Vec<&str> = several.iter().take(NAMED).map(|path| stem(path)).collect();
            let more = if several.len() > NAMED { ", …" } else { "" };
            Err(unknown(format!(
                "{} conversations begin with `{id}`: {}{more}. Give more of the id.",
                several.len(),
                ids.join(", ")
            )))
        }
    }
}

/// The transcript that was written to last, of those that belong to this folder or to the nearest one above it.
pub(super) fn newest(cwd: &Path) -> Result<PathBuf, Refusal> {
    let missing = |why: String| unknown(format!("{why} Name one with --session ID or --transcript FILE."));
    let mut newest = newest_ones(cwd, 1).map_err(missing)?;
    newest
        .pop()
        .ok_or_else(|| unknown("There is no conversation.".to_owned()))
}

/// So many transcripts that were written to last, the newest last, or a sentence that says where there are none.
pub(in crate::cli) fn newest_ones(cwd: &Path, count: usize) -> Result<Vec<PathBuf>, String> {
    let root = root()?;
    let real = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let of = |folder: &Path| {
        let key = key(folder);
        let mine = folders(&root).filter(|path| is_key(path, &key));
        let mut found: Vec<(Option<SystemTime>, PathBuf)> = mine
            .flat_map(|folder| transcripts(&folder))
            .map(|path| (written(&path), path))
            .collect();
        found.sort();
        (!found.is_empty()).then_some(found)
    };
    let Some(mut found) = real.ancestors().find_map(of) else {
        return Err(format!(
            "There is no conversation of {} below {}.",
            tilde(&real),
            tilde(&root)
        ));
    };
    let newest = found.split_off(found.len().saturating_sub(count));
    Ok(newest.into_iter().map(|(_, path)| path).collect())
}

/// The conversation's id.
pub(super) fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn unknown(message: String) -> Refusal {
    Refusal::new("history_unavailable", message)
}

fn root() -> Result<PathBuf, String> {
    let root = paths::claude_dir().map(|dir| dir.join("projects"));
    root.ok_or_else(|| "HOME is not set, so there is no place to look.".to_owned())
}

fn folders(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn transcripts(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    folders(folder).filter(|path| {
        path.extension().is_some_and(|extension| extension == "jsonl") && !stem(path).starts_with(OF_SUBAGENT)
    })
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// The folder's path with all but letters and digits made into `-`, as the client does.
fn key(folder: &Path) -> String {
    let plain = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    folder.to_string_lossy().encode_utf16().map(plain).collect()
}

fn is_key(path: &Path, key: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match key.get(..MAX_KEY) {
        Some(begin) if key.len() > MAX_KEY => name.strip_prefix(begin).is_some_and(|rest| rest.starts_with('-')),
        _ => name == key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_by_its_key() {
        assert_eq!(key(Path::new("/home/a_b/my.proj 1/ü")), "-home-a-b-my-proj-1--");
        let long = format!("/{}", "x".repeat(300));
        let cut = format!("-{}", "x".repeat(199));
        assert!(is_key(Path::new(&format!("/p/{cut}-1a2b")), &key(Path::new(&long))));
        assert!(!is_key(Path::new(&format!("/p/{cut}")), &key(Path::new(&long))));
    }
}
