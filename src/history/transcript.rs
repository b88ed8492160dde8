//! The transcript as it stood at one moment: one pass, then rows by address.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem;

use super::error::HistoryError;
use super::index;
use super::key::Key;
use super::reader::{Line, each_part};
use super::row::Row;
use super::scan::Cursor;
use super::skim::{Bits, Skim};
use super::table::Table;
use super::tree::{Branch, TreeError};

/// A file written to less long ago may get rows that others already name.
const RECENT: Duration = Duration::from_secs(5);

/// Where a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head<'a> {
    /// At the row of the call with this `tool_use_id`: the current branch, whoever else writes the file.
    ToolUse(&'a str),
    /// The same; when the client keeps that row back, at the newest of these rows that the file has. They are the end of
    /// the conversation as the client has it in memory, by uuid, oldest first.
    ToolUseOr(&'a str, &'a [String]),
    /// At the row with this uuid.
    Uuid(&'a str),
    /// Behind the newest of these rows that the file has, by uuid, oldest first, with the rows that hang there and are no
    /// messages: the client names messages alone, and what a hook told the model comes behind one.
    Newest(&'a [String]),
    /// At the last row of the main conversation: a guess, right as long as nobody has rewound and no other process goes
    /// on with the same conversation.
    AssumeLast,
}

/// A row of a [`Transcript`]; newer versions of a row are the same row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub(super) u32);

/// A transcript as it stood when it was read.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: File,
    pub(super) table: Table,
    /// Bytes that were read, and the lines they hold; an unfinished line at the end is not among them.
    pub(super) done: Done,
}

/// How far the file was read: whole lines only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Rows of the table.
    pub rows: u32,
}

impl Transcript {
    /// Reads the whole file, in one pass that skips the payloads.
    ///
    /// # Errors
    /// When the file cannot be read, or a complete line is not JSON.
    pub fn read(path: &Path) -> Result<Self, HistoryError> {
        Self::open(path, None)
    }

    /// Reads what is new since the last time, which is known from the index in `state_dir`; the whole file where there is
    /// no index that can be believed.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn open(path: &Path, state_dir: Option<&Path>) -> Result<Self, HistoryError> {
        let failed = |source| HistoryError::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let known = state_dir.and_then(|dir| index::load(dir, path, &file));
        let (table, done) = known.unwrap_or_else(|| (Table::new(), Done::default()));
        let mut transcript = Self {
            path: path.to_owned(),
            file,
            table,
            done,
        };
        transcript.read_on()?;
        if let Some(dir) = state_dir {
            let Self {
                file, table, done: now, ..
            } = &transcript;
            index::save(dir, path, (file, &metadata), table, *now, done.bytes);
        }
        Ok(transcript)
    }

    /// One that begins at a place of the file; nothing is read.
    pub(super) fn from_here(path: &Path, file: File, table: Table, done: Done) -> Self {
        Self {
            path: path.to_owned(),
            file,
            table,
            done,
        }
    }

    /// What tells whether this is the same file, unchanged in its first `read` bytes.
    pub(super) fn source(&self, read: u64) -> io::Result<index::Source> {
        index::Source::of(&self.file, &self.file.metadata()?, read)
    }

    /// Takes in what stands behind the place that was read up to.
    pub(super) fn read_on(&mut self) -> Result<(), HistoryError> {
        let Self { file, table, done, .. } = self;
        let read = file.metadata().map_err(Stop::from).and_then(|metadata| {
            let end = metadata.len().max(done.bytes);
            table.expect_bytes(end - done.bytes);
            each_part(file, done.bytes, end, |part| {
                part.lines().try_for_each(|line| take_line(table, done, line))
            })
        });
        read.map_err(|stop| match stop {
            Stop::Read(source) => self.unreadable(source),
            Stop::Malformed(line) => HistoryError::Malformed { line },
        })
    }

    /// Whether the file was written to a moment ago.
    pub(super) fn is_being_written(&self) -> bool {
        let age = self.file.metadata().and_then(|metadata| metadata.modified());
        age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < RECENT))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All rows with a uuid, in the order of the file; newer versions of a row come as rows of their own.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row, HistoryError>> {
        (0..self.table.len()).map(|row| self.version(row))
    }

    /// The newest version of a row, in full.
    ///
    /// # Errors
    /// When the file cannot be read, or was changed where it must not.
    pub fn row(&self, row: RowId) -> Result<Row, HistoryError> {
        self.version(self.table.newest(row.0))
    }

    /// The newest version of a row, as it stands in the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn raw(&self, row: RowId) -> Result<Vec<u8>, HistoryError> {
        self.bytes(self.table.newest(row.0))
    }

    /// One version of a row, in full.
    pub(super) fn version(&self, row: u32) -> Result<Row, HistoryError> {
        let bytes = self.bytes(row)?;
        let line = u64::from(self.table.line[row as usize]);
        Row::read(&bytes, self.table.offset[row as usize], line).map_err(|_| HistoryError::Malformed { line })
    }

    /// One version of a row, as it stands in the file.
    pub(super) fn bytes(&self, row: u32) -> Result<Vec<u8>, HistoryError> {
        let mut bytes = vec![0; self.table.length[row as usize] as usize];
        self.read_at(&mut bytes, self.table.offset[row as usize])?;
        Ok(bytes)
    }

    /// Fills the buffer from this place of the file.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), HistoryError> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|source| self.unreadable(source))
    }

    fn unreadable(&self, source: io::Error) -> HistoryError {
        HistoryError::Read {
            path: self.path.clone(),
            source,
        }
    }

    /// The row with this uuid.
    pub fn find(&self, uuid: &str) -> Option<RowId> {
        self.table.find(Key::of(uuid.as_bytes())).map(RowId)
    }

    /// The row that holds the call with this `tool_use_id`; the last one where a compaction wrote it again.
    pub fn find_call(&self, tool_use_id: &str) -> Option<RowId> {
        let first = self.table.find_call(Key::of(tool_use_id.as_bytes()))?;
        let row = self.table.first(self.table.block_row[first as usize]);
        Some(RowId(row))
    }

    /// The row that holds the result of this call.
    fn find_result(&self, tool_use_id: &str) -> Option<RowId> {
        let call = self.table.find_call(Key::of(tool_use_id.as_bytes()))?;
        let result = self.table.block_link[call as usize];
        let row = *self.table.block_row.get(result as usize)?;
        Some(RowId(self.table.first(row)))
    }

    /// The row that a branch ends at.
    ///
    /// # Errors
    /// When the file does not have it (yet), or it belongs to a subagent.
    pub fn head(&self, head: Head<'_>) -> Result<RowId, HistoryError> {
        let absent = |what: String| HistoryError::HeadNotOnDisk { what };
        let row = match head {
            Head::ToolUse(id) | Head::ToolUseOr(id, _) => self
                .find_call(id)
                .ok_or_else(|| absent("the row of this call".to_owned()))?,
            Head::Uuid(uuid) => self.find(uuid).ok_or_else(|| absent(format!("row {uuid}")))?,
            Head::Newest(rows) => self
                .newest_of(rows)
                .map(|row| self.behind(row))
                .ok_or_else(|| absent("none of the newest rows".to_owned()))?,
            Head::AssumeLast => (0..self.table.len())
                .rev()
                .find(|row| !self.table.bits[*row as usize].has(Bits::SIDECHAIN))
                .map(|row| RowId(self.table.first(row)))
                .ok_or_else(|| HistoryError::Empty {
                    path: self.path.clone(),
                })?,
        };
        if self.is_subagents(row) {
            return Err(HistoryError::Subagent);
        }
        Ok(row)
    }

    /// The branch that ends at the newest row known that the file has, where the row of the call is not among them. Older
    /// builds name calls in place of rows: there it ends at the result of the newest one that has one.
    pub(super) fn before_the_call(&self, head: Head<'_>) -> Option<(RowId, Branch)> {
        let Head::ToolUseOr(_, rows) = head else {
            return None;
        };
        let results = rows.iter().rev().filter_map(|id| self.find_result(id));
        let row = self
            .newest_of(rows)
            .or_else(|| results.into_iter().find(|row| !self.is_subagents(*row)))?;
        Some((row, self.branch_at(row).ok()?))
    }

    /// The newest of these rows of the main conversation that the file has; they come oldest first.
    fn newest_of(&self, rows: &[String]) -> Option<RowId> {
        let found = rows.iter().rev().filter_map(|uuid| self.find(uuid));
        found.into_iter().find(|row| !self.is_subagents(*row))
    }

    fn is_subagents(&self, row: RowId) -> bool {
        self.table.bits[row.0 as usize].has(Bits::SIDECHAIN)
    }

    /// The last row that only rows which are no messages lead to from this one; the row itself where there is none.
    fn behind(&self, row: RowId) -> RowId {
        let mut chain = HashSet::from([row.0]);
        let mut last = row;
        for at in row.0 + 1..self.table.len() {
            let bits = self.table.bits[at as usize];
            let is_note =
                matches!(bits.kind(), Bits::ATTACHMENT | Bits::SYSTEM) && !bits.has(Bits::BOUNDARY | Bits::SIDECHAIN);
            if is_note && chain.contains(&self.table.parent[at as usize]) {
                last = RowId(self.table.first(at));
                chain.insert(last.0);
            }
        }
        last
    }

    /// The branch that ends at this row.
    pub(super) fn branch_at(&self, head: RowId) -> Result<Branch, HistoryError> {
        Branch::new(&self.table, head.0).map_err(|error| self.explain(error))
    }

    /// The rows of the main conversation up to a head, in the order of the file, with the window of each: its number,
    /// counted by the boundaries and boots on the branch.
    ///
    /// # Errors
    /// When a row's parent is nowhere in the file, or a row on the branch is of an unknown kind.
    pub fn branch(&self, head: RowId) -> Result<Vec<(RowId, u32)>, HistoryError> {
        let branch = self.branch_at(head)?;
        let with_window = |row| {
            let window = branch.window(row)?;
            Some((RowId(row), branch.windows.get(window as usize)?.ordinal))
        };
        Ok(branch.rows().filter_map(with_window).collect())
    }

    /// What stands at a head, for a window's number: see [`Standing`].
    ///
    /// # Errors
    /// As [`Self::branch`].
    pub fn standing(&self, head: RowId, tags: &[&str]) -> Result<Standing, HistoryError> {
        let branch = self.branch_at(head)?;
        let marker = branch.marker(&self.table);
        let newest = branch.newest();
        let is_live = |row: u32| branch.window(self.table.first(row)) == Some(newest);
        let mut tagged = vec![false; tags.len()];
        for row in branch.rows().filter(|row| branch.window(*row) == Some(newest)) {
            if !self.table.bits[row as usize].has(Bits::HOOK | Bits::META | Bits::ECHO) {
                continue;
            }
            let bytes = self.bytes(self.table.newest(row))?;
            for (tagged, tag) in tagged.iter_mut().zip(tags) {
                *tagged |= memmem::find(&bytes, tag.as_bytes()).is_some();
            }
        }
        let boundaries = u32::try_from(branch.boundaries()).unwrap_or(u32::MAX);
        let all = u32::try_from(self.table.boundaries.len()).unwrap_or(u32::MAX);
        let highest_marker = self.table.markers.iter().map(|(_, ordinal)| *ordinal).max();
        Ok(Standing {
            boundaries,
            marker: marker.map(|(_, ordinal)| ordinal),
            marker_is_live: marker.is_some_and(|(row, _)| is_live(row)),
            highest_in_file: all.max(highest_marker.unwrap_or(0)),
            tagged,
        })
    }

    /// The lasting address of a row; none for one that takes none.
    pub fn seq_of(&self, row: RowId) -> Option<u64> {
        Some(u64::from(self.table.seq[row.0 as usize])).filter(|seq| *seq > 0)
    }

    /// The lasting address of a call.
    pub fn seq_of_call(&self, tool_use_id: &str) -> Option<u64> {
        let call = self.table.find_call(Key::of(tool_use_id.as_bytes()))?;
        Some(u64::from(self.table.block_seq[call as usize]))
    }

    pub(super) fn explain(&self, error: TreeError) -> HistoryError {
        let (TreeError::Parent(at)
        | TreeError::LogicalParent(at)
        | TreeError::UnknownRow(at)
        | TreeError::UnknownBlock(at)) = error;
        let version = match error {
            TreeError::UnknownRow(_) | TreeError::UnknownBlock(_) => self.table.newest(at),
            _ => at,
        };
        let row = match self.version(version) {
            Ok(row) => row,
            Err(error) => return error,
        };
        let line = row.line;
        match error {
            TreeError::Parent(_) => HistoryError::MissingAncestor {
                uuid: row.parent_uuid.unwrap_or_default(),
                line,
            },
            TreeError::LogicalParent(_) => HistoryError::MissingAncestor {
                uuid: row.logical_parent_uuid.unwrap_or_default(),
                line,
            },
            TreeError::UnknownRow(_) => HistoryError::UnknownRow {
                kind: row.type_name,
                line,
            },
            TreeError::UnknownBlock(_) => HistoryError::UnknownBlock {
                kind: row
                    .content
                    .iter()
                    .find_map(super::row::Block::unknown)
                    .unwrap_or_default(),
                line,
            },
        }
    }

    /// The number of rows, all versions counted.
    pub fn len(&self) -> usize {
        self.table.uuid.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.table.uuid.is_empty()
    }
}

/// Why reading ends before the end.
enum Stop {
    Read(io::Error),
    Malformed(u64),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Takes the rows of a line into the table.
fn take_line(table: &mut Table, done: &mut Done, line: Line<'_>) -> Result<(), Stop> {
    let number = done.lines + 1;
    let mut cursor = Cursor::new(line.bytes);
    let mut base = 0;
    if number == 1 {
        cursor.skip_mark();
    }
    loop {
        cursor.space();
        if cursor.at_end() {
            break;
        }
        let start = base + cursor.position();
        let mut skim = Skim::default();
        if skim.read(&mut cursor).is_err() {
            if !line.complete {
                break;
            }
            let torn = &line.bytes[start..];
            base = start + behind_a_torn_row(torn).ok_or(Stop::Malformed(number))?;
            cursor = Cursor::new(&line.bytes[base..]);
            continue;
        }
        let length = u32::try_from(base + cursor.position() - start).unwrap_or(u32::MAX);
        let at = u32::try_from(number).unwrap_or(u32::MAX);
        table.add(&skim, line.offset + start as u64, length, at);
    }
    if line.complete {
        *done = Done {
            bytes: line.offset + line.bytes.len() as u64 + 1,
            lines: number,
            rows: table.len(),
        };
    }
    Ok(())
}

/// How many places of a line are tried, so that damage cannot make reading slow.
const TRIES: usize = 256;

/// Where the whole rows begin that a client wrote behind one whose writing was broken off, when it took the session up
/// again: they end where the line does, and each names its session. None where the line is damaged in another way.
fn behind_a_torn_row(line: &[u8]) -> Option<usize> {
    let is_whole = |at: &usize| {
        let mut cursor = Cursor::new(&line[*at..]);
        while !cursor.at_end() {
            let mut skim = Skim::default();
            if skim.read(&mut cursor).is_err() || !skim.has_session {
                return false;
            }
            cursor.space();
        }
        true
    };
    let places = memmem::find_iter(line, b"{\"").filter(|at| *at > 0);
    places.take(TRIES).find(is_whole)
}

/// What the branch says of the window at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Compaction boundaries on the branch.
    pub boundaries: u32,
    /// The ordinal that the newest boot on the branch names.
    pub marker: Option<u32>,
    /// Whether that boot stands behind the last boundary, so that the model still sees it.
    pub marker_is_live: bool,
    /// The largest ordinal that the whole file speaks of (boundaries or boots, on any branch).
    pub highest_in_file: u32,
    /// For each tag asked for, whether a row of ours in the newest window carries it.
    pub tagged: Vec<bool>,
}

impl Standing {
    /// The ordinal of the window that stands: the larger of the newest boot's and the number of boundaries.
    pub fn ordinal(&self) -> u32 {
        self.marker.unwrap_or(0).max(self.boundaries)
    }
}
