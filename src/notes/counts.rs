//! How often notes were read, kept beside them: reading a note never changes its file.
//!
//! One file a note in the state folder, one byte an access; its time is the last access. An append of one byte needs no
//! lock, and losing the folder loses nothing but the counts.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::notes::home::Homes;
use crate::notes::store::Location;
use crate::notes::{disk, time};

/// The accesses of one note that were counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accesses {
    /// How many.
    pub count: u64,
    /// The last one.
    pub last: Option<Timestamp>,
}

/// What was counted for a note.
pub fn of(homes: &Homes, location: &Location) -> Accesses {
    let metadata = file(homes, location).and_then(|file| fs::metadata(file).ok());
    metadata.map_or_else(Accesses::default, |metadata| Accesses {
        count: metadata.len(),
        last: metadata.modified().ok().and_then(time::of_file),
    })
}

/// Counts one access. A count that cannot be kept is no reason to refuse a reading.
pub fn count(homes: &Homes, location: &Location) {
    let Some(file) = file(homes, location) else {
        return;
    };
    let append = || OpenOptions::new().create(true).append(true).mode(0o600).open(&file);
    let opened = append().or_else(|_| {
        file.parent().map_or(Ok(()), disk::make_folders)?;
        append()
    });
    if let Ok(mut opened) = opened {
        let _ = opened.write_all(b".");
    }
}

/// Takes the counts along when a note is renamed.
pub fn rename(homes: &Homes, from: &Location, to: &Location) {
    if let (Some(from), Some(to)) = (file(homes, from), file(homes, to)) {
        let _ = fs::rename(from, to);
    }
}

fn file(homes: &Homes, location: &Location) -> Option<PathBuf> {
    let name: String = blake3::hash(location.key.as_bytes())
        .to_hex()
        .chars()
        .take(24)
        .collect();
    Some(homes.side_folder()?.join("reads").join(name))
}
