//! Which notes a home has: a walk that opens no file, and a short look at a note's head.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::notes::address::Address;
use crate::notes::disk::{self, ReadError};
use crate::notes::home::Home;
use crate::notes::note::{Key, Note};
use crate::notes::{text, time};

/// Enough of a file to hold the frontmatter and the first lines of nearly every note.
const HEAD_BYTES: usize = 4096;

/// A note's file, found but not opened.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called.
    pub address: Address,
    /// Where it is.
    pub file: PathBuf,
}

/// What a walk saw.
#[derive(Debug, Default)]
pub struct Walk {
    /// The notes, in no order.
    pub found: Vec<Found>,
    /// Symbolic links, which are not followed.
    pub links: usize,
    /// Files ending in `.md` that no address can name.
    pub unnameable: usize,
    /// Folders that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Walks a home's folder. A missing folder is an empty home; anything else that keeps it from being read is an error.
pub fn walk(home: &Home, folder: &Path) -> io::Result<Walk> {
    let mut walk = Walk::default();
    let mut pending = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = pending.pop() {
        match read_folder(home, &folder, &prefix, &mut walk, &mut pending) {
            Ok(()) => {}
            // Renamed or removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if prefix.is_empty() => return Err(error),
            Err(error) => walk.unreadable.push((folder, error.to_string())),
        }
    }
    Ok(walk)
}

fn read_folder(
    home: &Home,
    folder: &Path,
    prefix: &str,
    walk: &mut Walk,
    pending: &mut Vec<(PathBuf, String)>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let is_note_name = name.as_encoded_bytes().ends_with(b".md");
        if kind.is_symlink() {
            walk.links += 1;
            continue;
        }
        let Some(name) = name.to_str() else {
            walk.unnameable += usize::from(is_note_name);
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            pending.push((entry.path(), format!("{path}/")));
        } else if kind.is_file() && is_note_name {
            match Address::of_file(home, &path) {
                Some(address) => walk.found.push(Found {
                    address,
                    file: entry.path(),
                }),
                None => walk.unnameable += 1,
            }
        }
    }
    Ok(())
}

/// What lists show of a note.
#[derive(Debug, Clone)]
pub struct Glance {
    /// The first heading or line.
    pub title: String,
    /// The file's size in bytes.
    pub bytes: u64,
    /// When body or origin last changed; the file's time when the note does not say.
    pub updated_at: Timestamp,
    /// Whether it is in the wastebasket.
    pub crumpled: bool,
}

/// Looks at a note's head.
pub fn glance(found: &Found) -> Result<Glance, ReadError> {
    let (mut bytes, metadata) = disk::read_head(&found.file, HEAD_BYTES)?;
    let mut note = Note::parse(&String::from_utf8_lossy(&bytes));
    let cut = metadata.len() > bytes.len() as u64;
    if cut && !note.has_header() && bytes.starts_with(b"---") || note.body.trim().is_empty() && cut {
        // Frontmatter longer than the head.
        bytes = disk::read(&found.file)?.0;
        note = Note::parse(&String::from_utf8_lossy(&bytes));
    }
    let of_file = metadata.modified().ok().and_then(time::of_file);
    Ok(Glance {
        title: text::title(&note, found.address.stem()),
        bytes: metadata.len(),
        updated_at: note.instant(Key::UpdatedAt).or(of_file).unwrap_or_default(),
        crumpled: note.is_crumpled(),
    })
}

/// Whether a file's head says that the note is in the wastebasket.
pub fn head_is_crumpled(file: &Path) -> bool {
    disk::read_head(file, HEAD_BYTES)
        .is_ok_and(|(bytes, _)| Note::parse(&String::from_utf8_lossy(&bytes)).is_crumpled())
}
