//! Rows that a hook's answer to a compaction wrote again: which ones they are, and which rows they stand for.
//!
//! The client writes what a hook hands back behind the boundary, as new rows with new uuids; only ids of calls stay.
//! History shows the first of them, whole. Calls find each other by their ids; for words, the record that was written
//! at the time of the cut says which rows were handed back, and without it equal words in the same order do.

use std::collections::{HashMap, HashSet};

use super::error::HistoryError;
use super::key::Key;
use super::record::{Cut, HandedBack};
use super::row::{Block, Row};
use super::skim::Bits;
use super::table::NONE;
use super::transcript::Transcript;
use super::tree::Branch;

/// What the boundary of a window was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The session's start.
    Start,
    /// A compaction of the client's own.
    Summary,
    /// A cut: the conversation was handed back.
    Prune,
    /// A fresh window.
    Fresh,
}

/// The rows on a branch that repeat others.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The row that a copy's words stand for.
    original: HashMap<u32, u32>,
    /// Rows with words that are nobody's but ours.
    ours: HashSet<u32>,
    /// What made each window of the branch.
    pub origins: Vec<Origin>,
}

impl Copies {
    /// Whether the words of this row stand in an earlier one.
    pub fn is_copy(&self, row: u32) -> bool {
        self.original.contains_key(&row)
    }

    /// Whether this row holds words that a hook of ours made.
    pub fn is_ours(&self, row: u32) -> bool {
        self.ours.contains(&row)
    }

    /// The row that has the words of this one first.
    pub fn original(&self, row: u32) -> Option<u32> {
        let mut found = *self.original.get(&row)?;
        // A second cut copies copies. An original stands before its copy, so this ends.
        while let Some(earlier) = self.original.get(&found) {
            found = *earlier;
        }
        Some(found)
    }

    /// Finds the copies on a branch; `cuts` are the records of this transcript.
    pub fn find(transcript: &Transcript, branch: &Branch, cuts: &[Cut]) -> Result<Self, HistoryError> {
        let mut copies = Self::default();
        let runs = runs(transcript, branch);
        for (window, span) in (0..).zip(&branch.windows) {
            let Some(boundary) = span.boundary else {
                copies.origins.push(Origin::Start);
                continue;
            };
            let run = runs.get(&window).map(Vec::as_slice).unwrap_or_default();
            let origin = copies.of_run(transcript, branch, boundary, window, run, cuts)?;
            copies.origins.push(origin);
        }
        Ok(copies)
    }

    fn of_run(
        &mut self,
        transcript: &Transcript,
        branch: &Branch,
        boundary: u32,
        window: u32,
        run: &[u32],
        cuts: &[Cut],
    ) -> Result<Origin, HistoryError> {
        let Some(first) = run.first() else {
            return Ok(Origin::Summary);
        };
        if let Some(cut) = cuts.iter().find(|cut| fits(transcript, run, &cut.messages)) {
            self.by_record(transcript, branch, run, &cut.messages);
        } else {
            self.by_words(transcript, branch, boundary, window, run)?;
        }
        let table = &transcript.table;
        let repeats_call = |row: &u32| {
            table.blocks_of(*row).any(|block| {
                let call = table.block_call[block as usize];
                call != NONE && table.block_row[call as usize] < *row && table.result(block).is_none()
            })
        };
        if self.is_copy(*first) || run.iter().any(repeats_call) {
            return Ok(Origin::Prune);
        }
        // The client's own compaction begins with its summary, which no run holds.
        Ok(Origin::Fresh)
    }

    fn by_record(&mut self, transcript: &Transcript, branch: &Branch, run: &[u32], messages: &[HandedBack]) {
        let table = &transcript.table;
        for (row, message) in run.iter().zip(messages) {
            if !table.bits[*row as usize].has(Bits::VISIBLE) {
                continue;
            }
            let of = message.rows.iter().find_map(|uuid| {
                let of = table.find(Key::of(uuid.as_bytes()))?;
                (branch.window(of) < branch.window(*row)
                    && branch.window(of).is_some()
                    && table.bits[of as usize].has(Bits::VISIBLE))
                .then_some(of)
            });
            match of {
                Some(of) => {
                    self.original.insert(*row, of);
                }
                None if message.rows.is_empty() => {
                    self.ours.insert(*row);
                }
                None => {}
            }
        }
    }

    /// From the last row to the first, each to the nearest row before the boundary with the same words.
    fn by_words(
        &mut self,
        transcript: &Transcript,
        branch: &Branch,
        boundary: u32,
        window: u32,
        run: &[u32],
    ) -> Result<(), HistoryError> {
        let table = &transcript.table;
        let said = |row: &u32| table.bits[table.newest(*row) as usize].has(Bits::VISIBLE);
        if !run.iter().any(said) {
            return Ok(());
        }
        let mut before = context_before(transcript, branch, boundary, window);
        before.retain(said);
        let mut words = HashMap::<Words, Vec<usize>>::new();
        for (place, row) in before.iter().enumerate() {
            for said in Words::all(&transcript.version(table.newest(*row))?) {
                words.entry(said).or_default().push(place);
            }
        }
        let mut end = before.len();
        for row in run.iter().rev().filter(|row| said(row)) {
            let Some(said) = Words::all(&transcript.version(*row)?).into_iter().next() else {
                continue;
            };
            let places = words.get(&said).map(Vec::as_slice).unwrap_or_default();
            let at = places.partition_point(|place| *place < end);
            if let Some(place) = at.checked_sub(1).and_then(|at| places.get(at)) {
                self.original.insert(*row, before[*place]);
                end = *place;
            }
        }
        // A fresh window begins with our words, behind which those of the person are handed back. Older clients do not say
        // that they are ours; what a person types is marked by all.
        if let Some(first) = run
            .first()
            .filter(|row| window > 0 && said(row) && !self.is_copy(**row))
        {
            let bits = table.bits[table.newest(*first) as usize];
            if bits.kind() == Bits::USER && !bits.has(Bits::RESULT) {
                self.ours.insert(*first);
            }
        }
        Ok(())
    }
}

/// For each window the user and assistant rows that come right behind its boundary, as a hook's answer does: up to the
/// first row of another kind, one that the client added itself, or one that a person typed.
pub(super) fn runs(transcript: &Transcript, branch: &Branch) -> HashMap<u32, Vec<u32>> {
    let table = &transcript.table;
    let mut runs: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut ends = vec![NONE; branch.windows.len()];
    for (end, span) in ends.iter_mut().zip(&branch.windows) {
        *end = span.boundary.map_or(NONE, |boundary| table.first(boundary));
    }
    for row in branch.rows() {
        let Some(window) = branch.window(row) else {
            continue;
        };
        let version = table.newest(row);
        let Some(end) = ends.get_mut(window as usize) else {
            continue;
        };
        if *end == NONE || table.parent[version as usize] != *end {
            continue;
        }
        let bits = table.bits[version as usize];
        let message = matches!(bits.kind(), Bits::USER | Bits::ASSISTANT);
        if !message || bits.has(Bits::META | Bits::SUMMARY | Bits::HUMAN | Bits::TYPED | Bits::NOT_HUMAN) {
            *end = NONE;
            continue;
        }
        *end = row;
        runs.entry(window).or_default().push(row);
    }
    runs
}

/// The rows that the model saw when the boundary came: those of the window before it, and what that one had kept.
fn context_before(transcript: &Transcript, branch: &Branch, boundary: u32, window: u32) -> Vec<u32> {
    let table = &transcript.table;
    let Some(before) = window.checked_sub(1) else {
        return Vec::new();
    };
    let kept_by = branch.windows.get(before as usize).and_then(|span| span.boundary);
    let kept: HashSet<u32> = [kept_by, Some(boundary)]
        .into_iter()
        .flatten()
        .filter_map(|boundary| table.boundary(boundary))
        .flat_map(|boundary| &boundary.preserved)
        .filter_map(|key| table.find(*key))
        .collect();
    let mut rows: Vec<u32> = branch
        .rows()
        .filter(|row| branch.window(*row) == Some(before) || kept.contains(row))
        .collect();
    rows.sort_by_key(|row| (branch.window(*row), *row));
    rows
}

/// Whether the rows behind a boundary are what this record handed back.
fn fits(transcript: &Transcript, run: &[u32], messages: &[HandedBack]) -> bool {
    let table = &transcript.table;
    if messages.is_empty() || run.len() < messages.len() {
        return false;
    }
    run.iter().zip(messages).all(|(row, message)| {
        let ids = table.blocks_of(*row).map(|block| table.block_id[block as usize]);
        let recorded = message.tool_use_ids.iter().map(|id| Key::of(id.as_bytes()));
        let known = |uuid: &String| table.find(Key::of(uuid.as_bytes())).is_some_and(|of| of < *row);
        ids.eq(recorded) && message.rows.iter().all(known)
    })
}

/// What a row says, to be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Words {
    by_model: bool,
    text: [u8; 32],
}

impl Words {
    /// What the row says, and in which other forms it may have been handed back.
    fn all(row: &Row) -> Vec<Self> {
        let by_model = row.kind == super::row::Kind::Assistant;
        let of = |text: &str| Self {
            by_model,
            text: *blake3::hash(text.as_bytes()).as_bytes(),
        };
        let Some(attachment) = &row.attachment else {
            let texts: Vec<&str> = row
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            return vec![of(&texts.join("\n"))];
        };
        let mut all: Vec<Self> = attachment.prompt.iter().map(|text| of(text)).collect();
        all.extend(attachment.rendered.iter().map(|text| of(text)));
        all.push(of(&attachment.rendered.join("\n")));
        all
    }
}
