//! The branch that ends at a head: which rows belong to the conversation, and to which of its windows.

use super::skim::Bits;
use super::table::{MISSING, NONE, Table};

/// Why there is no such branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeError {
    /// This version of a row follows one that the file does not have.
    Parent(u32),
    /// This boundary follows a row that the file does not have.
    LogicalParent(u32),
    /// This row on the branch is of an unknown kind.
    UnknownRow(u32),
    /// This row on the branch has a block of an unknown kind.
    UnknownBlock(u32),
}

/// A window of the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The boundary that it begins with; none for the first.
    pub boundary: Option<u32>,
    /// Its number.
    pub ordinal: u32,
}

/// The rows of a conversation, as first versions, by window.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// For each row of the table its window; [`NONE`] off the branch.
    window: Vec<u32>,
    /// Oldest first.
    pub windows: Vec<Span>,
}

impl Branch {
    /// The branch that ends at this row.
    pub fn new(table: &Table, head: u32) -> Result<Self, TreeError> {
        let mut walk = Walk {
            table,
            depth: vec![NONE; table.len() as usize],
            rows: Vec::new(),
            boundaries: Vec::new(),
        };
        walk.run(head)?;
        walk.responses();
        let mut branch = Self {
            windows: walk.spans(),
            window: walk.depth,
        };
        let newest = branch.newest();
        for window in branch.window.iter_mut().filter(|depth| **depth != NONE) {
            *window = newest - *window;
        }
        branch.check(table)?;
        Ok(branch)
    }

    /// The window of a row; none off the branch.
    pub fn window(&self, row: u32) -> Option<u32> {
        self.window.get(row as usize).copied().filter(|window| *window != NONE)
    }

    /// The newest window.
    pub fn newest(&self) -> u32 {
        u32::try_from(self.windows.len().saturating_sub(1)).unwrap_or(0)
    }

    /// Its rows in the order of the file.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = u32> {
        let len = u32::try_from(self.window.len()).unwrap_or(NONE);
        (0..len).filter(|row| self.window[*row as usize] != NONE)
    }

    /// How many boundaries are on it.
    pub fn boundaries(&self) -> usize {
        self.windows.iter().filter(|span| span.boundary.is_some()).count()
    }

    /// The newest row with a boot of ours, and the ordinal it names.
    pub fn marker(&self, table: &Table) -> Option<(u32, u32)> {
        let on_branch = |(row, _): &&(u32, u32)| self.window(table.first(*row)).is_some();
        table.markers.iter().rev().find(on_branch).copied()
    }

    fn check(&self, table: &Table) -> Result<(), TreeError> {
        for row in self.rows() {
            let bits = table.bits[table.newest(row) as usize];
            if bits.kind() == Bits::UNKNOWN {
                return Err(TreeError::UnknownRow(row));
            }
            if bits.has(Bits::UNKNOWN_BLOCK) {
                return Err(TreeError::UnknownBlock(row));
            }
        }
        Ok(())
    }
}

/// Follows the rows back, a window at a time. Depth 0 is the newest window.
struct Walk<'a> {
    table: &'a Table,
    depth: Vec<u32>,
    /// The rows of the window at hand, and the version of each that was followed.
    rows: Vec<(u32, u32)>,
    /// The boundary that each window begins with; none for one that has no beginning of that kind.
    boundaries: Vec<Option<u32>>,
}

impl Walk<'_> {
    fn run(&mut self, head: u32) -> Result<(), TreeError> {
        let mut starts = vec![head];
        let mut limit = NONE;
        loop {
            let depth = u32::try_from(self.boundaries.len()).unwrap_or(NONE - 1);
            self.rows.clear();
            let mut boundary = None;
            for start in starts {
                self.follow(start, limit, depth, &mut boundary)?;
            }
            if self.rows.is_empty() && boundary.is_none() {
                return Ok(());
            }
            self.boundaries.push(boundary);
            let Some(boundary) = boundary else {
                return Ok(());
            };
            starts = self.before(boundary)?;
            starts.extend(self.give_back(boundary));
            limit = boundary;
        }
    }

    /// Follows one chain up to a boundary, a known row or the end.
    fn follow(&mut self, start: u32, limit: u32, depth: u32, boundary: &mut Option<u32>) -> Result<(), TreeError> {
        let mut row = start;
        while self.depth[row as usize] == NONE {
            let version = self.table.version_before(row, limit);
            if self.table.bits[version as usize].has(Bits::BOUNDARY) {
                // One window has one beginning: what a kept row hangs off besides is not this conversation.
                if boundary.is_none() {
                    *boundary = Some(version);
                    self.depth[row as usize] = depth;
                }
                return Ok(());
            }
            self.depth[row as usize] = depth;
            self.rows.push((row, version));
            row = match self.table.parent[version as usize] {
                NONE => return Ok(()),
                MISSING => return Err(TreeError::Parent(version)),
                parent => parent,
            };
        }
        Ok(())
    }

    /// Where the conversation before a boundary ends: its logical parent, and the rows it kept.
    fn before(&self, boundary: u32) -> Result<Vec<u32>, TreeError> {
        let Some(recorded) = self.table.boundary(boundary) else {
            return Ok(Vec::new());
        };
        let mut ends = Vec::new();
        if let Some(parent) = recorded.logical_parent {
            ends.push(self.table.find(parent).ok_or(TreeError::LogicalParent(boundary))?);
        }
        // A kept row that never reached the file is no loss: what it hung off is followed all the same.
        ends.extend(recorded.preserved.iter().filter_map(|kept| self.table.find(*kept)));
        Ok(ends)
    }

    /// Rows that were written again behind the boundary belong to the window they come from.
    fn give_back(&mut self, boundary: u32) -> Vec<u32> {
        let mut kept = Vec::new();
        for (row, version) in &self.rows {
            let older = self.table.version_before(*row, boundary);
            if older < boundary && older != *version {
                self.depth[*row as usize] = NONE;
                kept.push(*row);
            }
        }
        kept
    }

    /// Takes in the other parts of each response on the branch, and the results that hang off them.
    fn responses(&mut self) {
        let table = self.table;
        let mut parts = Vec::new();
        for row in 0..table.len() {
            let depth = self.depth[row as usize];
            let message = table.message[row as usize];
            if depth == NONE || message == NONE {
                continue;
            }
            // Once for each response: at the newest of its rows that the walk has found.
            let mut part = table.message_last[message as usize];
            parts.clear();
            while part != NONE {
                if !table.bits[part as usize].has(Bits::SIDECHAIN) {
                    parts.push(part);
                }
                part = table.mate[part as usize];
            }
            for part in &parts {
                if self.depth[*part as usize] == NONE {
                    self.depth[*part as usize] = depth;
                }
                self.results(*part, depth);
            }
        }
    }

    fn results(&mut self, part: u32, depth: u32) {
        let table = self.table;
        for block in table.blocks_of(table.newest(part)) {
            let call = table.block_call[block as usize];
            if table.result(block).is_some() || call == NONE {
                continue;
            }
            let mut result = table.block_link[call as usize];
            while result != NONE {
                let row = table.first(table.block_row[result as usize]);
                let hangs_off = table.parent[table.newest(row) as usize];
                let bits = table.bits[row as usize];
                if self.depth[row as usize] == NONE
                    && !bits.has(Bits::SIDECHAIN)
                    && hangs_off < MISSING
                    && table.message[hangs_off as usize] == table.message[part as usize]
                {
                    self.depth[row as usize] = depth;
                }
                result = table.block_link[result as usize];
            }
        }
    }

    /// The windows, oldest first, with their numbers: the count of boundaries so far, raised by what a boot says.
    fn spans(&self) -> Vec<Span> {
        let mut named = vec![0; self.boundaries.len()];
        for (row, ordinal) in &self.table.markers {
            let depth = self.depth[self.table.first(*row) as usize];
            if let Some(named) = named.get_mut(depth as usize) {
                *named = (*named).max(*ordinal);
            }
        }
        let mut next = 0;
        let mut spans = Vec::with_capacity(self.boundaries.len());
        for (boundary, named) in self.boundaries.iter().zip(&named).rev() {
            if boundary.is_some() {
                next += 1;
            }
            next = next.max(*named);
            spans.push(Span {
                boundary: *boundary,
                ordinal: next,
            });
        }
        spans
    }
}
