//! All rows of a transcript in columns: where each stands, what it follows, its address, without its payload.
//!
//! Rows are numbered in the order of the file. A row whose uuid was there before is a newer version of that row: it
//! takes no address, and only its link counts. A row is referred to by the number of its first version.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::columns::{Reader, Writer};
use super::key::Key;
use super::skim::{Bits, Skim, SkimBlock};

/// No row, block or message.
pub(super) const NONE: u32 = u32::MAX;
/// A row that is named and is nowhere in the file (yet).
pub(super) const MISSING: u32 = u32::MAX - 1;

/// The boundary of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Boundary {
    /// Its row.
    pub row: u32,
    /// The row that it follows.
    pub logical_parent: Option<Key>,
    /// Rows of before that were kept, the last one first.
    pub preserved: Vec<Key>,
}

/// Rows, responses, calls and results. See the module's head.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub uuid: Vec<Key>,
    pub offset: Vec<u64>,
    pub length: Vec<u32>,
    pub line: Vec<u32>,
    /// The row it follows: [`NONE`], [`MISSING`] or a first version.
    pub parent: Vec<u32>,
    pub bits: Vec<Bits>,
    /// Its address; 0 for a row that takes none.
    pub seq: Vec<u32>,
    /// The response that it is a part of.
    pub message: Vec<u32>,
    /// The row of the same response before it.
    pub mate: Vec<u32>,
    /// Where its calls and results begin; they end where those of the next row begin.
    pub blocks: Vec<u32>,

    pub message_key: Vec<Key>,
    /// The last row of a response.
    pub message_last: Vec<u32>,
    pub message_seq: Vec<u32>,

    pub block_id: Vec<Key>,
    pub block_row: Vec<u32>,
    /// Its address; 0 for one that a newer version of a row brings.
    pub block_seq: Vec<u32>,
    /// The tool's name; [`RESULT`] or [`FAILED`] for a result.
    pub block_name: Vec<u32>,
    /// The first call with its id; [`NONE`] for a result without one.
    pub block_call: Vec<u32>,
    /// For a first call its last result, for a result the one before it of the same call.
    pub block_link: Vec<u32>,

    names: Vec<String>,
    pub boundaries: Vec<Boundary>,
    /// Rows with a boot, and the ordinal it names.
    pub markers: Vec<(u32, u32)>,
    /// Newer versions by first version, in order.
    pub versions: HashMap<u32, Vec<u32>>,
    /// The first version of a newer one.
    pub first_version: HashMap<u32, u32>,
    pub next_seq: u32,

    by_uuid: HashTable<u32>,
    by_message: HashTable<u32>,
    by_call: HashTable<u32>,
    by_name: HashMap<Vec<u8>, u32>,
    awaited: HashMap<Key, Vec<u32>>,
    orphans: HashMap<Key, Vec<u32>>,
}

/// About how long the rows of a transcript are, bookkeeping in between included.
const BYTES_PER_ROW: u64 = 3000;

/// In place of a tool's name: a result.
pub(super) const RESULT: u32 = u32::MAX;
/// In place of a tool's name: the result of a call that failed.
pub(super) const FAILED: u32 = u32::MAX - 1;

impl Table {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            next_seq: 1,
            blocks: vec![0],
            ..Self::default()
        }
    }

    /// How many rows there are, all versions counted.
    pub fn len(&self) -> u32 {
        u32::try_from(self.uuid.len()).unwrap_or(NONE)
    }

    /// How many calls and results there are.
    pub fn block_count(&self) -> u32 {
        u32::try_from(self.block_id.len()).unwrap_or(NONE)
    }

    /// The row with this uuid, as its first version.
    pub fn find(&self, uuid: Key) -> Option<u32> {
        self.by_uuid
            .find(uuid.hash(), |row| self.uuid[*row as usize] == uuid)
            .copied()
    }

    /// The first call with this id.
    pub fn find_call(&self, id: Key) -> Option<u32> {
        self.by_call
            .find(id.hash(), |block| self.block_id[*block as usize] == id)
            .copied()
    }

    /// The row as its first version.
    pub fn first(&self, row: u32) -> u32 {
        if !self.bits[row as usize].has(Bits::REPEAT) {
            return row;
        }
        self.first_version.get(&row).copied().unwrap_or(row)
    }

    /// The newest version of a row.
    pub fn newest(&self, row: u32) -> u32 {
        self.version_before(row, NONE)
    }

    /// The newest version of a row that stands before `limit`; the first version when there is none.
    pub fn version_before(&self, row: u32, limit: u32) -> u32 {
        if !self.bits[row as usize].has(Bits::REPLACED) {
            return row;
        }
        let later = self.versions.get(&row).map(Vec::as_slice).unwrap_or_default();
        later
            .iter()
            .copied()
            .rev()
            .find(|version| *version < limit)
            .unwrap_or(row)
    }

    /// The calls and results of this version of a row.
    pub fn blocks_of(&self, row: u32) -> std::ops::Range<u32> {
        self.blocks[row as usize]..self.blocks[row as usize + 1]
    }

    /// Whether a block is a result, and if so whether its call failed.
    pub fn result(&self, block: u32) -> Option<bool> {
        match self.block_name[block as usize] {
            RESULT => Some(false),
            FAILED => Some(true),
            _ => None,
        }
    }

    /// The call or result with this address.
    pub fn block_seq_place(&self, seq: u32) -> Option<u32> {
        let at = self.block_seq.iter().position(|own| *own == seq)?;
        u32::try_from(at).ok()
    }

    /// The first row with this address.
    pub fn row_of_seq(&self, seq: u32) -> Option<u32> {
        let at = self.seq.iter().position(|own| *own == seq)?;
        u32::try_from(at).ok()
    }

    /// The tool's name of a call.
    pub fn name(&self, block: u32) -> &str {
        self.names
            .get(self.block_name[block as usize] as usize)
            .map_or("", String::as_str)
    }

    /// The boundary of this row.
    pub fn boundary(&self, row: u32) -> Option<&Boundary> {
        let at = self
            .boundaries
            .binary_search_by_key(&row, |boundary| boundary.row)
            .ok()?;
        self.boundaries.get(at)
    }

    /// Ids of rows that are followed and nowhere in the file.
    pub fn awaited(&self) -> impl Iterator<Item = Key> {
        self.awaited.keys().copied()
    }

    /// Ends the chains that lead to `entry`, which is not here; false when other rows or calls are missing.
    pub fn close(&mut self, entry: Key) -> bool {
        for row in self.awaited.remove(&entry).unwrap_or_default() {
            self.parent[row as usize] = NONE;
        }
        self.awaited.is_empty() && self.orphans.is_empty()
    }

    /// Makes room for the rows of a file of this size.
    pub fn expect_bytes(&mut self, bytes: u64) {
        let rows = usize::try_from(bytes / BYTES_PER_ROW).unwrap_or(0);
        let Self {
            by_uuid, uuid: keys, ..
        } = self;
        by_uuid.reserve(rows, |row| keys[*row as usize].hash());
    }

    /// Takes a row in.
    pub fn add(&mut self, skim: &Skim<'_>, offset: u64, length: u32, line: u32) {
        let Some(uuid) = skim.uuid else {
            return;
        };
        let row = self.len();
        let first = self.find(uuid);
        if first.is_some_and(|first| self.offset[first as usize] == offset) {
            // The end of the file is read again when its last line had no end.
            return;
        }
        self.uuid.push(uuid);
        self.offset.push(offset);
        self.length.push(length);
        self.line.push(line);
        self.bits.push(skim.bits);
        self.parent.push(NONE);
        self.seq.push(0);
        self.message.push(NONE);
        self.mate.push(NONE);
        self.hang(row, skim.parent);
        if let Some(first) = first {
            self.replace(row, first, &skim.blocks);
        } else {
            let Self {
                by_uuid, uuid: keys, ..
            } = self;
            by_uuid.insert_unique(uuid.hash(), row, |row| keys[*row as usize].hash());
            for waiting in self.awaited.remove(&uuid).unwrap_or_default() {
                self.parent[waiting as usize] = row;
            }
            self.number(row, skim);
        }
        self.blocks.push(self.block_count());
        if skim.bits.has(Bits::BOUNDARY) {
            self.boundaries.push(Boundary {
                row,
                logical_parent: skim.logical_parent,
                preserved: skim.metadata.map(super::boundary::preserved).unwrap_or_default(),
            });
        }
        if let Some(ordinal) = skim.marker {
            self.markers.push((row, ordinal));
        }
    }

    fn hang(&mut self, row: u32, parent: Option<Key>) {
        // A row that follows itself ends the chain.
        let Some(parent) = parent.filter(|parent| *parent != self.uuid[row as usize]) else {
            return;
        };
        self.parent[row as usize] = self.find(parent).unwrap_or_else(|| {
            self.awaited.entry(parent).or_default().push(row);
            MISSING
        });
    }

    /// Gives a new row its addresses.
    fn number(&mut self, row: u32, skim: &Skim<'_>) {
        let own = match skim.bits.kind() {
            Bits::ASSISTANT => self.join(row, skim.message),
            Bits::USER | Bits::ATTACHMENT | Bits::SYSTEM => self.take_seq(),
            _ => 0,
        };
        self.seq[row as usize] = own;
        for block in &skim.blocks {
            let seq = self.take_seq();
            self.add_block(row, block, seq);
        }
    }

    fn take_seq(&mut self) -> u32 {
        let seq = self.next_seq;
        self.next_seq += 1;
        seq
    }

    /// Adds the row to its response and gives the response's address.
    fn join(&mut self, row: u32, key: Option<Key>) -> u32 {
        let Some(key) = key else {
            return self.take_seq();
        };
        let known = self
            .by_message
            .find(key.hash(), |message| self.message_key[*message as usize] == key)
            .copied();
        let message = known.unwrap_or_else(|| {
            let message = u32::try_from(self.message_key.len()).unwrap_or(NONE);
            let seq = self.take_seq();
            self.message_key.push(key);
            self.message_last.push(NONE);
            self.message_seq.push(seq);
            let Self {
                by_message,
                message_key: keys,
                ..
            } = self;
            by_message.insert_unique(key.hash(), message, |message| keys[*message as usize].hash());
            message
        });
        self.message[row as usize] = message;
        self.mate[row as usize] = std::mem::replace(&mut self.message_last[message as usize], row);
        self.message_seq[message as usize]
    }

    fn add_block(&mut self, row: u32, block: &SkimBlock<'_>, seq: u32) -> u32 {
        let at = self.block_count();
        self.block_id.push(block.id);
        self.block_row.push(row);
        self.block_seq.push(seq);
        self.block_call.push(NONE);
        self.block_link.push(NONE);
        let known = self.find_call(block.id);
        if block.is_result {
            self.block_name.push(if block.failed { FAILED } else { RESULT });
            match known {
                Some(call) => self.answer(call, at),
                None => self.orphans.entry(block.id).or_default().push(at),
            }
            return at;
        }
        let name = self.intern(&block.name.decode());
        self.block_name.push(name);
        self.block_call[at as usize] = known.unwrap_or(at);
        if known.is_none() {
            let Self {
                by_call, block_id: ids, ..
            } = self;
            by_call.insert_unique(block.id.hash(), at, |block| ids[*block as usize].hash());
            for orphan in self.orphans.remove(&block.id).unwrap_or_default() {
                self.answer(at, orphan);
            }
        }
        at
    }

    fn answer(&mut self, call: u32, result: u32) {
        self.block_call[result as usize] = call;
        self.block_link[result as usize] = std::mem::replace(&mut self.block_link[call as usize], result);
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(known) = self.by_name.get(name.as_bytes()) {
            return *known;
        }
        let at = u32::try_from(self.names.len()).unwrap_or(FAILED - 1);
        self.names.push(name.to_owned());
        self.by_name.insert(name.as_bytes().to_vec(), at);
        at
    }

    /// Adds a newer version of a row: it has the addresses of the first one.
    fn replace(&mut self, row: u32, first: u32, blocks: &[SkimBlock<'_>]) {
        self.bits[row as usize].0 |= Bits::REPEAT;
        self.bits[first as usize].0 |= Bits::REPLACED;
        self.versions.entry(first).or_default().push(row);
        self.first_version.insert(row, first);
        self.seq[row as usize] = self.seq[first as usize];
        self.message[row as usize] = self.message[first as usize];
        for block in blocks {
            let twin = self.blocks_of(first).find(|twin| {
                self.block_id[*twin as usize] == block.id && self.result(*twin).is_some() == block.is_result
            });
            let seq = twin.map_or(0, |twin| self.block_seq[twin as usize]);
            self.add_block(row, block, seq);
        }
    }
}

/// The table between two readings.
impl Table {
    /// Puts all of it behind each other.
    pub fn save(&self, to: &mut Writer) {
        to.keys(&self.uuid);
        to.large(&self.offset);
        to.small(self.bits.iter().map(|bits| bits.0));
        for column in [
            &self.length,
            &self.line,
            &self.parent,
            &self.seq,
            &self.message,
            &self.mate,
            &self.blocks,
            &self.message_last,
            &self.message_seq,
            &self.block_row,
            &self.block_seq,
            &self.block_name,
            &self.block_call,
            &self.block_link,
        ] {
            to.small(column.iter().copied());
        }
        to.keys(&self.message_key);
        to.keys(&self.block_id);
        to.number(self.names.len() as u64);
        self.names.iter().for_each(|name| to.bytes(name.as_bytes()));
        to.small(self.boundaries.iter().map(|boundary| boundary.row));
        for boundary in &self.boundaries {
            to.keys(boundary.logical_parent.as_slice());
            to.keys(&boundary.preserved);
        }
        to.small(self.markers.iter().map(|(row, _)| *row));
        to.small(self.markers.iter().map(|(_, ordinal)| *ordinal));
        let mut newer: Vec<u32> = self.first_version.keys().copied().collect();
        newer.sort_unstable();
        to.small(newer.iter().map(|row| self.first_version[row]));
        to.small(newer.iter().copied());
        let awaited = self
            .awaited
            .iter()
            .flat_map(|(key, rows)| rows.iter().map(|row| (*row, *key)));
        let mut awaited: Vec<(u32, Key)> = awaited.collect();
        awaited.sort_unstable();
        to.small(awaited.iter().map(|(row, _)| *row));
        to.keys(&awaited.iter().map(|(_, key)| *key).collect::<Vec<_>>());
        to.number(u64::from(self.next_seq));
    }

    /// Takes what [`Self::save`] has put.
    pub fn load(from: &mut Reader<'_>) -> Option<Self> {
        let mut table = Self {
            uuid: from.keys()?,
            offset: from.large()?,
            bits: from.small()?.into_iter().map(Bits).collect(),
            length: from.small()?,
            line: from.small()?,
            parent: from.small()?,
            seq: from.small()?,
            message: from.small()?,
            mate: from.small()?,
            blocks: from.small()?,
            message_last: from.small()?,
            message_seq: from.small()?,
            block_row: from.small()?,
            block_seq: from.small()?,
            block_name: from.small()?,
            block_call: from.small()?,
            block_link: from.small()?,
            message_key: from.keys()?,
            block_id: from.keys()?,
            ..Self::default()
        };
        for _ in 0..from.number()? {
            let name = std::str::from_utf8(from.bytes()?).ok()?;
            table.intern(name);
        }
        for row in from.small()? {
            table.boundaries.push(Boundary {
                row,
                logical_parent: from.keys()?.first().copied(),
                preserved: from.keys()?,
            });
        }
        table.markers = from.small()?.into_iter().zip(from.small()?).collect();
        for (first, newer) in from.small()?.into_iter().zip(from.small()?) {
            table.versions.entry(first).or_default().push(newer);
            table.first_version.insert(newer, first);
        }
        for (row, key) in from.small()?.into_iter().zip(from.keys()?) {
            table.awaited.entry(key).or_default().push(row);
        }
        table.next_seq = u32::try_from(from.number()?).ok()?;
        table.find_again();
        Some(table)
    }

    /// Fills what rows, responses and calls are found by.
    fn find_again(&mut self) {
        let Self {
            by_uuid, uuid, bits, ..
        } = self;
        by_uuid.reserve(uuid.len(), |row| uuid[*row as usize].hash());
        for (row, (key, bits)) in (0..).zip(uuid.iter().zip(bits.iter())) {
            if !bits.has(Bits::REPEAT) {
                by_uuid.insert_unique(key.hash(), row, |row| uuid[*row as usize].hash());
            }
        }
        let Self {
            by_message,
            message_key,
            ..
        } = self;
        by_message.reserve(message_key.len(), |message| message_key[*message as usize].hash());
        for (message, key) in (0..).zip(message_key.iter()) {
            by_message.insert_unique(key.hash(), message, |message| message_key[*message as usize].hash());
        }
        let Self {
            by_call,
            block_id,
            block_call,
            block_name,
            orphans,
            ..
        } = self;
        by_call.reserve(block_id.len() / 2, |block| block_id[*block as usize].hash());
        for (block, id) in (0..).zip(block_id.iter()) {
            let is_result = matches!(block_name[block as usize], RESULT | FAILED);
            if is_result && block_call[block as usize] == NONE {
                orphans.entry(*id).or_default().push(block);
            } else if !is_result && block_call[block as usize] == block {
                by_call.insert_unique(id.hash(), block, |block| block_id[*block as usize].hash());
            }
        }
    }
}
