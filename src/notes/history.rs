//! For people: what a note was before, and bringing it back.

use jiff::Timestamp;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

use crate::notes::address::Address;
use crate::notes::disk::Stamp;
use crate::notes::home::Homes;
use crate::notes::note::{Key, Note};
use crate::notes::store::{self, Change, Location};
use crate::notes::tools::check_writable;
use crate::notes::{counts, text, time, versions};
use crate::outcome::Refusal;

/// One earlier state of a note.
#[derive(Debug, Clone, Serialize)]
pub struct Past {
    /// Counts up with every replacement.
    pub number: u64,
    /// What replaced it: `write`, `update`, `crumple`, `smooth`, `rename` or `undo`.
    pub replaced_by: String,
    /// Its content hash, as the tools call it.
    pub version: String,
    /// Its title then.
    pub title: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last changed before it was replaced.
    pub updated_at: Option<Timestamp>,
    /// Where a rename took it, as the key of the note (folder and path below the root).
    pub renamed_to: Option<String>,
    /// The file that has it.
    pub file: PathBuf,
}

/// What an undo did.
#[derive(Debug, Clone, Serialize)]
pub struct Undone {
    /// The note.
    pub address: String,
    /// The number of the state that was brought back.
    pub number: u64,
    /// What the note's version is now.
    pub version: String,
    /// What a person should know, e.g. that the renamed note stays as well.
    pub remarks: Vec<String>,
}

/// The earlier states of a note, oldest first.
///
/// # Errors
/// An address that is none, or a history that cannot be read.
pub fn list(homes: &Homes, address: &str) -> Result<Vec<Past>, Refusal> {
    let address = Address::parse(homes, address)?;
    let location = store::locate(homes, &address)?;
    past(homes, &address, &location)
}

fn past(homes: &Homes, address: &Address, location: &Location) -> Result<Vec<Past>, Refusal> {
    let cannot = |error: std::io::Error| {
        Refusal::new(
            "io_error",
            format!("The history of `{}` cannot be read: {error}.", location.shown),
        )
    };
    let live = Stamp::at(&location.file).map_err(cannot)?;
    let mut past = Vec::new();
    for version in versions::list(homes.root(), &location.key).map_err(cannot)? {
        let bytes = fs::read(&version.file).map_err(cannot)?;
        // A writer that died before it replaced the note leaves a second name of it.
        let stamp = Stamp::at(&version.file).map_err(cannot)?;
        if live.zip(stamp).is_some_and(|(live, stamp)| live.same_file(&stamp)) {
            continue;
        }
        let note = Note::parse(&String::from_utf8_lossy(&bytes));
        let of_file = fs::metadata(&version.file).and_then(|metadata| metadata.modified());
        past.push(Past {
            number: version.number,
            version: note.version(),
            title: text::title(&note, address.stem()),
            bytes: bytes.len() as u64,
            updated_at: note
                .instant(Key::UpdatedAt)
                .or_else(|| of_file.ok().and_then(time::of_file)),
            renamed_to: fs::read_to_string(versions::renamed_to_file(&version)).ok(),
            replaced_by: version.replaced_by,
            file: version.file,
        });
    }
    Ok(past)
}

/// Brings an earlier state of a note back: the one of this number, else the newest. What it replaces is kept as well,
/// so an undo can be undone.
///
/// # Errors
/// When there is no such state, or as any write.
pub fn undo(homes: &Homes, address: &str, number: Option<u64>) -> Result<Undone, Refusal> {
    let address = Address::parse(homes, address)?;
    check_writable(homes, &address)?;
    let location = store::locate(homes, &address)?;
    let states = past(homes, &address, &location)?;
    let chosen = match number {
        None => states.last(),
        Some(number) => states.iter().find(|state| state.number == number),
    };
    let Some(chosen) = chosen else {
        let which = number.map_or("earlier state".to_owned(), |number| format!("state {number}"));
        let message = format!("The history of `{}` has no {which}. Nothing was done.", location.shown);
        return Err(Refusal::new("not_found", message));
    };
    let mut remarks = Vec::new();
    let mut undone = Undone {
        address: location.shown.clone(),
        number: chosen.number,
        version: chosen.version.clone(),
        remarks: Vec::new(),
    };
    if let Some(target) = chosen.renamed_to.as_deref().and_then(|key| renamed(homes, key)) {
        let guard = store::take_lock(homes, &[&location, &target])?;
        let here = store::load(&location)?;
        let there = store::load(&target)?;
        let unchanged = there
            .as_ref()
            .is_some_and(|there| there.note.version() == chosen.version);
        if here.is_none() && unchanged {
            store::rename(homes, &target, &location, None)?;
            counts::rename(homes, &target, &location);
            undone
                .remarks
                .push(format!("The note is back from `{}`.", target.shown));
            return Ok(undone);
        }
        if there.is_some() {
            remarks.push(format!(
                "The renamed note stays at `{}` as well: one of the two was changed since.",
                target.shown
            ));
        }
        drop(guard);
    }
    let cannot = |error: std::io::Error| {
        let message = format!(
            "State {} of `{}` cannot be read: {error}.",
            chosen.number, location.shown
        );
        Refusal::new("io_error", message)
    };
    let bytes = fs::read(&chosen.file).map_err(cannot)?;
    store::change(homes, &location, |_| Ok((Change::Replace(bytes.clone(), "undo"), ())))?;
    undone.remarks = remarks;
    Ok(undone)
}

/// The note that a rename led to, when it is one of this identity's.
fn renamed(homes: &Homes, key: &str) -> Option<Location> {
    homes.own().into_iter().find_map(|home| {
        let place = homes.place(&home).ok()?;
        let path = key.strip_prefix(&place.key)?.strip_prefix('/')?;
        store::locate(homes, &Address::of_file(&home, path)?).ok()
    })
}
