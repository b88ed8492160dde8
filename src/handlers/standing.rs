//! What stands in the session's transcript, for the window's machine: only read where the machine cannot know.

use super::{Call, steps};
use crate::history::{Head, HistoryError, Transcript};
use crate::window::machine::{BoundBy, CLOSE_OUT_TAG, Input, WARNING_TAG};
use crate::window::ordinal::Seen;
use crate::window::{Standing, WindowId};
use crate::wire::Facts;

/// What stands when a session starts: nothing in a new one, what the transcript says in one that was taken up again.
pub(super) fn at_start(call: &Call<'_>, by: BoundBy) -> Standing {
    match by {
        BoundBy::Startup | BoundBy::Clear => Standing::default(),
        // The rows of the new window are not written yet, and the machine has counted the old ones.
        BoundBy::Compact => Standing::default(),
        BoundBy::Resume | BoundBy::Lazy => of_transcript(call.facts, false),
        BoundBy::Fork => of_transcript(call.facts, true),
    }
}

/// Tells the machine what it may have missed: the start of a session that was not heard, as after an update of the
/// plugin in the middle of it, and a rewind, after which another window stands.
pub(super) fn reconcile(call: &mut Call<'_>) {
    if call.facts.agent_id.is_some() {
        return;
    }
    let Some(session_id) = call.facts.session_id.clone() else {
        return;
    };
    let is_unknown = call.state.machine.needs_binding(Some(&session_id));
    if !is_unknown && steps::transcript_path(call.facts).is_none() {
        return;
    }
    let standing = of_transcript(call.facts, false);
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

/// What the transcript says at its end; nothing where it cannot be read, which costs a boot that is given twice.
///
/// `is_forked`: the boot in it is another session's.
fn of_transcript(facts: &Facts, is_forked: bool) -> Standing {
    match read(facts) {
        Ok(Some(found)) => {
            let session_id = facts.session_id.as_deref().filter(|_| !is_forked).unwrap_or("another");
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

fn read(facts: &Facts) -> Result<Option<crate::history::Standing>, HistoryError> {
    let Some(path) = steps::transcript_path(facts).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let transcript = Transcript::read(path)?;
    if transcript.is_empty() {
        return Ok(None);
    }
    let head = transcript.head(Head::AssumeLast)?;
    transcript.standing(head, &[WARNING_TAG, CLOSE_OUT_TAG]).map(Some)
}
