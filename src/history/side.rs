//! The folder of side files of one transcript: `<state>/history/<name>-<hash of its path>/`.
//!
//! Never beside the transcript. The file `transcript` in it holds the path, so that the folder can go when the
//! transcript has gone.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

const ROOT: &str = "history";
const PATH_FILE: &str = "transcript";

/// The folder, made when it is not there.
pub(super) fn folder(state_dir: &Path, transcript: &Path) -> io::Result<PathBuf> {
    let folder = place(state_dir, transcript);
    if !folder.join(PATH_FILE).is_file() {
        fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        io::Write::write_all(&mut file, full(transcript).as_os_str().as_bytes())?;
        file.persist(folder.join(PATH_FILE)).map_err(|error| error.error)?;
    }
    Ok(folder)
}

/// The folder, if it is there.
pub(super) fn existing_folder(state_dir: &Path, transcript: &Path) -> Option<PathBuf> {
    let folder = place(state_dir, transcript);
    folder.is_dir().then_some(folder)
}

fn place(state_dir: &Path, transcript: &Path) -> PathBuf {
    let full = full(transcript);
    let hash = blake3::hash(full.as_os_str().as_bytes()).to_hex();
    let stem = full.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name: String = stem
        .unwrap_or_default()
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .take(64)
        .collect();
    state_dir.join(ROOT).join(format!("{name}-{}", &hash[..12]))
}

/// The path that names a file from wherever the program runs.
fn full(transcript: &Path) -> PathBuf {
    fs::canonicalize(transcript)
        .or_else(|_| std::path::absolute(transcript))
        .unwrap_or_else(|_| transcript.to_owned())
}

/// Removes the folders of transcripts that are gone.
pub(super) fn sweep(state_dir: &Path) {
    for entry in fs::read_dir(state_dir.join(ROOT)).into_iter().flatten().flatten() {
        let Ok(path) = fs::read(entry.path().join(PATH_FILE)) else {
            continue;
        };
        let transcript = PathBuf::from(std::ffi::OsString::from_vec(path));
        // Only what is known to be gone: a folder that cannot be looked into may be there tomorrow.
        if matches!(transcript.try_exists(), Ok(false)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
