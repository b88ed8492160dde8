//! Taking a dream back: what it did is taken away from what there is now, in a commit of its own.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::Serialize;

use super::repo::{Kind, Place, Repo, place};
use super::{DreamError, REPORTS, lock};

/// A dream that was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The commit of the dream.
    pub dream: String,
    /// The commit that takes it back.
    pub commit: String,
    /// The files that are as before again, relative to the root.
    pub files: Vec<String>,
}

/// git writes a file for everybody to read; a note is its owner's. What cannot be closed is found by the doctor.
fn keep_private(file: &Path) {
    if fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        let _ = fs::set_permissions(file, Permissions::from_mode(0o600));
    }
}

/// Takes back the newest dream that still stands; a second call takes back the one before it. What was written since
/// stays; where both touched the same lines, nothing at all is changed.
///
/// The report of the dream stays too.
pub fn undo(root: &Path, state_dir: &Path) -> Result<Undone, DreamError> {
    let _lock = lock(state_dir, root)?;
    if place(root)? != Place::Own {
        return Err(DreamError::NothingToUndo);
    }
    let repo = Repo::new(root);
    let Some(dream) = repo.dreams()?.into_iter().next() else {
        return Err(DreamError::NothingToUndo);
    };
    let trailer = format!("Notesoup-Dream-Undoes: {}", dream.commit);
    let before = repo.commit_with("Notes before a dream is taken back", Kind::Before, &trailer)?;
    let tree = repo
        .tree_without(&dream.commit)?
        .map_err(|notes| DreamError::UndoConflict { notes })?;
    repo.go_to(&tree)?;
    repo.restore(REPORTS)?;
    let commit = repo.commit_index("A dream taken back", Kind::Undo, &trailer)?;
    let files = repo.changed_between(&before, &commit)?;
    files.iter().for_each(|file| keep_private(&root.join(file)));
    Ok(Undone {
        dream: dream.commit,
        commit,
        files,
    })
}
