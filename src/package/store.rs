//! The installed files: one folder a version, and `current`, a link that is switched in one step.
//!
//! ```text
//! <data>/install.lock
//! <data>/versions/0.1.0.1/.claude-plugin/marketplace.json
//! <data>/versions/0.1.0.1/plugin/…
//! <data>/versions/0.1.0.1/plugin/bin/notesoup
//! <data>/current -> versions/0.1.0.1
//! ```
//!
//! A version is written beside the others under a temporary name, synced, and only then renamed, so that a crash or a
//! full disk leaves what was there. Sessions that still run keep the version before: one is kept.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{PackageError, VERSION, embedded};

const STAGING: &str = ".staging-";

/// The folder of the program inside a version.
pub const PROGRAM: &str = "plugin/bin/notesoup";

/// The data folder with its versions.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A version written under a temporary name; gone when dropped.
#[derive(Debug)]
pub struct Staged {
    folder: TempDir,
}

impl Staged {
    /// Where the plugin lies, for the client to look at.
    pub fn plugin(&self) -> PathBuf {
        self.folder.path().join("plugin")
    }
}

/// Held while an install or uninstall runs; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Store {
    /// The store in `$XDG_DATA_HOME/notesoup`.
    pub fn locate() -> Result<Self, PackageError> {
        crate::paths::data_dir()
            .map(|root| Self { root })
            .ok_or(PackageError::NoHome)
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that the client is told of: it stays the same over all versions.
    pub fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    fn versions(&self) -> PathBuf {
        self.root.join("versions")
    }

    /// Name of the version that `current` leads to.
    pub fn current_version(&self) -> Option<String> {
        let target = fs::read_link(self.current()).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Makes the folder and takes the lock.
    pub fn lock(&self) -> Result<Lock, PackageError> {
        let versions = self.versions();
        fs::create_dir_all(&versions).map_err(|err| PackageError::write(&versions, err))?;
        let path = self.root.join("install.lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|err| PackageError::write(&path, err))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(PackageError::Busy { path }),
            Err(TryLockError::Error(err)) => Err(PackageError::write(&path, err)),
        }
    }

    /// Whether `current` holds exactly the embedded files and this program. Files that the client added do not count.
    pub fn is_up_to_date(&self, program: &Path) -> bool {
        let current = self.current();
        let same = |path: &Path, bytes: &[u8]| {
            fs::metadata(path).is_ok_and(|meta| meta.len() == bytes.len() as u64)
                && fs::read(path).is_ok_and(|found| found == bytes)
        };
        embedded::FILES
            .iter()
            .all(|(name, bytes)| same(&current.join(name), bytes))
            && fs::read(program).is_ok_and(|bytes| same(&current.join(PROGRAM), &bytes))
    }

    /// Writes the embedded files and the program under a temporary name.
    pub fn stage(&self, program: &Path, _lock: &Lock) -> Result<Staged, PackageError> {
        let versions = self.versions();
        self.remove_leftovers();
        let folder = tempfile::Builder::new()
            .prefix(STAGING)
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&versions)
            .map_err(|err| PackageError::write(&versions, err))?;
        for (name, bytes) in embedded::FILES {
            write(&folder.path().join(name), bytes, 0o644)?;
        }
        let bytes = fs::read(program).map_err(|err| PackageError::read(program, err))?;
        write(&folder.path().join(PROGRAM), &bytes, 0o755)?;
        Ok(Staged { folder })
    }

    /// Gives a staged version its name, and switches `current` to it. Returns the name.
    pub fn switch(&self, staged: Staged, _lock: &Lock) -> Result<String, PackageError> {
        let current = self.current();
        if fs::symlink_metadata(&current).is_ok_and(|meta| !meta.is_symlink()) {
            return Err(PackageError::InTheWay { path: current });
        }
        let before = self.current_version();
        let (name, folder) = self.free_name();
        fs::rename(staged.folder.path(), &folder).map_err(|err| PackageError::write(&folder, err))?;
        // The folder has its name: nothing is left for the guard to remove.
        let _ = staged.folder.keep();
        sync(&self.versions())?;

        let link = self.root.join(".current-new");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(Path::new("versions").join(&name), &link)
            .and_then(|()| fs::rename(&link, &current))
            .map_err(|err| PackageError::write(&current, err))?;
        sync(&self.root)?;
        self.remove_all_but(&[Some(name.as_str()), before.as_deref()]);
        Ok(name)
    }

    /// Removes every version, the link and the lock. What else lies in the folder stays, and the folder with it.
    pub fn remove(&self, lock: Lock) -> Result<(), PackageError> {
        let gone = |result: io::Result<()>, path: &Path| match result {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(PackageError::write(path, err)),
            _ => Ok(()),
        };
        let current = self.current();
        if fs::symlink_metadata(&current).is_ok_and(|meta| meta.is_symlink()) {
            gone(fs::remove_file(&current), &current)?;
        }
        let versions = self.versions();
        gone(fs::remove_dir_all(&versions), &versions)?;
        let path = self.root.join("install.lock");
        gone(fs::remove_file(&path), &path)?;
        drop(lock);
        // Fails when something else lies there, which is then not ours to remove.
        let _ = fs::remove_dir(&self.root);
        Ok(())
    }

    /// Whether anything of an installation is there.
    pub fn exists(&self) -> bool {
        fs::symlink_metadata(self.current()).is_ok() || self.versions().exists()
    }

    fn free_name(&self) -> (String, PathBuf) {
        let mut number = 1_u32;
        loop {
            let name = format!("{VERSION}.{number}");
            let folder = self.versions().join(&name);
            if fs::symlink_metadata(&folder).is_err() {
                return (name, folder);
            }
            number += 1;
        }
    }

    fn remove_leftovers(&self) {
        self.remove_where(|name| name.starts_with(STAGING));
    }

    fn remove_all_but(&self, kept: &[Option<&str>]) {
        self.remove_where(|name| !kept.contains(&Some(name)));
    }

    /// Old versions cost room and nothing else, so that one that cannot be removed is no fault.
    fn remove_where(&self, unwanted: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(self.versions()).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(&unwanted) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Writes the embedded plugin, without the program, into `folder`; returns where the plugin's own folder is.
pub fn write_plugin(folder: &Path) -> Result<PathBuf, PackageError> {
    for (name, bytes) in embedded::FILES {
        write(&folder.join(name), bytes, 0o644)?;
    }
    Ok(folder.join("plugin"))
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), PackageError> {
    let put = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    };
    put().map_err(|err| PackageError::write(path, err))
}

fn sync(folder: &Path) -> Result<(), PackageError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|err| PackageError::write(folder, err))
}
