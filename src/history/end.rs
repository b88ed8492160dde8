//! The end of a transcript by itself: the newest page costs what its own rows cost, however long the file is.
//!
//! Beside the index there is a note of a place near the end behind which the conversation stands alone: the rows there
//! name none before it, but for the one that they all follow, and none before it names them. Read from there on, they
//! have the addresses, the window and the words that they have when all is read. Rows that were written since are held
//! to the same; where they are not so, or anything else is out of the ordinary, all is read.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::columns::{Reader, Writer};
use super::event::Events;
use super::index::{self, Source};
use super::key::Key;
use super::place::{Place, place};
use super::side;
use super::table::{NONE, Table};
use super::transcript::{Done, RowId, Transcript};

const NAME: &str = "end";
/// Counts up whenever the note, or what a pass makes of a row, changes.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"nsoupend";
/// Magic, format, checksum.
const HEADER: usize = 8 + 4 + 8;
/// What follows: the source, seven numbers and a key.
const BODY: usize = 48 + 7 * 8 + 16;
/// A place further from the end than this is none: reading all of it is not much dearer.
const FAR: u64 = 8 << 20;
/// When so much was written behind the place where the note ended, another is made.
const STALE: u64 = 1 << 20;

/// The note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    source: Source,
    /// How far the file was read.
    read: u64,
    /// The place, the lines before it, and the first address behind it.
    offset: u64,
    lines: u64,
    next_seq: u32,
    /// The number of the window that goes on there.
    ordinal: u32,
    /// The row that those behind the place follow.
    entry: Key,
    /// How many ids there are before it, and their checksum. They stand behind the note.
    ids: usize,
    ids_hash: u64,
}

impl Note {
    fn to_bytes(self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.source.save(&mut writer);
        for number in [
            self.read,
            self.offset,
            self.lines,
            self.next_seq.into(),
            self.ordinal.into(),
            self.ids as u64,
            self.ids_hash,
        ] {
            writer.number(number);
        }
        writer.wide(self.entry.0);
        let body = writer.into_bytes();
        [
            &MAGIC[..],
            &FORMAT.to_le_bytes(),
            &index::hash(&body).to_le_bytes(),
            &body,
        ]
        .concat()
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes.get(HEADER..)?);
        let source = Source::load(&mut reader)?;
        let mut next = || reader.number();
        let [read, offset, lines] = [next()?, next()?, next()?];
        let [next_seq, ordinal] = [u32::try_from(next()?).ok()?, u32::try_from(next()?).ok()?];
        let [ids, ids_hash] = [next()?, next()?];
        let note = Self {
            source,
            read,
            offset,
            lines,
            next_seq,
            ordinal,
            ids: usize::try_from(ids).ok()?,
            ids_hash,
            entry: Key(reader.wide()?),
        };
        // The checksum among them.
        (note.to_bytes() == bytes).then_some(note)
    }

    /// The note of a transcript, and the file that it stands in.
    fn load(state_dir: &Path, transcript: &Path) -> Option<(Self, File)> {
        let file = File::open(side::existing_folder(state_dir, transcript)?.join(NAME)).ok()?;
        let mut bytes = [0; HEADER + BODY];
        file.read_exact_at(&mut bytes, 0).ok()?;
        Some((Self::of(&bytes)?, file))
    }

    /// The ids before the place, as they stand in the file.
    fn ids(&self, file: &File) -> Option<Vec<u8>> {
        let length = self.ids.checked_mul(4)?;
        if file.metadata().ok()?.len() != (HEADER + BODY + length) as u64 {
            return None;
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, (HEADER + BODY) as u64).ok()?;
        (index::hash(&bytes) == self.ids_hash).then_some(bytes)
    }

    /// Whether a row that was written since names nothing that stands before the place.
    fn admits(&self, file: &File, table: &Table) -> Option<bool> {
        let mut new = table.ids_from(self.read).peekable();
        if new.peek().is_none() {
            return Some(true);
        }
        let bytes = self.ids(file)?;
        let ids = bytes.as_chunks::<4>().0;
        let is_known = |id: Key| {
            let short = short(id);
            ids.binary_search_by_key(&short, |bytes| u32::from_le_bytes(*bytes))
                .is_ok()
        };
        Some(!new.any(is_known))
    }
}

/// Enough of an id to tell it from a hundred thousand others nearly always; where it does not, all is read.
const fn short(id: Key) -> u32 {
    (id.hash() >> 32) as u32
}

/// The rows behind the place, and the number of their window; none where they do not stand alone.
pub(super) fn open(state_dir: &Path, path: &Path) -> Option<(Transcript, u32)> {
    let (note, kept) = Note::load(state_dir, path)?;
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let length = metadata.len();
    if length < note.read || note.read < note.offset || length - note.offset > FAR {
        return None;
    }
    if !note.source.leads_to(&Source::of(&file, &metadata, note.read).ok()?) {
        return None;
    }
    let done = Done {
        bytes: note.offset,
        lines: note.lines,
        rows: 0,
    };
    let mut transcript = Transcript::from_here(path, file, Table::from_seq(note.next_seq), done);
    transcript.read_on().ok()?;
    if !transcript.table.stands_alone(note.entry) || note.admits(&kept, &transcript.table) != Some(true) {
        return None;
    }
    Some((transcript, note.ordinal))
}

/// Whether the chain of a row leads to the place, in rows that stand alone.
pub(super) fn leads_back(table: &Table, head: RowId) -> bool {
    let mut row = head.0;
    // A circle has no end.
    for _ in 0..table.len() {
        row = match table.parent[table.newest(row) as usize] {
            NONE => return true,
            parent => parent,
        };
    }
    false
}

/// Makes a note of the end of a transcript, when there is none or it has grown old.
pub(super) fn keep(state_dir: &Path, transcript: &Transcript, events: &Events) {
    let done = transcript.done;
    // A row without its line end may not be a whole one yet.
    if done.bytes < index::WORTH || transcript.table.len() != done.rows {
        return;
    }
    let known = Note::load(state_dir, transcript.path());
    let is_fresh = |(note, file): &(Note, File)| {
        let behind = done.bytes.checked_sub(note.read);
        behind.is_some_and(|behind| behind < STALE)
            && note.ids(file).is_some()
            && transcript
                .source(note.read)
                .is_ok_and(|source| note.source.leads_to(&source))
    };
    if known.is_some_and(|known| is_fresh(&known)) {
        return;
    }
    if let Some(place) = place(transcript, events)
        && let Err(error) = write(state_dir, transcript, place)
    {
        tracing::debug!(%error, transcript = %transcript.path().display(), "the note of the end is not written");
    }
}

fn write(state_dir: &Path, transcript: &Transcript, place: Place) -> io::Result<()> {
    let Place { row, entry, ordinal } = place;
    let table = &transcript.table;
    let mut ids: Vec<u32> = table.ids_before(row).map(short).collect();
    ids.sort_unstable();
    ids.dedup();
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let note = Note {
        source: transcript.source(transcript.done.bytes)?,
        read: transcript.done.bytes,
        offset: table.offset[row as usize],
        lines: u64::from(table.line[row as usize]) - 1,
        next_seq: table.next_seq_at(row),
        ordinal,
        entry: table.uuid[entry as usize],
        ids: ids.len(),
        ids_hash: index::hash(&bytes),
    };
    let folder = side::folder(state_dir, transcript.path())?;
    let mut temp = tempfile::NamedTempFile::new_in(&folder)?;
    temp.write_all(&note.to_bytes())?;
    temp.write_all(&bytes)?;
    temp.persist(folder.join(NAME)).map_err(|error| error.error)?;
    Ok(())
}
