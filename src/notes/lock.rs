//! One writer a note, across processes, and the traces of a writer that died.
//!
//! Locks are files that stay: 256 of them at most, in `.versions/.locks`, each for the notes whose path hashes to it.
//! So none is ever removed under somebody's feet, and none litters. A writer notes its temporary file in
//! `.versions/.pending/<lock>` before it makes it; an entry whose lock is free belongs to a dead writer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::notes::disk;

/// The folder under the root for all that is ours alone.
pub const VERSIONS: &str = ".versions";
/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(15);
/// What a temporary file is called: no note's name, and hidden.
const TEMPORARY: (&str, &str) = (".notesoup-", ".tmp");

/// The locks of one or two notes, held until dropped.
#[derive(Debug)]
pub struct Guard {
    root: PathBuf,
    stripe: String,
    // Closing the files releases the locks.
    _files: Vec<File>,
}

/// Takes the locks of the notes with these keys (home folder and path below the root).
///
/// # Errors
/// When the lock files cannot be made, or when another process keeps a lock for longer than [`PATIENCE`].
pub fn lock(root: &Path, keys: &[&str]) -> io::Result<Guard> {
    // Always in the same order, so that two writers cannot wait for each other.
    let stripes: BTreeSet<String> = keys.iter().map(|key| stripe(key)).collect();
    let mut files = Vec::new();
    for stripe in &stripes {
        let file = open(root, stripe)?;
        wait_for(&file)?;
        files.push(file);
    }
    Ok(Guard {
        root: root.to_path_buf(),
        stripe: stripes.into_iter().next().unwrap_or_default(),
        _files: files,
    })
}

impl Guard {
    /// Says where a temporary file is about to be made; the path is dropped with [`Guard::done`].
    pub fn announce(&self, temporary: &Path) -> io::Result<()> {
        let folder = self.root.join(VERSIONS).join(".pending");
        disk::make_folders(&folder)?;
        let shown = temporary.strip_prefix(&self.root).unwrap_or(temporary);
        fs::write(folder.join(&self.stripe), shown.as_os_str().as_bytes())
    }

    /// The temporary file is gone.
    pub fn done(&self) {
        // An entry that stays is taken out by the next operation.
        let _ = fs::remove_file(self.root.join(VERSIONS).join(".pending").join(&self.stripe));
    }
}

/// Removes what writers that died have left. Whatever cannot be removed now is left for later.
pub fn recover(root: &Path) {
    let Ok(entries) = fs::read_dir(root.join(VERSIONS).join(".pending")) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(stripe) = entry.file_name().into_string() else {
            continue;
        };
        if stripe.len() != 2 || !stripe.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        let Ok(file) = open(root, &stripe) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        let pending = entry.path();
        if let Ok(named) = fs::read(&pending) {
            let temporary = root.join(OsStr::from_bytes(&named));
            if is_ours(root, &temporary) {
                let _ = fs::remove_file(temporary);
            }
            let _ = fs::remove_file(pending);
        }
    }
}

/// Whether a path names a temporary file of ours under the root, whatever wrote that path down.
fn is_ours(root: &Path, temporary: &Path) -> bool {
    let inside = |folder: &Path| Some(fs::canonicalize(folder).ok()?.starts_with(fs::canonicalize(root).ok()?));
    is_temporary_name(temporary) && temporary.parent().and_then(inside).unwrap_or(false)
}

/// Whether a file is called as only our temporary files are.
pub fn is_temporary_name(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
    name.starts_with(TEMPORARY.0.as_bytes()) && name.ends_with(TEMPORARY.1.as_bytes())
}

/// A name for a temporary file beside `target`.
pub fn temporary_beside(target: &Path) -> PathBuf {
    let unique = format!("{}{:016x}{}", TEMPORARY.0, rand::random::<u64>(), TEMPORARY.1);
    target.with_file_name(unique)
}

fn stripe(key: &str) -> String {
    // A file system may take names for the same that differ in case or in how an accent is written.
    let folded = if key.is_ascii() {
        key.to_ascii_lowercase()
    } else {
        key.split_inclusive('/')
            .take_while(|part| part.is_ascii())
            .collect::<String>()
            .to_ascii_lowercase()
    };
    blake3::hash(folded.as_bytes()).to_hex().chars().take(2).collect()
}

fn open(root: &Path, stripe: &str) -> io::Result<File> {
    let versions = root.join(VERSIONS);
    let folder = versions.join(".locks");
    let open = || {
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(flags)
            .open(folder.join(stripe))
    };
    if fs::symlink_metadata(&versions).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(io::Error::other(format!(
            "{} is a symbolic link, which is not followed",
            versions.display()
        )));
    }
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk::make_folders(&folder)?;
            open()
        }
        opened => opened,
    }
}

fn wait_for(file: &File) -> io::Result<()> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process has been writing there for {} s", PATIENCE.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        thread::sleep(pause.mul_f64(rand::random_range(0.5..1.5)));
        pause = (pause * 2).min(Duration::from_millis(4));
    }
}
