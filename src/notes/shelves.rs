//! What stands on the shelves at one moment, for the start of a window.
//!
//! A window may start over ten thousand notes: every file is asked for its time only, and the few freshest are opened.

use std::cmp::Reverse;
use std::fs;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::notes::disk::{self, ReadError};
use crate::notes::home::{Home, Homes};
use crate::notes::note::{Key, Note};
use crate::notes::scan::{self, Found};
use crate::notes::{parallel, text, time};

/// The most code points of a `MAP.md` that a shelf shows.
pub const MAX_MAP_CHARS: usize = 4096;
/// The most code points of a checkpoint that are given out.
pub const MAX_CHECKPOINT_CHARS: usize = 32_768;
/// How many of the freshest notes a shelf names.
const FRESHEST: usize = 3;
/// How many files a shelf opens at least: a file's own time is only near to what its note says.
const CANDIDATES: usize = 12;
/// How many session notes are looked at for a checkpoint.
const CHECKPOINT_CANDIDATES: usize = 256;

/// All shelves, in the order session, project, self, model, human.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// One per own home.
    pub shelves: Vec<Shelf>,
    /// The newest live session note with "checkpoint" in name or title, else the newest session note.
    pub checkpoint: Option<Checkpoint>,
}

/// Up to so many notes of a home, each is opened to count those in the wastebasket out.
pub const COUNTED: usize = 256;

/// One home at a glance. Notes in the wastebasket are neither in `map` nor in `freshest`.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Which home it is.
    pub home: Home,
    /// What its addresses begin with: nothing for the session, else e.g. `@project/`.
    pub prefix: String,
    /// The body of its `MAP.md`.
    pub map: Option<Map>,
    /// At most three notes other than `MAP.md`, newest first.
    pub freshest: Vec<Fresh>,
    /// How many notes there are, `MAP.md` included; where there are more than [`COUNTED`], with the wastebasket.
    pub total: usize,
    /// Why the home, or a part of it, cannot be read.
    pub unavailable: Option<String>,
}

/// The body of a `MAP.md`.
#[derive(Debug, Clone)]
pub struct Map {
    /// Where it is.
    pub address: String,
    /// The body, at most [`MAX_MAP_CHARS`] code points of it.
    pub text: String,
    /// How many code points the whole body has.
    pub total_chars: usize,
}

/// A note named on a shelf.
#[derive(Debug, Clone)]
pub struct Fresh {
    /// Its first heading or line.
    pub title: String,
    /// How to read it.
    pub address: String,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The session note from which work goes on.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Its first heading or line.
    pub title: String,
    /// How to read it.
    pub address: String,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The body, at most [`MAX_CHECKPOINT_CHARS`] code points of it.
    pub body: String,
    /// How many code points the whole body has.
    pub total_chars: usize,
}

/// Looks at every own home.
pub fn take(homes: &Homes) -> Shelves {
    let mut shelves = Vec::new();
    let mut checkpoint = None;
    for home in homes.own() {
        let mut shelf = Shelf {
            prefix: homes.prefix(&home),
            map: None,
            freshest: Vec::new(),
            total: 0,
            unavailable: None,
            home,
        };
        match by_time(homes, &mut shelf) {
            Ok(by_time) => {
                if shelf.home == Home::Session {
                    checkpoint = find_checkpoint(homes, &by_time);
                }
                shelf.freshest = freshest(homes, &by_time);
            }
            Err(reason) => shelf.unavailable = Some(reason),
        }
        shelves.push(shelf);
    }
    Shelves { shelves, checkpoint }
}

/// The notes of a home but for its map, newest file first; map, total and partial failure are put on the shelf.
fn by_time(homes: &Homes, shelf: &mut Shelf) -> Result<Vec<Found>, String> {
    let folder = homes.folder(&shelf.home)?;
    let walk = scan::walk(&shelf.home, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if let Some((folder, reason)) = walk.unreadable.first() {
        shelf.unavailable = Some(format!("{}: {reason}", folder.display()));
    }
    shelf.total = match walk.found.len() {
        many if many > COUNTED => many,
        _ => parallel::filter_map(&walk.found, |found| {
            (!scan::head_is_crumpled(&found.file)).then_some(())
        })
        .len(),
    };
    let (maps, mut found): (Vec<_>, Vec<_>) = walk
        .found
        .into_iter()
        .partition(|found| found.address.path() == "MAP.md");
    if let Some(found) = maps.first() {
        match read_live(found) {
            Ok(note) => {
                shelf.map = note.map(|note| Map {
                    address: homes.render(&found.address),
                    text: note.body.chars().take(MAX_MAP_CHARS).collect(),
                    total_chars: note.body.chars().count(),
                });
            }
            Err(reason) => shelf.unavailable = Some(format!("{}: {reason}", found.file.display())),
        }
    }
    let mut timed = parallel::filter_map(&found, |found| {
        let modified = fs::symlink_metadata(&found.file).and_then(|metadata| metadata.modified());
        Some(modified.unwrap_or(SystemTime::UNIX_EPOCH))
    })
    .into_iter()
    .enumerate()
    .map(|(index, modified)| (Reverse(modified), index))
    .collect::<Vec<_>>();
    // Only the newest are ever opened.
    let kept = timed.len().min(CHECKPOINT_CANDIDATES * 2);
    if kept < timed.len() {
        timed.select_nth_unstable(kept);
        timed.truncate(kept);
    }
    timed.sort_unstable();
    let mut taken: Vec<Option<Found>> = found.drain(..).map(Some).collect();
    Ok(timed
        .into_iter()
        .filter_map(|(_, index)| taken.get_mut(index).and_then(Option::take))
        .collect())
}

fn freshest(homes: &Homes, by_time: &[Found]) -> Vec<Fresh> {
    let mut live = Vec::new();
    for (looked_at, found) in by_time.iter().enumerate() {
        if looked_at >= CANDIDATES && live.len() >= FRESHEST {
            break;
        }
        if let Ok(glance) = scan::glance(found)
            && !glance.crumpled
        {
            live.push((glance, found));
        }
    }
    live.sort_by_key(|(glance, _)| Reverse(glance.updated_at));
    live.into_iter()
        .take(FRESHEST)
        .map(|(glance, found)| Fresh {
            title: glance.title,
            address: homes.render(&found.address),
            updated_at: glance.updated_at,
        })
        .collect()
}

fn find_checkpoint(homes: &Homes, by_time: &[Found]) -> Option<Checkpoint> {
    let mut live = Vec::new();
    for found in by_time.iter().take(CHECKPOINT_CANDIDATES) {
        if let Ok(glance) = scan::glance(found)
            && !glance.crumpled
        {
            let named = [found.address.stem(), &glance.title].map(str::to_lowercase);
            let is_checkpoint = named.iter().any(|name| name.contains("checkpoint"));
            live.push((is_checkpoint, glance.updated_at, found));
        }
    }
    live.sort_by_key(|(is_checkpoint, updated_at, _)| Reverse((*is_checkpoint, *updated_at)));
    live.into_iter().find_map(|(_, _, found)| {
        let note = read_live(found).ok()??;
        let modified = fs::symlink_metadata(&found.file).and_then(|metadata| metadata.modified());
        let of_file = modified.ok().and_then(time::of_file);
        Some(Checkpoint {
            title: text::title(&note, found.address.stem()),
            address: homes.render(&found.address),
            updated_at: note.instant(Key::UpdatedAt).or(of_file).unwrap_or_default(),
            total_chars: note.body.chars().count(),
            body: note.body.chars().take(MAX_CHECKPOINT_CHARS).collect(),
        })
    })
}

/// The note, or nothing when it is in the wastebasket or was just removed.
fn read_live(found: &Found) -> Result<Option<Note>, ReadError> {
    match disk::read(&found.file) {
        Ok((bytes, _)) => {
            let note = Note::parse(&String::from_utf8_lossy(&bytes));
            Ok((!note.is_crumpled()).then_some(note))
        }
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}
