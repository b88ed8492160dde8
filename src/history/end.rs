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
use super::conversation::Conversation;
use super::copies;
use super::event::Role;
use super::index::{self, Source};
use super::key::Key;
use super::side;
use super::skim::Bits;
use super::table::{MISSING, NONE, Table};
use super::transcript::{Done, RowId, Transcript};

const NAME: &str = "end";
/// Counts up whenever the note, or what a pass makes of a row, changes.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"nsoupend";
/// Magic, format, checksum.
const HEADER: usize = 8 + 4 + 8;
/// What follows: the source, eight numbers and a key.
const BODY: usize = 48 + 8 * 8 + 16;
/// So many messages at least stand behind the place: a page and a little more.
const MESSAGES: usize = 32;
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
            0,
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
        let [ids, ids_hash, _] = [next()?, next()?, next()?];
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

/// Enough of an id to tell it from a hundred thousand others nearly always; when not, all is read.
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

/// Makes a note of the end of this conversation, when there is none or it has grown old.
pub(super) fn keep(state_dir: &Path, conversation: &Conversation) {
    let transcript = &conversation.transcript;
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
    if let Some(place) = place(conversation)
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

/// A place that the end begins at.
struct Place {
    /// The first row of the end.
    row: u32,
    /// The row that the end follows.
    entry: u32,
    /// The number of the window that `entry` is in.
    ordinal: u32,
}

/// The last place behind which there are enough messages and all stands alone.
fn place(conversation: &Conversation) -> Option<Place> {
    let Conversation { transcript, events, .. } = conversation;
    let table = &transcript.table;
    let spoken = |role| matches!(role, Role::User | Role::Assistant);
    let mut messages = events.all().iter().rev().filter(|event| spoken(event.role));
    let latest = table.row_of_seq(messages.nth(MESSAGES)?.seq)?;
    let furthest = transcript.done.bytes.saturating_sub(FAR / 2);
    let named = table.highest_named();
    // The lowest row that one behind the place names, but for those that rows follow.
    let mut lowest = table.len();
    for row in (1..table.len()).rev() {
        let at = row as usize;
        lowest = lowest.min(table.lowest_named(row)?);
        let begins_line = table.line[at] > table.line[at - 1];
        if table.offset[at] < furthest {
            return None;
        }
        if row > latest || lowest < row || named[at - 1] >= row || !begins_line {
            continue;
        }
        let mut before = table.parent[at..].iter().copied().filter(|parent| *parent < row);
        let Some(entry) = before.next() else {
            continue;
        };
        if before.all(|other| other == entry) {
            return Place::new(transcript, row, entry);
        }
    }
    None
}

impl Place {
    fn new(transcript: &Transcript, row: u32, entry: u32) -> Option<Self> {
        let table = &transcript.table;
        // Behind a boundary, or what was handed back there, a row may be one more that was handed back.
        let branch = transcript.branch_at(RowId(entry)).ok()?;
        let handed_back = copies::runs(transcript, &branch);
        let is_plain = !table.bits[entry as usize].has(Bits::BOUNDARY | Bits::SIDECHAIN);
        (is_plain && !handed_back.values().flatten().any(|row| *row == entry)).then_some(Self {
            row,
            entry,
            ordinal: branch.windows.last()?.ordinal,
        })
    }
}

/// What the table says of places in it.
impl Table {
    /// An empty one whose first address is this.
    fn from_seq(next_seq: u32) -> Self {
        let mut table = Self::new();
        table.next_seq = next_seq;
        table
    }

    /// Whether its rows name no others but `entry`, which becomes the end of their chain.
    fn stands_alone(&mut self, entry: Key) -> bool {
        let is_plain = self.boundaries.is_empty() && self.markers.is_empty() && !self.parent.contains(&NONE);
        is_plain && self.close(entry)
    }

    /// Ids of rows, responses, calls and results that stand at this place of the file or behind it.
    fn ids_from(&self, offset: u64) -> impl Iterator<Item = Key> {
        let from = self.offset.partition_point(|own| *own < offset);
        let rows = u32::try_from(from).unwrap_or(NONE)..self.len();
        rows.flat_map(|row| self.ids_of(row))
    }

    /// Ids that stand before a row, those among them that are named and not there.
    fn ids_before(&self, row: u32) -> impl Iterator<Item = Key> {
        let kept = self
            .boundaries
            .iter()
            .flat_map(|boundary| boundary.preserved.iter().chain(&boundary.logical_parent));
        let named = kept.copied().chain(self.awaited());
        (0..row).flat_map(|row| self.ids_of(row)).chain(named)
    }

    fn ids_of(&self, row: u32) -> impl Iterator<Item = Key> {
        let message = self.message_key.get(self.message[row as usize] as usize).copied();
        let blocks = self.blocks_of(row).map(|block| self.block_id[block as usize]);
        [self.uuid[row as usize]].into_iter().chain(message).chain(blocks)
    }

    /// The address that the next row had when this one came.
    fn next_seq_at(&self, row: u32) -> u32 {
        let blocks = &self.block_seq[..self.blocks[row as usize] as usize];
        let seqs = self.seq[..row as usize].iter().chain(blocks);
        seqs.max().map_or(1, |last| last + 1)
    }

    /// The rows that a row names by its response, its calls and results, and its versions.
    fn named(&self, row: u32) -> impl Iterator<Item = u32> {
        let message = self.message[row as usize];
        let response = [
            self.mate[row as usize],
            self.message_last.get(message as usize).copied().unwrap_or(NONE),
            self.first(row),
            self.newest(self.first(row)),
        ];
        let blocks = self
            .blocks_of(row)
            .flat_map(|block| [self.block_call[block as usize], self.block_link[block as usize]]);
        let block_rows = blocks.filter_map(|block| self.block_row.get(block as usize).copied());
        response.into_iter().filter(|row| *row != NONE).chain(block_rows)
    }

    /// The lowest row that this one names, but for the one that it follows; none when it cannot stand alone.
    fn lowest_named(&self, row: u32) -> Option<u32> {
        let is_marked = self.markers.iter().any(|(marked, _)| *marked == row);
        let is_orphan = |block| self.result(block).is_some() && self.block_call[block as usize] == NONE;
        let stands = self.parent[row as usize] < MISSING && !self.bits[row as usize].has(Bits::BOUNDARY);
        if is_marked || !stands || self.blocks_of(row).any(is_orphan) {
            return None;
        }
        self.named(row).min()
    }

    /// For each row the highest one that it or one before it names.
    fn highest_named(&self) -> Vec<u32> {
        let mut highest = 0;
        let mut all = Vec::with_capacity(self.uuid.len());
        for row in 0..self.len() {
            let parent = Some(self.parent[row as usize]).filter(|parent| *parent < MISSING);
            let kept = self.boundary(row).into_iter();
            let kept = kept.flat_map(|boundary| boundary.preserved.iter().chain(&boundary.logical_parent));
            let named = kept.filter_map(|key| self.find(*key));
            highest = self.named(row).chain(parent).chain(named).fold(highest, u32::max);
            all.push(highest);
        }
        all
    }
}
