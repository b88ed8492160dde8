//! Which folder each project key was made from: kept beside the notes, so that notes of a checkout that was moved can
//! be told from those of one that is still there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::notes::disk;
use crate::notes::home::{Home, Homes};

/// Remembers the project at hand, once.
pub fn remember(homes: &Homes, home: &Home) {
    let (Home::Project, Ok(project)) = (home, homes.project()) else {
        return;
    };
    let Some(file) = file(homes, &project.key) else {
        return;
    };
    let folder = project.folder.as_os_str().as_bytes();
    if fs::read(&file).is_ok_and(|known| known == folder) {
        return;
    }
    // Only a help for later: a failure is no reason to refuse.
    let _ = file
        .parent()
        .map_or(Ok(()), disk::make_folders)
        .and_then(|()| fs::write(&file, folder));
}

/// The folder that a key was last used for.
pub fn folder_of(homes: &Homes, key: &str) -> Option<PathBuf> {
    let bytes = fs::read(file(homes, key)?).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(&bytes)))
}

fn file(homes: &Homes, key: &str) -> Option<PathBuf> {
    Some(homes.side_folder()?.join("projects").join(key))
}
