//! What stands in the session's transcript, for the window's machine: only read where the machine cannot know.

use serde::Deserialize;

use super::{Call, steps};
use crate::history::{self, Head, HistoryError, RowId, Transcript};
use crate::window::machine::{BoundBy, CLOSE_OUT_TAG, Input, WARNING_TAG};
use crate::window::{Standing, WindowId};
use crate::wire::{Event, Facts};

/// What stands when a session starts: nothing in a new one, what the transcript says in one that was taken up again.
pub(super) fn at_start(call: &Call<'_>, by: BoundBy) -> Standing {
    match by {
        BoundBy::Startup | BoundBy::Clear => Standing::default(),
        // The rows of the new window are not written yet, and the machine has counted the old ones.
        BoundBy::Compact => Standing::default(),
        BoundBy::Resume | BoundBy::Lazy => at_first(call, &Heads::of(call), false),
        BoundBy::Fork => at_first(call, &Heads::of(call), true),
    }
}

/// Tells the machine what it may have missed: the start of a session that was not heard, as after an update of the
/// plugin in the middle of it, and a rewind, after which another window stands.
///
/// The transcript is read for it, once an event; only events that a mark or a request has woken come here.
pub(super) fn reconcile(call: &mut Call<'_>) {
    if call.facts.agent_id.is_some() || call.state.is_reconciled {
        return;
    }
    call.state.is_reconciled = true;
    let Some(session_id) = call.facts.session_id.clone() else {
        return;
    };
    let heads = Heads::of(call);
    let input = if call.state.machine.needs_binding(Some(&session_id)) {
        Input::SessionBound {
            by: BoundBy::Lazy,
            session_id,
            standing: at_first(call, &heads, false),
            ours: None,
        }
    } else {
        match read(call, &heads, false) {
            Ok(Some(found)) => Input::Reconciled {
                standing: standing(call.facts, found, false),
            },
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(%error, "nothing new of the window");
                return;
            }
        }
    };
    steps::step(call, &input);
}

/// Rows of the branch that stands, as the client names them. The file's last row is a guess beside them: right after a
/// rewind it is still of the branch that was left, and another process on the conversation writes its own branch.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heads {
    /// Calls of the branch.
    tool_uses: Vec<String>,
    /// Rows of the branch, oldest first; by uuid, or by a call in them.
    rows: Vec<String>,
}

/// How many of a conversation's newest rows may be missing on disk.
const NEWEST: usize = 16;

impl Heads {
    fn of(call: &Call<'_>) -> Self {
        let mut heads = Self {
            rows: call.facts.newest_rows.clone(),
            ..Self::default()
        };
        match call.event {
            Event::ClassicPostToolBatch => {
                let Batch { tool_calls } = call.input().unwrap_or_default();
                heads.tool_uses = tool_calls.into_iter().map(|call| call.tool_use_id).collect();
            }
            Event::ToolCall => heads.tool_uses.extend(call.facts.tool_use_id.clone()),
            Event::SessionCompact => {
                let Conversation { messages } = call.input().unwrap_or_default();
                let rows = messages.into_iter().filter_map(|message| message.handle);
                heads.rows = rows.collect();
                heads.rows.drain(..heads.rows.len().saturating_sub(NEWEST));
            }
            _ => {}
        }
        heads
    }

    fn is_empty(&self) -> bool {
        self.tool_uses.is_empty() && self.rows.is_empty()
    }

    /// The row of the newest that is on disk, for itself the end of the branch.
    fn find(&self, transcript: &Transcript) -> Option<RowId> {
        let calls = self.tool_uses.iter().map(|id| Head::ToolUse(id));
        let mut heads = calls.chain([Head::Newest(&self.rows)]);
        heads.find_map(|head| transcript.head(head).ok())
    }

    /// The row of a call that older builds name in place of rows. It may be of a window before, so it only tells whose
    /// branch a row is on.
    fn find_call(&self, transcript: &Transcript) -> Option<RowId> {
        let mut calls = self.rows.iter().rev().map(|id| Head::ToolUse(id));
        calls.find_map(|head| transcript.head(head).ok())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Batch {
    tool_calls: Vec<BatchCall>,
}

#[derive(Debug, Deserialize)]
struct BatchCall {
    tool_use_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Conversation {
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    handle: Option<String>,
}

/// What the transcript says of a session that is not known yet; nothing where it cannot be read, which costs a boot that
/// is given twice.
///
/// `is_forked`: the boot in it is another session's.
fn at_first(call: &Call<'_>, heads: &Heads, is_forked: bool) -> Standing {
    match read(call, heads, true) {
        Ok(Some(found)) => standing(call.facts, found, is_forked),
        Ok(None) => Standing::default(),
        Err(error) => {
            tracing::warn!(%error, "the transcript says nothing of the window");
            Standing::default()
        }
    }
}

fn standing(facts: &Facts, found: history::Standing, is_forked: bool) -> Standing {
    let session_id = facts.session_id.as_deref().filter(|_| !is_forked).unwrap_or("another");
    let seen = |at: usize| found.tagged.get(at) == Some(&true);
    Standing {
        boundaries: found.boundaries,
        marker: found
            .marker
            .map(|ordinal| WindowId::new(session_id, ordinal).to_string()),
        marker_is_live: found.marker_is_live,
        highest_in_file: found.highest_in_file,
        warned: seen(0),
        closed_out: seen(1),
    }
}

/// What stands on disk; none where there is no conversation yet.
///
/// `is_first`: it was taken up a moment ago, so nobody has rewound, and the end of the file is its end unless the rows
/// that are known are elsewhere.
fn read(call: &Call<'_>, heads: &Heads, is_first: bool) -> Result<Option<history::Standing>, HistoryError> {
    let Some(path) = steps::transcript_path(call.facts).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let transcript = Transcript::open(path, call.world.state_dir.as_deref())?;
    if transcript.is_empty() {
        return Ok(None);
    }
    let last = transcript.head(Head::AssumeLast)?;
    let leads_to_last = |row: RowId| -> Result<bool, HistoryError> {
        Ok(transcript.branch(last)?.iter().any(|(other, _)| *other == row))
    };
    let (head, is_known) = match (heads.find(&transcript), heads.find_call(&transcript)) {
        (Some(row), _) if !is_first => (row, true),
        (Some(row), _) | (None, Some(row)) if leads_to_last(row)? => (last, is_first),
        (Some(row), _) => (row, true),
        (None, Some(row)) if is_first => (row, true),
        (None, None) if is_first || heads.is_empty() => (last, is_first),
        (None, _) => {
            let what = "the end of this conversation".to_owned();
            return Err(HistoryError::HeadNotOnDisk { what });
        }
    };
    // Behind a rewind the end of the file may be of the branch that was left, whose warning is not the model's any more.
    let tags: &[&str] = if is_known { &[WARNING_TAG, CLOSE_OUT_TAG] } else { &[] };
    transcript.standing(head, tags).map(Some)
}
