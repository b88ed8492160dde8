//! Sessions and windows: what binds them, what makes the next one, and what a rewind brings back.

use super::input::{BoundBy, Ctx};
use super::output::{Line, Output};
use super::rules::{deliver_missing_boot, is_below_the_warning, say_once_a_window};
use super::state::{Phase, Requester, State, Window};
use crate::window::ordinal::{Standing, WindowId};

/// `classic.SessionStart`, or an event of a session that is not known here.
pub(super) fn bound(
    state: &mut State,
    ctx: &Ctx<'_>,
    by: BoundBy,
    session_id: &str,
    standing: &Standing,
    ours: Option<bool>,
    out: &mut Vec<Output>,
) {
    let knows_it = state
        .window
        .as_ref()
        .is_some_and(|window| window.id.session_id == session_id);
    match by {
        BoundBy::Compact if knows_it => compacted(state, ctx, standing, ours, out),
        BoundBy::Lazy if knows_it => reconciled(state, ctx, standing),
        BoundBy::Compact | BoundBy::Lazy | BoundBy::Startup | BoundBy::Resume | BoundBy::Clear | BoundBy::Fork => {
            bind(state, ctx, by, session_id, standing, out);
        }
    }
}

/// Forgets the window and everything about it. Effects stay numbered, so that a late outcome meets no new effect.
pub(super) fn forget(state: &mut State) {
    *state = State {
        counter: state.counter,
        by_command: state.by_command,
        marks: state.marks,
        ..State::default()
    };
}

/// Another session: nothing of the last one counts.
fn bind(state: &mut State, ctx: &Ctx<'_>, by: BoundBy, session_id: &str, standing: &Standing, out: &mut Vec<Output>) {
    forget(state);
    // A compaction that stands is behind a first window, whether its row is on disk yet or not.
    let least = u32::from(by == BoundBy::Compact);
    let id = WindowId::new(session_id, standing.ordinal().max(least));
    let mut window = Window::new(id.clone());
    let is_this_window = by != BoundBy::Compact;
    window.warned = is_this_window && standing.warned;
    window.closed_out = is_this_window && standing.closed_out;
    let wants_boot = ctx.switches.boot && !standing.has_boot_of(&id);
    if by == BoundBy::Lazy {
        // The event at hand may carry no boot; the next prompt does.
        window.boot_missing = wants_boot;
    } else if wants_boot {
        out.push(Output::Boot {
            previous: id.previous(),
            window: id,
            paragraph: None,
        });
    }
    state.window = Some(window);
}

fn compacted(state: &mut State, ctx: &Ctx<'_>, standing: &Standing, ours: Option<bool>, out: &mut Vec<Output>) {
    if !state.settled_ahead {
        stood(state, ctx, Some(standing), ours);
        deliver_missing_boot(state, ctx, out);
        return;
    }
    // Counted when its call resolved; only the boot is missing.
    state.settled_ahead = false;
    if let Some(window) = state.window.as_mut() {
        window.id.ordinal = window.id.ordinal.max(standing.ordinal());
    }
    deliver_missing_boot(state, ctx, out);
}

/// A compaction of the main conversation stands: the next window begins, its boot to be delivered.
pub(super) fn stood(state: &mut State, ctx: &Ctx<'_>, standing: Option<&Standing>, ours: Option<bool>) {
    let Some(window) = &state.window else {
        return;
    };
    let answered = state.live_flight().is_some_and(|flight| flight.answered);
    let is_ours = answered && ours.unwrap_or(true);
    let counted = window.id.ordinal.saturating_add(1);
    let ordinal = standing.map_or(counted, |standing| standing.ordinal().max(counted));
    let mut next = Window::new(WindowId::new(window.id.session_id.clone(), ordinal));
    if is_ours {
        next.paragraph = state.choice.take();
        next.awaits_first_fill = true;
        next.made_in_turn = ctx.turn_running;
        state.last_reset = Some(ctx.completed_turns);
        state.pending = None;
        state.refused = false;
    } else if state
        .pending
        .as_ref()
        .is_some_and(|pending| pending.by == Requester::Mark)
    {
        // The mark spoke of the window that is gone.
        state.pending = None;
    } else if let Some(pending) = state.pending.as_mut() {
        pending.gave_close_out = false;
        if pending.phase == Phase::Owed {
            pending.phase = Phase::AtStop { waited: false };
        }
    }
    next.boot_missing = true;
    state.window = Some(next);
    match state.flight.as_mut() {
        Some(flight) if !flight.id.is_empty() => {
            flight.stood = true;
            flight.ours = is_ours;
        }
        Some(_) => {
            state.flight = None;
        }
        None => {}
    }
}

/// The transcript was read again. A window that the file knows and the branch does not was left by a rewind.
pub(super) fn reconciled(state: &mut State, ctx: &Ctx<'_>, standing: &Standing) {
    let is_below = is_below_the_warning(state, ctx);
    let Some(window) = state.window.as_mut() else {
        return;
    };
    let ordinal = standing.ordinal();
    if ordinal == window.id.ordinal {
        // A warning that is not on the branch is not on disk yet, or was left by a rewind, which takes the fill below the
        // mark. What the file has elsewhere says nothing: another process may have written it. A close-out may be given at
        // any fill, and says what the warning says.
        window.closed_out |= standing.closed_out;
        window.warned = standing.warned || (window.warned && (window.closed_out || !is_below));
        return;
    }
    if ordinal > window.id.ordinal {
        // A compaction stood whose event was not heard; should it come late, it must not count again.
        stood(state, ctx, Some(standing), None);
        state.settled_ahead = true;
        if let Some(window) = state.window.as_mut() {
            window.boot_missing = !standing.has_boot_of(&window.id);
        }
        return;
    }
    if !standing.is_rewound_from(window.id.ordinal) {
        // Not on disk yet.
        return;
    }
    let id = WindowId::new(window.id.session_id.clone(), ordinal);
    let mut next = Window::new(id.clone());
    next.warned = standing.warned;
    next.closed_out = standing.closed_out;
    next.boot_missing = !standing.has_boot_of(&id);
    state.window = Some(next);
    state.last_reset = None;
    if state
        .pending
        .as_ref()
        .is_some_and(|pending| pending.by == Requester::Mark)
    {
        state.pending = None;
    }
}

/// The boot that was asked for could not be built: the next prompt tries again, with the same paragraph.
pub(super) fn boot_failed(state: &mut State, reason: &str, out: &mut Vec<Output>) {
    if let Some(window) = state.window.as_mut() {
        window.boot_missing = true;
        let reason = reason.to_owned();
        say_once_a_window(window, Line::BootMissing { reason }, out);
    }
}

/// The module was loaded again: what was awaited may never be heard of.
pub(super) fn reloaded(state: &mut State, out: &mut Vec<Output>) {
    if let Some(flight) = state.flight.as_mut() {
        flight.orphaned = true;
    }
    if let Some(pending) = state.pending.as_mut()
        && matches!(pending.phase, Phase::Submitted { accepted: false, .. })
    {
        pending.phase = Phase::AtStop { waited: false };
        out.push(Output::Say(Line::WaitsForNextTurn));
    }
}
