//! The conversation up to a head: events and windows by their addresses.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::copies::{Copies, Origin};
use super::end;
use super::error::HistoryError;
use super::event::{Event, Events, Role, ToolStatus};
use super::key::Key;
use super::record;
use super::skim::Bits;
use super::transcript::{Head, RowId, Transcript};
use super::tree::Branch;

/// How long a tool waits for the row of its own call: the client writes it 40 to 200 ms late.
pub const WAIT: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(20);
/// How long it is waited for when rows before it are known. Some calls' rows come only when the call is answered.
const SHORT_WAIT: Duration = Duration::from_millis(500);

/// A session's id longer than this is none.
const MAX_SESSION_ID: usize = 128;

/// A conversation up to a head.
#[derive(Debug)]
pub struct Conversation {
    pub(super) transcript: Transcript,
    pub(super) branch: Branch,
    pub(super) copies: Copies,
    pub(super) events: Events,
    session_id: String,
    head: RowId,
}

/// An event with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Its lasting address.
    pub seq: u64,
    /// The window it happened in.
    pub window_id: String,
    /// Who speaks.
    pub role: Role,
    /// When it was written.
    pub created_at: Option<String>,
    /// The tool of a call, where it is known.
    pub tool: Option<String>,
    /// The call's id.
    pub tool_use_id: Option<String>,
    /// How a call ended.
    pub tool_status: Option<ToolStatus>,
    /// All of its words; of a call its arguments, a rule, and the result.
    pub text: String,
}

/// Why an address shows no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoEvent {
    /// No row has it.
    Unknown,
    /// Its row is not on this branch.
    NotOnBranch,
    /// It has nothing to show.
    Nothing,
    /// It is the result of the call with this address.
    ResultOf(u32),
}

impl Conversation {
    /// Reads the transcript and follows the branch that ends at `head`, for which it waits up to `wait`.
    ///
    /// `state_dir` is the folder of side files; without one nothing is remembered between two readings, and copies are
    /// told by their content alone.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn open(path: &Path, head: Head<'_>, state_dir: Option<&Path>, wait: Duration) -> Result<Self, HistoryError> {
        let begun = Instant::now();
        let until = begun + wait;
        let mut transcript = Transcript::open(path, state_dir)?;
        let first_bytes = transcript.done.bytes;
        let (head, branch) = loop {
            let found = transcript
                .head(head)
                .and_then(|head| Ok((head, transcript.branch_at(head)?)));
            let late = match &found {
                Err(HistoryError::HeadNotOnDisk { .. }) => true,
                // Rows may come in another order than they were made.
                Err(HistoryError::MissingAncestor { .. }) => transcript.is_being_written(),
                _ => false,
            };
            if !late {
                break found?;
            }
            let is_over = Instant::now() >= until;
            if is_over || begun.elapsed() >= SHORT_WAIT {
                let before = transcript.before_the_call(head);
                if is_over || before.is_some() {
                    let bytes = transcript.done.bytes;
                    tracing::debug!(first_bytes, bytes, ?head, "the row of the call is not on disk");
                    break before.map_or(found, Ok)?;
                }
            }
            sleep(STEP.min(until.saturating_duration_since(Instant::now())));
            transcript.read_on()?;
        };
        let cuts = state_dir
            .map(|dir| record::read(dir, transcript.path()))
            .unwrap_or_default();
        let copies = Copies::find(&transcript, &branch, &cuts)?;
        let events = Events::new(&transcript.table, &branch, &copies);
        let conversation = Self {
            session_id: session_id(&transcript, head)?,
            transcript,
            branch,
            copies,
            events,
            head,
        };
        if let Some(dir) = state_dir {
            end::keep(dir, &conversation.transcript, &conversation.events);
        }
        Ok(conversation)
    }

    /// The end of the conversation alone, by what an earlier [`Self::open`] has noted; none where it cannot be had so.
    ///
    /// It has the newest events and no others: a page of it is a page of the conversation when there is something before
    /// it. Windows before the newest are not in it.
    pub fn end(path: &Path, head: Head<'_>, state_dir: &Path) -> Option<Self> {
        let (transcript, ordinal) = end::open(state_dir, path)?;
        let head = transcript.head(head).ok()?;
        if !end::leads_back(&transcript.table, head) {
            return None;
        }
        let mut branch = transcript.branch_at(head).ok()?;
        branch.windows.first_mut()?.ordinal = ordinal;
        let copies = Copies::find(&transcript, &branch, &[]).ok()?;
        Some(Self {
            session_id: session_id(&transcript, head).ok()?,
            events: Events::new(&transcript.table, &branch, &copies),
            transcript,
            branch,
            copies,
            head,
        })
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The row that the branch ends at.
    pub const fn head(&self) -> RowId {
        self.head
    }

    /// The transcript.
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The rows of the branch in the order of the file, without words that a compaction wrote again or that are ours.
    /// Calls and results that were written again are among them; their ids tell.
    pub fn rows(&self) -> impl Iterator<Item = RowId> {
        let is_new = |row: &u32| !self.copies.is_copy(*row) && !self.copies.is_ours(*row);
        self.branch.rows().filter(is_new).map(RowId)
    }

    /// All events by address, each once, with its whole words.
    pub fn shown(&self) -> impl Iterator<Item = Result<Shown, HistoryError>> {
        self.events.all().iter().map(|event| self.show(event))
    }

    /// An event with its whole words.
    pub(super) fn show(&self, event: &Event) -> Result<Shown, HistoryError> {
        let words = self.words(event)?;
        let table = &self.transcript.table;
        Ok(Shown {
            seq: event.seq.into(),
            window_id: self.window_id(event.window),
            role: event.role,
            created_at: words.created_at,
            tool: event.tool(table).filter(|tool| !tool.is_empty()).map(str::to_owned),
            tool_use_id: words.tool_use_id,
            tool_status: event.status(table),
            text: words.text,
        })
    }

    /// The id of a window of the branch, counted from the oldest.
    pub(super) fn window_id(&self, window: u32) -> String {
        let ordinal = self.branch.windows.get(window as usize).map_or(0, |span| span.ordinal);
        format!("claude:{}:{ordinal}", self.session_id)
    }

    /// The window with this id, also `@current` and `@previous`.
    pub(super) fn window_of_id(&self, id: &str) -> Option<u32> {
        let newest = self.branch.newest();
        match id {
            "@current" => Some(newest),
            "@previous" => newest.checked_sub(1),
            _ => (0..=newest).find(|window| self.window_id(*window) == id),
        }
    }

    /// What made a window.
    pub(super) fn origin(&self, window: u32) -> Origin {
        self.copies
            .origins
            .get(window as usize)
            .copied()
            .unwrap_or(Origin::Start)
    }

    /// The event of a call with this id.
    pub(super) fn event_of_call(&self, tool_use_id: &str) -> Result<&Event, NoEvent> {
        let table = &self.transcript.table;
        let key = Key::of(tool_use_id.as_bytes());
        if let Some(call) = table.find_call(key) {
            return self.event(u64::from(table.block_seq[call as usize]));
        }
        // A result without its call has no place in the calls.
        let result = (0..table.block_count()).find(|block| table.block_id[*block as usize] == key);
        let result = result.ok_or(NoEvent::Unknown)?;
        self.event(u64::from(table.block_seq[result as usize]))
    }

    /// The event with this address, or the one it leads to: a copy leads to what it repeats.
    pub(super) fn event(&self, seq: u64) -> Result<&Event, NoEvent> {
        if let Ok(place) = self.events.place(seq) {
            return Ok(&self.events.all()[place]);
        }
        let table = &self.transcript.table;
        if seq == 0 || seq >= u64::from(table.next_seq) {
            return Err(NoEvent::Unknown);
        }
        let seq = u32::try_from(seq).map_err(|_| NoEvent::Unknown)?;
        if let Some(block) = table.block_seq_place(seq) {
            return self.shown_block(block);
        }
        let Some(row) = table.row_of_seq(seq) else {
            return Err(NoEvent::Unknown);
        };
        let Some(original) = self.copies.original(row) else {
            return Err(self.nothing(row));
        };
        self.events
            .place(u64::from(table.seq[original as usize]))
            .map(|place| &self.events.all()[place])
            .map_err(|_| self.nothing(original))
    }

    /// The event that shows a call, or that a call or result of the same id leads to.
    fn shown_block(&self, block: u32) -> Result<&Event, NoEvent> {
        let table = &self.transcript.table;
        if self
            .branch
            .window(table.first(table.block_row[block as usize]))
            .is_none()
        {
            return Err(NoEvent::NotOnBranch);
        }
        let first = table.block_call[block as usize];
        let twins = (0..table.block_count()).filter(|twin| {
            if first == super::table::NONE {
                table.block_id[*twin as usize] == table.block_id[block as usize]
            } else {
                table.block_call[*twin as usize] == first
            }
        });
        let mut shown = twins.filter_map(|twin| self.events.place(u64::from(table.block_seq[twin as usize])).ok());
        let Some(place) = shown.next() else {
            return Err(NoEvent::Nothing);
        };
        let event = &self.events.all()[place];
        match table.result(block) {
            Some(_) if first != super::table::NONE => Err(NoEvent::ResultOf(event.seq)),
            _ => Ok(event),
        }
    }

    fn nothing(&self, row: u32) -> NoEvent {
        let table = &self.transcript.table;
        if self.branch.window(row).is_none() {
            return NoEvent::NotOnBranch;
        }
        // A row of nothing but a result leads to the call.
        let version = table.newest(row);
        let results = table.bits[version as usize].has(Bits::RESULT);
        let block = table.blocks_of(version).find(|block| table.result(*block).is_some());
        match block.filter(|_| results).map(|block| self.shown_block(block)) {
            Some(Err(NoEvent::ResultOf(call))) => NoEvent::ResultOf(call),
            Some(Ok(event)) => NoEvent::ResultOf(event.seq),
            _ => NoEvent::Nothing,
        }
    }
}

/// The session that a row belongs to.
fn session_id(transcript: &Transcript, row: RowId) -> Result<String, HistoryError> {
    let named = transcript.row(row)?.session_id.filter(|id| id.len() <= MAX_SESSION_ID);
    let stem = || {
        let stem = transcript.path().file_stem()?;
        Some(stem.to_string_lossy().into_owned())
    };
    Ok(named.or_else(stem).unwrap_or_default())
}
