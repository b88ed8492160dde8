//! Where the end of a transcript begins: a place that no row names another across, but for one that is followed.

use super::copies;
use super::event::{Events, Role};
use super::key::Key;
use super::skim::Bits;
use super::table::{MISSING, NONE, Table};
use super::transcript::{RowId, Transcript};

/// So many messages at least stand behind the place: a page and a little more.
const MESSAGES: usize = 32;
/// A place further from the end than this is none.
const FAR: u64 = 4 << 20;

/// A place that the end begins at.
pub(super) struct Place {
    /// The first row of the end.
    pub row: u32,
    /// The row that the end follows.
    pub entry: u32,
    /// The number of the window that `entry` is in.
    pub ordinal: u32,
}

/// The last place behind which there are enough messages and all stands alone.
pub(super) fn place(transcript: &Transcript, events: &Events) -> Option<Place> {
    let table = &transcript.table;
    let spoken = |role| matches!(role, Role::User | Role::Assistant);
    let mut messages = events.all().iter().rev().filter(|event| spoken(event.role));
    let latest = table.row_of_seq(messages.nth(MESSAGES)?.seq)?;
    let furthest = transcript.done.bytes.saturating_sub(FAR);
    let mut highest = None;
    // The lowest row that one behind the place names, but for those that rows follow.
    let mut lowest = table.len();
    for row in (1..table.len()).rev() {
        let at = row as usize;
        lowest = lowest.min(table.lowest_named(row)?);
        let begins_line = table.line[at] > table.line[at - 1];
        if table.offset[at] < furthest {
            return None;
        }
        if row > latest || lowest < row || !begins_line {
            continue;
        }
        let mut before = table.parent[at..].iter().copied().filter(|parent| *parent < row);
        let Some(entry) = before.next() else {
            continue;
        };
        let highest: &Vec<u32> = highest.get_or_insert_with(|| table.highest_named());
        if before.all(|other| other == entry) && highest[at - 1] < row {
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
    pub(super) fn from_seq(next_seq: u32) -> Self {
        let mut table = Self::new();
        table.next_seq = next_seq;
        table
    }

    /// Whether its rows name no others but `entry`, which becomes the end of their chain.
    pub(super) fn stands_alone(&mut self, entry: Key) -> bool {
        let is_plain = self.boundaries.is_empty() && self.markers.is_empty() && !self.parent.contains(&NONE);
        is_plain && self.close(entry)
    }

    /// Ids of rows, responses, calls and results that stand at this place of the file or behind it.
    pub(super) fn ids_from(&self, offset: u64) -> impl Iterator<Item = Key> {
        let from = self.offset.partition_point(|own| *own < offset);
        let rows = u32::try_from(from).unwrap_or(NONE)..self.len();
        rows.flat_map(|row| self.ids_of(row))
    }

    /// Ids that stand before a row, those among them that are named and not there.
    pub(super) fn ids_before(&self, row: u32) -> impl Iterator<Item = Key> {
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
    pub(super) fn next_seq_at(&self, row: u32) -> u32 {
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
