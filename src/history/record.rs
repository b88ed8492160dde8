//! What a cut handed back, written at the time of the cut, so that history can tell a copy from a new row.
//!
//! One small file a cut, in the folder of side files of its transcript. It is a help, never a truth: a record counts
//! only where the rows behind a boundary are exactly those it names, and without one history goes by ids and words.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::side;

/// How many cuts are remembered for one transcript.
const KEPT: usize = 64;
const PREFIX: &str = "cut-";

/// Which rows one rebuilt message stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedBack {
    /// Uuids of the rows that it was made from, in order; none when its words are our own.
    pub rows: Vec<String>,
    /// Ids of its calls, or of the calls that it answers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_use_ids: Vec<String>,
}

/// What one compaction handed back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// One for each message, in order.
    pub messages: Vec<HandedBack>,
}

/// Writes the record of a cut. Whole or not at all: a crash leaves no half of one.
///
/// `state_dir` is the program's folder of side files. Records of transcripts that are gone are removed on the way.
///
/// # Errors
/// When the folder cannot be written. The cut may be done all the same: see the module's head.
pub fn write(state_dir: &Path, transcript: &Path, cut: &Cut) -> io::Result<()> {
    let folder = side::folder(state_dir, transcript)?;
    let existing = files(&folder);
    let last = existing.last().and_then(|path| number(path)).unwrap_or(0);
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    serde_json::to_writer(&mut file, cut)?;
    file.flush()?;
    file.as_file().sync_all()?;
    file.persist(folder.join(format!("{PREFIX}{:06}.json", last + 1)))
        .map_err(|error| error.error)?;
    let surplus = (existing.len() + 1).saturating_sub(KEPT);
    for old in existing.iter().take(surplus) {
        // One record too many does no harm.
        let _ = fs::remove_file(old);
    }
    side::sweep(state_dir);
    Ok(())
}

/// The records of a transcript, newest first. What cannot be read is left out.
pub(super) fn read(state_dir: &Path, transcript: &Path) -> Vec<Cut> {
    let Some(folder) = side::existing_folder(state_dir, transcript) else {
        return Vec::new();
    };
    let parse = |path: &PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
    files(&folder).iter().rev().filter_map(parse).collect()
}

/// The records in a folder, oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| number(path).is_some())
        .collect();
    files.sort();
    files
}

fn number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(PREFIX)?.strip_suffix(".json")?.parse().ok()
}
