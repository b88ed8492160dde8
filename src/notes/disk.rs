//! The calls to the file system that need more than the standard library's defaults.
//!
//! Links are never followed at the last component, and nothing but a regular file is ever opened for good.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

/// The most bytes of a file that is read as a note: far above what can be written, so that foreign files show.
pub const MAX_READ_BYTES: u64 = 32 * 1024 * 1024;

/// Why a path is no note's file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing is there.
    #[error("there is no such file")]
    Missing,
    /// Something else than a file is there.
    #[error("{0}")]
    NotAFile(&'static str),
    /// More than [`MAX_READ_BYTES`].
    #[error("the file has {0} bytes, more than can be read as a note")]
    TooLarge(u64),
    /// The system's refusal.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

/// What is at a path when it is no regular file.
pub fn kind_of(metadata: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    if kind.is_file() {
        None
    } else if kind.is_symlink() {
        Some("a symbolic link is there, and links are not followed")
    } else if kind.is_dir() {
        Some("a folder is there where the note should be")
    } else if kind.is_fifo() {
        Some("a named pipe is there where the note should be")
    } else if kind.is_socket() {
        Some("a socket is there where the note should be")
    } else {
        Some("a device is there where the note should be")
    }
}

/// Opens a regular file for reading, without following a link or waiting for a pipe.
pub fn open(path: &Path) -> Result<(File, Metadata), ReadError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match file {
        Ok(file) => file,
        // A link, a socket or a device may refuse to be opened: say what it is.
        Err(error) => {
            return Err(
                match fs::symlink_metadata(path).ok().and_then(|metadata| kind_of(&metadata)) {
                    Some(kind) => ReadError::NotAFile(kind),
                    None => error.into(),
                },
            );
        }
    };
    let metadata = file.metadata()?;
    match kind_of(&metadata) {
        Some(kind) => Err(ReadError::NotAFile(kind)),
        None => Ok((file, metadata)),
    }
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<(Vec<u8>, Metadata), ReadError> {
    let (file, metadata) = open(path)?;
    let length = metadata.len();
    if length > MAX_READ_BYTES {
        return Err(ReadError::TooLarge(length));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
    Ok((bytes, metadata))
}

/// Reads the first bytes of a file, at most `length`.
pub fn read_head(path: &Path, length: usize) -> Result<(Vec<u8>, Metadata), ReadError> {
    let (mut file, metadata) = open(path)?;
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read(room) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        if filled as u64 >= metadata.len() {
            break;
        }
    }
    bytes.truncate(filled);
    Ok((bytes, metadata))
}

/// Makes a folder and those above it, each for its owner alone, and makes them durable.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut at = folder;
    loop {
        match fs::metadata(at) {
            Ok(metadata) if metadata.is_dir() => break,
            Ok(_) => {
                let message = format!("{} is a file, and a folder is needed there", at.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(at),
            Err(error) => return Err(error),
        }
        match at.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => at = parent,
            _ => break,
        }
    }
    for folder in missing.into_iter().rev() {
        let mut builder = DirBuilder::new();
        match builder.mode(0o700).create(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
        }
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
    }
    Ok(())
}

/// Makes what was renamed, made or removed in a folder durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot, and some folders may not be opened for it.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Makes a new file with these bytes, durable, with these permissions.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    if mode != 0o600 {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// Moves a file to a name that nothing has yet.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return renamed.map_err(io::Error::from),
    }
    // A file system without that call: a second name fails when there is something, too.
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// What tells whether a file was changed behind our back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// The stamp of what was read.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// The stamp of what is there now, if anything is.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether both are the same file, whatever was written to it.
    pub fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}
