//! What stands in the session's transcript, for the window's machine: only read where the machine cannot know.

use serde::Deserialize;

use super::{Call, steps};
use crate::history::{Head, HistoryError, RowId, Transcript};
use crate::window::machine::{BoundBy, CLOSE_OUT_TAG, Input, WARNING_TAG};
use crate::window::ordinal::Seen;
use crate::window::{Standing, WindowId};
use crate::wire::Event;

/// What stands when a session starts: nothing in a new one, what the transcript says in one that was taken up again.
pub(super) fn at_start(call: &Call<'_>, by: BoundBy) -> Standing {
    match by {
        BoundBy::Startup | BoundBy::Clear => Standing::default(),
        // The rows of the new window are not written yet, and the machine has counted the old ones.
        BoundBy::Compact => Standing::default(),
        BoundBy::Resume | BoundBy::Lazy => of_transcript(call, &Heads::default(), false),
        BoundBy::Fork => of_transcript(call, &Heads::default(), true),
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
    let is_unknown = call.state.machine.needs_binding(Some(&session_id));
    if !is_unknown && steps::transcript_path(call.facts).is_none() {
        return;
    }
    let standing = of_transcript(call, &Heads::of(call), false);
    let input = match is_unknown {
        true => Input::SessionBound {
            by: BoundBy::Lazy,
            session_id,
            standing,
            ours: None,
        },
        false => Input::Reconciled { standing },
    };
    steps::step(call, &input);
}

/// Rows of the branch that stands, as the event names them. The file's last row is a guess beside them: right after a
/// rewind it is still of the branch that was left.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heads {
    /// Calls of the branch.
    tool_uses: Vec<String>,
    /// Rows of the branch, oldest first.
    rows: Vec<String>,
}

/// How many of a conversation's newest rows may be missing on disk.
const NEWEST: usize = 16;

impl Heads {
    fn of(call: &Call<'_>) -> Self {
        let mut heads = Self::default();
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

    /// The newest of them that is on disk.
    fn find(&self, transcript: &Transcript) -> Result<RowId, HistoryError> {
        let calls = self.tool_uses.iter().map(|id| Head::ToolUse(id));
        let rows = self.rows.iter().rev().map(|uuid| Head::Uuid(uuid));
        calls
            .chain(rows)
            .find_map(|head| transcript.head(head).ok())
            .map_or_else(|| transcript.head(Head::AssumeLast), Ok)
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

/// What the transcript says at its end; nothing where it cannot be read, which costs a boot that is given twice.
///
/// `is_forked`: the boot in it is another session's.
fn of_transcript(call: &Call<'_>, heads: &Heads, is_forked: bool) -> Standing {
    match read(call, heads) {
        Ok(Some(found)) => {
            let session_id = call
                .facts
                .session_id
                .as_deref()
                .filter(|_| !is_forked)
                .unwrap_or("another");
            let seen = |at: usize| match found.tagged.get(at) {
                Some(true) => Seen::ON_BRANCH,
                _ => Seen::default(),
            };
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
        Ok(None) => Standing::default(),
        Err(error) => {
            tracing::warn!(%error, "the transcript says nothing of the window");
            Standing::default()
        }
    }
}

fn read(call: &Call<'_>, heads: &Heads) -> Result<Option<crate::history::Standing>, HistoryError> {
    let Some(path) = steps::transcript_path(call.facts).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let transcript = Transcript::open(path, call.world.state_dir.as_deref())?;
    if transcript.is_empty() {
        return Ok(None);
    }
    let head = heads.find(&transcript)?;
    transcript.standing(head, &[WARNING_TAG, CLOSE_OUT_TAG]).map(Some)
}
