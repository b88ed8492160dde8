//! Reads the rows of the current window from a transcript, from its end up to the last compaction.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::backward::BackwardLines;
use super::estimate::slope;
use super::line::{self, Line};
use super::rows::{Row, UsagePoint, usage_points};

/// Where the conversation ends.
#[derive(Debug, Clone, Copy)]
pub enum Head<'a> {
    /// At the row with this uuid, the newest entry's. Rows that hang behind it and that the event leaves out are read
    /// too.
    Row(&'a str),
    /// At the last row of the main conversation that the file has.
    Last,
}

/// Why the rows cannot be had; nothing is cut then.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The newest message's row is not in the file, also after waiting.
    #[error("the newest message is not in the transcript {path} yet; try again in a moment")]
    HeadNotOnDisk {
        /// The transcript.
        path: PathBuf,
    },
    /// A row that another one names as its parent is nowhere in the file.
    #[error("the transcript {path} names row {uuid}, which it does not have")]
    MissingAncestor {
        /// The transcript.
        path: PathBuf,
        /// The row.
        uuid: String,
    },
    /// The file holds no row of a conversation.
    #[error("the transcript {path} holds no conversation")]
    Empty {
        /// The transcript.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the transcript {path}: {source}")]
    Read {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// How to read.
#[derive(Debug, Clone, Copy)]
pub struct ReadRows<'a> {
    /// The transcript.
    pub path: &'a Path,
    /// Where the conversation ends.
    pub head: Head<'a>,
    /// Rows that belong to the conversation whether or not the branch passes them: the handles of the event.
    pub handles: &'a [&'a str],
    /// Whether rows are turned into entries, for a plan without an event.
    pub entries: bool,
    /// How long to wait for the head, and for what hangs behind it, to be written. The client writes a row 40 to
    /// 200 ms late.
    pub wait: Duration,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The rows of the current window, oldest first.
    pub window: Vec<Row>,
    /// What requests before it cost; only where those of the window are too few to go by.
    pub older: Vec<UsagePoint>,
}

/// How long after the last byte the client has nothing left to write that it took up before.
const QUIET: Duration = Duration::from_millis(250);

/// How far behind the window requests are looked for, in bytes of the transcript.
const OLDER_BYTES: usize = 8 * 1024 * 1024;

impl ReadRows<'_> {
    /// The rows of the current window.
    ///
    /// # Errors
    /// When the file cannot be read, the head is not in it, or the branch breaks off.
    pub fn read(&self) -> Result<Rows, RowsError> {
        let until = Instant::now() + self.wait;
        if let Head::Row(uuid) = self.head {
            // Looking at the end of the file is cheap; the whole of it is searched only once, at the end.
            while Instant::now() < until && !(self.near_the_end(uuid)? && self.is_quiet()?) {
                sleep(Duration::from_millis(20));
            }
        }
        Walk::new(self)?.run()
    }

    /// Whether nothing was written lately. A prompt typed while the model worked hangs behind the head, and its row
    /// comes when the head's is there already.
    fn is_quiet(&self) -> Result<bool, RowsError> {
        let written = std::fs::metadata(self.path).and_then(|metadata| metadata.modified());
        let written = written.map_err(|source| self.unreadable(source))?;
        // A time that lies ahead says nothing.
        Ok(written.elapsed().map_or(true, |age| age >= QUIET))
    }

    fn near_the_end(&self, uuid: &str) -> Result<bool, RowsError> {
        const NEAR: usize = 4 * 1024 * 1024;
        let needle = format!("\"uuid\":\"{uuid}\"");
        let finder = memchr::memmem::Finder::new(needle.as_bytes());
        let mut lines = BackwardLines::open(self.path).map_err(|source| self.unreadable(source))?;
        let mut seen = 0;
        while let Some((_, line)) = lines.next_line().map_err(|source| self.unreadable(source))? {
            // A line in flight has the uuid and not yet its end.
            if finder.find(&line).is_some() && line.trim_ascii_end().ends_with(b"}") {
                return Ok(true);
            }
            seen += line.len();
            if seen > NEAR {
                break;
            }
        }
        Ok(false)
    }

    fn unreadable(&self, source: io::Error) -> RowsError {
        RowsError::Read {
            path: self.path.to_owned(),
            source,
        }
    }
}

/// A row that was passed and may turn out to belong to the conversation.
struct Passed {
    place: (u64, usize),
    parent: Option<String>,
    message_id: Option<String>,
    kind: line::Kind,
    carried: bool,
}

struct Walk<'a> {
    options: &'a ReadRows<'a>,
    lines: BackwardLines,
    /// Handles that are not found yet.
    handles: HashSet<&'a str>,
    /// The uuid that the branch comes to next.
    next: Option<String>,
    begun: bool,
    /// Rows behind the head, newest first.
    behind: Vec<String>,
    passed: HashMap<String, Passed>,
    /// Rows of the conversation: where each is, and its parent.
    own: Vec<(u64, Row)>,
    parents: HashMap<String, Option<String>>,
    /// Rows that the branch went through, so that a cycle ends.
    branch: HashSet<String>,
    responses: HashSet<String>,
}

impl<'a> Walk<'a> {
    fn new(options: &'a ReadRows<'a>) -> Result<Self, RowsError> {
        Ok(Self {
            options,
            lines: BackwardLines::open(options.path).map_err(|source| options.unreadable(source))?,
            handles: options.handles.iter().copied().collect(),
            next: match options.head {
                Head::Row(uuid) => Some(uuid.to_owned()),
                Head::Last => None,
            },
            begun: false,
            behind: Vec::new(),
            passed: HashMap::new(),
            own: Vec::new(),
            parents: HashMap::new(),
            branch: HashSet::new(),
            responses: HashSet::new(),
        })
    }

    fn run(mut self) -> Result<Rows, RowsError> {
        while !self.complete() {
            let line = self
                .lines
                .next_line()
                .map_err(|source| self.options.unreadable(source))?;
            let Some((start, bytes)) = line else { break };
            if memchr::memmem::find(&bytes, b"\"uuid\"").is_none() {
                continue;
            }
            // Two objects on one line are two rows; the last one comes first here.
            for (place, line) in line::split(&bytes).into_iter().rev() {
                self.row(start + place.start as u64, place.len(), &line)?;
            }
        }
        self.check()?;
        self.behind_the_head()?;
        self.siblings()?;
        self.own.sort_by_key(|(start, _)| *start);
        let window: Vec<Row> = std::mem::take(&mut self.own).into_iter().map(|(_, row)| row).collect();
        let older = if slope(&usage_points(&window)).is_none() {
            self.older()?
        } else {
            Vec::new()
        };
        Ok(Rows { window, older })
    }

    /// Requests of the windows before, in the order of the file: right after a compaction there are none of this one.
    fn older(&mut self) -> Result<Vec<UsagePoint>, RowsError> {
        let mut rows = Vec::new();
        let mut seen = 0;
        while seen < OLDER_BYTES {
            let line = self
                .lines
                .next_line()
                .map_err(|source| self.options.unreadable(source))?;
            let Some((_, bytes)) = line else { break };
            seen += bytes.len();
            if memchr::memmem::find(&bytes, b"\"uuid\"").is_none() {
                continue;
            }
            for (_, line) in line::split(&bytes).into_iter().rev() {
                if !line.is_sidechain() {
                    rows.push(line.to_row("", false));
                }
            }
        }
        rows.reverse();
        Ok(usage_points(&rows))
    }

    /// The branch has come to its root, and every handle is found.
    fn complete(&self) -> bool {
        self.begun && self.next.is_none() && self.handles.is_empty()
    }

    fn row(&mut self, start: u64, length: usize, line: &Line<'_>) -> Result<(), RowsError> {
        let Some(uuid) = line.uuid() else { return Ok(()) };
        let uuid = uuid.as_str();
        // Read backwards, the newest version of a repeated uuid comes first.
        if line.is_sidechain() || self.parents.contains_key(uuid) || self.passed.contains_key(uuid) {
            return Ok(());
        }
        let is_next = match &self.next {
            Some(next) => next == uuid,
            None => !self.begun && matches!(self.options.head, Head::Last),
        };
        if is_next {
            self.begun = true;
            self.take(start, uuid, line);
            self.next = Some(uuid.to_owned());
            return self.follow();
        }
        if self.handles.contains(uuid) {
            self.take(start, uuid, line);
            return Ok(());
        }
        if !self.begun {
            self.behind.push(uuid.to_owned());
        }
        let passed = Passed {
            place: (start, length),
            parent: line.parent(),
            message_id: line.message_id(),
            kind: line.kind(),
            carried: line.is_carried(),
        };
        self.passed.insert(uuid.to_owned(), passed);
        Ok(())
    }

    fn take(&mut self, start: u64, uuid: &str, line: &Line<'_>) {
        self.handles.remove(uuid);
        self.parents.insert(uuid.to_owned(), line.parent());
        let row = line.to_row(uuid, self.options.entries);
        if let Some(id) = &row.message_id {
            self.responses.insert(id.clone());
        }
        self.own.push((start, row));
    }

    /// Goes up the branch as far as its rows were read already: a parent may stand behind its child in the file.
    fn follow(&mut self) -> Result<(), RowsError> {
        while let Some(next) = self.next.take() {
            if self.branch.contains(&next) {
                return Ok(());
            }
            if let Some(passed) = self.passed.remove(&next) {
                self.adopt(&next, &passed)?;
            }
            let Some(parent) = self.parents.get(&next) else {
                self.next = Some(next);
                return Ok(());
            };
            self.next.clone_from(parent);
            self.branch.insert(next);
        }
        Ok(())
    }

    fn adopt(&mut self, uuid: &str, passed: &Passed) -> Result<(), RowsError> {
        let (start, length) = passed.place;
        let bytes = self
            .lines
            .line_at(start, length)
            .map_err(|source| self.options.unreadable(source))?;
        if let Some((_, line)) = line::split(&bytes).first() {
            self.take(start, uuid, line);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), RowsError> {
        let path = self.options.path.to_owned();
        match (&self.next, self.begun) {
            (_, false) if matches!(self.options.head, Head::Row(_)) => Err(RowsError::HeadNotOnDisk { path }),
            (_, false) => Err(RowsError::Empty { path }),
            (Some(uuid), true) => Err(RowsError::MissingAncestor {
                path,
                uuid: uuid.clone(),
            }),
            (None, true) => Ok(()),
        }
    }

    /// Rows that hang behind the head in one line and that no event carries: a prompt typed at the last moment.
    fn behind_the_head(&mut self) -> Result<(), RowsError> {
        let Head::Row(head) = self.options.head else {
            return Ok(());
        };
        let mut tail = head.to_owned();
        for uuid in std::mem::take(&mut self.behind).into_iter().rev() {
            let hangs = |passed: &Passed| passed.parent.as_deref() == Some(tail.as_str());
            let Some(passed) = self.passed.remove(&uuid).filter(hangs) else {
                continue;
            };
            if passed.carried {
                break;
            }
            self.adopt(&uuid, &passed)?;
            tail = uuid;
        }
        Ok(())
    }

    /// The other blocks of a response, and the results that hang off them.
    fn siblings(&mut self) -> Result<(), RowsError> {
        let mut passed: Vec<_> = std::mem::take(&mut self.passed).into_iter().collect();
        passed.sort_by_key(|(_, passed)| passed.place);
        for (uuid, row) in passed {
            let of_response = row.message_id.as_ref().is_some_and(|id| self.responses.contains(id));
            let answers = row.kind == line::Kind::Result
                && row
                    .parent
                    .as_ref()
                    .is_some_and(|parent| self.parents.contains_key(parent));
            if of_response || answers {
                self.adopt(&uuid, &row)?;
            }
        }
        Ok(())
    }
}
