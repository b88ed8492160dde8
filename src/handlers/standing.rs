//! What stands in the session's transcript, for the window's machine: only read where the machine cannot know.

use super::{Call, steps};
use crate::window::Standing;
use crate::window::machine::{BoundBy, Input};

/// What stands when a session starts: nothing in a new one, what the transcript says in one that was taken up again.
pub(super) fn at_start(call: &Call<'_>, by: BoundBy) -> Standing {
    match by {
        BoundBy::Startup | BoundBy::Clear => Standing::default(),
        BoundBy::Resume | BoundBy::Fork | BoundBy::Compact | BoundBy::Lazy => of_transcript(call),
    }
}

/// Binds a session whose start was not heard, as after an update of the plugin in the middle of it.
pub(super) fn bind_when_unknown(call: &mut Call<'_>) {
    if call.facts.agent_id.is_some() || !call.state.machine.needs_binding(call.facts.session_id.as_deref()) {
        return;
    }
    let Some(session_id) = call.facts.session_id.clone() else {
        return;
    };
    let standing = of_transcript(call);
    steps::step(
        call,
        &Input::SessionBound {
            by: BoundBy::Lazy,
            session_id,
            standing,
            ours: None,
        },
    );
}

fn of_transcript(_call: &Call<'_>) -> Standing {
    Standing::default()
}
