//! What a note was before: every replaced file, under a second name in `.versions`.
//!
//! A version is a hard link to the file that is about to be replaced, so keeping one copies nothing and cannot tear.
//! `a/b.md` of `human/` is kept in `.versions/human.d/a.d/b.md.v/`, and no note can be called so that both meet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::notes::disk::{self, Stamp};
use crate::notes::lock::VERSIONS;

/// How many versions of one note are kept.
pub const KEPT: usize = 20;
/// A longer name has no room for our suffix on most file systems.
const MAX_NAME_BYTES: usize = 240;

/// One replaced file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Counts up with every replacement of the note.
    pub number: u64,
    /// What replaced it: `write`, `update`, `crumple`, `smooth`, `rename` or `undo`.
    pub replaced_by: String,
    /// The file.
    pub file: PathBuf,
}

/// Where the versions of the note with this key are.
pub fn folder(root: &Path, key: &str) -> PathBuf {
    let mut folder = root.join(VERSIONS);
    let mut parts = key.split('/').peekable();
    while let Some(part) = parts.next() {
        let suffix = if parts.peek().is_some() { "d" } else { "v" };
        if part.len() > MAX_NAME_BYTES {
            let hash: String = blake3::hash(part.as_bytes()).to_hex().chars().take(32).collect();
            folder.push(format!("{hash}.{suffix}"));
        } else {
            folder.push(format!("{part}.{suffix}"));
        }
    }
    folder
}

/// The versions of a note, oldest first.
pub fn list(root: &Path, key: &str) -> io::Result<Vec<Version>> {
    let entries = match fs::read_dir(folder(root, key)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut versions = Vec::new();
    for entry in entries {
        let file = entry?.path();
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".md"));
        let Some((number, replaced_by)) = name.and_then(|name| name.split_once('-')) else {
            continue;
        };
        if let Ok(number) = number.parse() {
            versions.push(Version {
                number,
                replaced_by: replaced_by.to_owned(),
                file,
            });
        }
    }
    versions.sort_by_key(|version| version.number);
    Ok(versions)
}

/// Keeps the file of a note that is about to be replaced. The caller holds the note's lock.
///
/// # Errors
/// When the version cannot be kept; then nothing may be replaced.
pub fn keep(root: &Path, key: &str, file: &Path, replaced_by: &str) -> io::Result<Version> {
    let folder = folder(root, key);
    let before = list(root, key)?;
    let number = before.last().map_or(1, |version| version.number + 1);
    // A writer that died after this step has left a second name of the same file.
    if let Some(last) = before.last()
        && let (Some(kept), Some(live)) = (Stamp::at(&last.file)?, Stamp::at(file)?)
        && kept.same_file(&live)
    {
        fs::remove_file(&last.file)?;
        let _ = fs::remove_file(renamed_to_file(last));
    }
    disk::make_folders(&folder)?;
    let version = Version {
        file: folder.join(format!("{number:06}-{replaced_by}.md")),
        number,
        replaced_by: replaced_by.to_owned(),
    };
    if let Err(error) = fs::hard_link(file, &version.file) {
        if error.kind() == io::ErrorKind::NotFound {
            return Err(error);
        }
        // No second names here (or too many of them): copy, under a temporary name first.
        let temporary = folder.join("copy.tmp");
        fs::copy(file, &temporary)?;
        fs::File::open(&temporary)?.sync_all()?;
        fs::rename(&temporary, &version.file)?;
    }
    Ok(version)
}

/// Removes the oldest versions of a note above [`KEPT`]. The caller holds the note's lock.
pub fn prune(root: &Path, key: &str) -> io::Result<()> {
    let versions = list(root, key)?;
    let too_many = versions.len().saturating_sub(KEPT);
    for version in versions.iter().take(too_many) {
        fs::remove_file(&version.file)?;
        let _ = fs::remove_file(renamed_to_file(version));
    }
    Ok(())
}

/// Where a version that a rename replaced says which key the note went to.
pub fn renamed_to_file(version: &Version) -> PathBuf {
    version.file.with_extension("to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_note_is_called_so_that_two_folders_meet() {
        let root = Path::new("/r");
        let keys = [
            "human/a.md",
            "human/a.md/b.md",
            "human/a.md.v/b.md",
            "human/a.md.d/b.md",
            "human/a.d/b.md",
        ];
        let folders: std::collections::BTreeSet<_> = keys.iter().map(|key| folder(root, key)).collect();
        assert_eq!(folders.len(), keys.len());
        assert_eq!(
            folder(root, "human/a/b.md"),
            Path::new("/r/.versions/human.d/a.d/b.md.v")
        );
    }
}
