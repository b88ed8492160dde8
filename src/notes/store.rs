//! Reading and replacing one note's file: the old bytes or the new ones, never less.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::notes::address::Address;
use crate::notes::disk::{self, ReadError, Stamp};
use crate::notes::home::{Home, Homes};
use crate::notes::lock::{self, Guard};
use crate::notes::note::{MAX_NOTE_BYTES, Note};
use crate::notes::projects;
use crate::notes::versions::{self, Version};
use crate::outcome::Refusal;

/// How often a replacement is tried again when a program without our locks was quicker.
const ATTEMPTS: usize = 8;

/// A note's place on disk, checked for links.
#[derive(Debug, Clone)]
pub struct Location {
    /// The address, as results show it.
    pub shown: String,
    /// The note's file.
    pub file: PathBuf,
    /// What locks and versions know the note by.
    pub key: String,
    home: Home,
}

/// A note as it was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The note; of a file that is not UTF-8, a readable likeness.
    pub note: Note,
    /// The file's bytes, exactly.
    pub raw: Vec<u8>,
    /// Whether the file is UTF-8, so that it can be edited.
    pub is_utf8: bool,
    /// When the file was last written.
    pub modified: Option<std::time::SystemTime>,
    mode: u32,
    stamp: Stamp,
}

impl Loaded {
    /// Whether both are one file (a file system may not tell names apart that differ in case).
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.stamp.same_file(&other.stamp)
    }
}

/// Works out where a note is. Nothing on the way may be a symbolic link.
///
/// # Errors
/// `io_error`, with what is in the way.
pub fn locate(homes: &Homes, address: &Address) -> Result<Location, Refusal> {
    let shown = homes.render(address);
    let place = homes
        .place(address.home())
        .map_err(|why| Refusal::new("io_error", format!("The home of `{shown}` is not available: {why}.")))?;
    let mut file = place.folder.clone();
    let mut components = address.path().split('/').peekable();
    while let Some(component) = components.next() {
        file.push(component);
        if components.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&file) {
            Ok(metadata) if metadata.is_symlink() => {
                return Err(Refusal::new(
                    "io_error",
                    format!(
                        "`{shown}` leads through the symbolic link {}, and links are not followed. Use the address of the \
                         note itself.",
                        file.display()
                    ),
                ));
            }
            Ok(metadata) if !metadata.is_dir() => {
                return Err(Refusal::new(
                    "io_error",
                    format!(
                        "`{shown}` needs a folder where {} is a file. Choose another path.",
                        file.display()
                    ),
                ));
            }
            _ => {}
        }
    }
    Ok(Location {
        shown,
        file,
        key: format!("{}/{}", place.key, address.path()),
        home: address.home().clone(),
    })
}

/// Reads a note; `None` when there is none.
///
/// # Errors
/// `io_error` or `too_large`.
pub fn load(location: &Location) -> Result<Option<Loaded>, Refusal> {
    let (raw, metadata) = match disk::read(&location.file) {
        Ok(read) => read,
        Err(ReadError::Missing) => return Ok(None),
        Err(error) => return Err(cannot_read(location, &error)),
    };
    let text = std::str::from_utf8(&raw);
    Ok(Some(Loaded {
        note: match text {
            Ok(text) => Note::parse(text),
            Err(_) => Note::parse(&String::from_utf8_lossy(&raw)),
        },
        is_utf8: text.is_ok(),
        modified: metadata.modified().ok(),
        mode: metadata.permissions().mode() & 0o777,
        stamp: Stamp::of(&metadata),
        raw,
    }))
}

/// What to do with a note.
pub enum Change {
    /// Leave the file as it is.
    Nothing,
    /// Put this in its place; the second value names what did so in the history.
    Replace(Vec<u8>, &'static str),
}

/// Reads a note under its lock, lets `decide` say what becomes of it, and does it. `decide` is asked again when a
/// program without our locks changes the file meanwhile.
///
/// # Errors
/// What `decide` refuses, or `io_error` and `too_large`; then the file is as it was.
pub fn change<T>(
    homes: &Homes,
    location: &Location,
    mut decide: impl FnMut(Option<&Loaded>) -> Result<(Change, T), Refusal>,
) -> Result<T, Refusal> {
    // A refusal must not leave folders behind, so it is given before the first one is made.
    let before = load(location)?;
    let (change, outcome) = decide(before.as_ref())?;
    if matches!(change, Change::Nothing) {
        return Ok(outcome);
    }
    let guard = take_lock(homes, &[location])?;
    for _ in 0..ATTEMPTS {
        let current = load(location)?;
        let (change, outcome) = decide(current.as_ref())?;
        let Change::Replace(bytes, by) = change else {
            return Ok(outcome);
        };
        check_size(location, &bytes)?;
        if put(homes, &guard, location, current.as_ref(), &bytes, by)? {
            projects::remember(homes, &location.home);
            return Ok(outcome);
        }
    }
    Err(Refusal::new(
        "io_error",
        format!(
            "`{}` is being changed by another program again and again. Try again later.",
            location.shown
        ),
    ))
}

/// Takes the locks of notes.
///
/// # Errors
/// `io_error`.
pub fn take_lock(homes: &Homes, locations: &[&Location]) -> Result<Guard, Refusal> {
    let keys: Vec<&str> = locations.iter().map(|location| location.key.as_str()).collect();
    let first = locations.first().copied();
    lock::lock(homes.root(), &keys).map_err(|error| cannot_write(first, &error))
}

fn check_size(location: &Location, bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() <= MAX_NOTE_BYTES {
        return Ok(());
    }
    let refusal = Refusal::new(
        "too_large",
        format!(
            "`{}` would have {} bytes; a note has at most {MAX_NOTE_BYTES}. Nothing was changed. Split it into several notes.",
            location.shown,
            bytes.len()
        ),
    );
    Err(refusal.with_details(json!({ "bytes": bytes.len(), "max_bytes": MAX_NOTE_BYTES })))
}

/// Replaces the file; `false` when it is no longer what was read.
pub fn put(
    homes: &Homes,
    guard: &Guard,
    location: &Location,
    current: Option<&Loaded>,
    bytes: &[u8],
    by: &str,
) -> Result<bool, Refusal> {
    let write = || -> io::Result<bool> {
        let folder = location.file.parent().unwrap_or(homes.root());
        disk::make_folders(folder)?;
        let temporary = Temporary::new(guard, &location.file)?;
        disk::write_new(&temporary.path, bytes, current.map_or(0o600, |loaded| loaded.mode))?;
        if Stamp::at(&location.file)? != current.map(|loaded| loaded.stamp) {
            return Ok(false);
        }
        let Some(_) = current else {
            match disk::rename_to_free(&temporary.path, &location.file) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                renamed => renamed?,
            }
            disk::sync_folder(folder)?;
            return Ok(true);
        };
        let version = Kept::new(versions::keep(homes.root(), &location.key, &location.file, by)?);
        fs::rename(&temporary.path, &location.file)?;
        let version = version.for_good();
        if let Some(folder) = version.file.parent() {
            disk::sync_folder(folder)?;
        }
        disk::sync_folder(folder)?;
        // The history may be longer than wanted; that is no reason to refuse.
        let _ = versions::prune(homes.root(), &location.key);
        Ok(true)
    };
    write().map_err(|error| cannot_write(Some(location), &error))
}

/// Moves a note's file. The caller holds both locks, has read the source, and has made sure that `replaced` (what is
/// at the target) may go.
pub fn rename(homes: &Homes, from: &Location, to: &Location, replaced: Option<&Loaded>) -> Result<(), Refusal> {
    let root = homes.root();
    let move_file = || -> io::Result<()> {
        let folder = to.file.parent().unwrap_or(root);
        disk::make_folders(folder)?;
        let version = Kept::new(versions::keep(root, &from.key, &from.file, "rename")?);
        let goes_to = versions::renamed_to_file(&version.0);
        fs::write(&goes_to, &to.key)?;
        let moved = || match replaced {
            None => disk::rename_to_free(&from.file, &to.file),
            Some(_) => {
                let gone = Kept::new(versions::keep(root, &to.key, &to.file, "rename")?);
                fs::rename(&from.file, &to.file)?;
                gone.for_good();
                Ok(())
            }
        };
        if let Err(error) = moved() {
            let _ = fs::remove_file(goes_to);
            return Err(error);
        }
        let version = version.for_good();
        let source = from.file.parent().unwrap_or(root);
        for folder in [version.file.parent().unwrap_or(root), folder, source] {
            disk::sync_folder(folder)?;
        }
        let _ = versions::prune(root, &from.key);
        let _ = versions::prune(root, &to.key);
        Ok(())
    };
    move_file().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_exists(&to.shown),
        io::ErrorKind::CrossesDevices => Refusal::new(
            "io_error",
            format!(
                "`{}` and `{}` are on different file systems, so the note cannot be moved in one step. Write it at the new \
                 address and crumple the old one.",
                from.shown, to.shown
            ),
        ),
        _ => cannot_write(Some(from), &error),
    })
}

/// The refusal for a target that is taken.
pub fn already_exists(shown: &str) -> Refusal {
    Refusal::new(
        "already_exists",
        format!(
            "There is a note at `{shown}`; a rename only replaces one in the wastebasket. Choose another address, or crumple \
             that note first. Nothing was changed."
        ),
    )
}

/// A temporary file, gone when this is.
struct Temporary<'a> {
    guard: &'a Guard,
    path: PathBuf,
}

impl<'a> Temporary<'a> {
    fn new(guard: &'a Guard, target: &Path) -> io::Result<Self> {
        let path = lock::temporary_beside(target);
        guard.announce(&path)?;
        Ok(Self { guard, path })
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => self.guard.done(),
        }
    }
}

/// A version that is taken back unless its file was really replaced.
struct Kept(Version);

impl Kept {
    fn new(version: Version) -> Self {
        Self(version)
    }

    fn for_good(mut self) -> Version {
        let version = self.0.clone();
        self.0.file = PathBuf::new();
        version
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.0.file.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.0.file);
        }
    }
}

/// The refusal for a file that cannot be read.
pub fn cannot_read(location: &Location, error: &ReadError) -> Refusal {
    let shown = &location.shown;
    match error {
        ReadError::TooLarge(bytes) => Refusal::new(
            "too_large",
            format!(
                "`{shown}` has {bytes} bytes, too many for a note. Look at {} with other tools.",
                location.file.display()
            ),
        ),
        ReadError::NotAFile(what) => Refusal::new(
            "io_error",
            format!(
                "`{shown}` cannot be used: {what} ({}). Choose another address.",
                location.file.display()
            ),
        ),
        ReadError::Io(error) => cannot("read", shown, error),
        ReadError::Missing => Refusal::new("not_found", format!("There is no note at `{shown}`.")),
    }
}

fn cannot_write(location: Option<&Location>, error: &io::Error) -> Refusal {
    cannot("write", location.map_or("the note", |location| &location.shown), error)
}

fn cannot(verb: &str, shown: &str, error: &io::Error) -> Refusal {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "The disk is full: tell the person; room must be made first."
        }
        io::ErrorKind::ReadOnlyFilesystem => "The notes folder cannot be written at the moment: tell the person.",
        io::ErrorKind::PermissionDenied => "The rights of the folder do not allow it: tell the person.",
        io::ErrorKind::InvalidFilename => "A part of the path is too long for this disk: choose shorter names.",
        io::ErrorKind::FileTooLarge => "A limit on the size of files stands in the way: tell the person.",
        io::ErrorKind::TimedOut => "Try again.",
        _ => "If it stays so, tell the person; `notesoup doctor --notes` looks for the cause.",
    };
    let intact = if verb == "write" {
        " What was there before is intact."
    } else {
        ""
    };
    let refusal = Refusal::new(
        "io_error",
        format!("Could not {verb} `{shown}`: {error}.{intact} {remedy}"),
    );
    refusal.with_details(json!({ "kind": error.kind().to_string() }))
}
