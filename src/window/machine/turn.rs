//! Prompts, turns and their ends: warning, close-out, and the decision to reset.

use super::input::{CLOSE_OUT_TAG, Ctx, TurnEnd};
use super::output::{Line, Output};
use super::rules::{
    close_out, decide, drop_pending, is_possible, marks, may_reset_by_mark, needs_close_out, reached_reset, say_held,
};
use super::state::{Pending, Phase, Requester, State, Way};

/// Records the first figure of a window that a reset of ours made. Only events inside a turn have one that is surely of
/// this window.
fn note_fill(state: &mut State, ctx: &Ctx<'_>) {
    if let (Some(window), Some(fill)) = (state.window.as_mut(), ctx.fill)
        && window.awaits_first_fill
    {
        window.awaits_first_fill = false;
        window.first_fill = Some(fill);
    }
}

/// `classic.PostToolBatch`: the warning in the middle of a turn.
pub(super) fn tool_batch(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    note_fill(state, ctx);
    warn(state, ctx, out);
}

/// The warning, once a window, where a reset can follow.
pub(super) fn warn(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    let reached = |at: f64| ctx.fill.is_some_and(|fill| fill >= at);
    if !ctx.switches.warning || !marks(state, ctx).and_then(|marks| marks.warn_at).is_some_and(reached) {
        return;
    }
    // A close-out turn carries the same text itself.
    let closing = state
        .pending
        .as_ref()
        .is_some_and(|pending| matches!(pending.phase, Phase::Submitted { .. } | Phase::CloseOutTurn { .. }));
    if closing || may_reset_by_mark(state, ctx, 1).is_err() {
        return;
    }
    let Some(window) = state
        .window
        .as_mut()
        .filter(|window| !window.warned && !window.closed_out)
    else {
        return;
    };
    window.warned = true;
    out.push(Output::Warn {
        window: window.id.clone(),
    });
}

/// `turn.start`: finds the close-out turn.
pub(super) fn turn_started(state: &mut State, id: Option<&str>, text: &str) {
    state.settled_ahead = false;
    state.rests = false;
    if state.flight.as_ref().is_some_and(|flight| flight.stood) {
        state.flight = None;
    }
    if !text.contains(CLOSE_OUT_TAG) {
        return;
    }
    let Some(pending) = state.pending.as_mut().filter(|pending| pending.by == Requester::Person) else {
        return;
    };
    if !matches!(pending.phase, Phase::Submitted { .. } | Phase::AtStop { .. }) {
        return;
    }
    pending.phase = Phase::CloseOutTurn {
        turn: id.map(str::to_owned),
    };
    pending.gave_close_out = true;
    if let Some(window) = state.window.as_mut() {
        window.closed_out = true;
        window.warned = true;
    }
}

/// `classic.Stop`: the close-out, once a window; the model goes on in the same turn.
pub(super) fn stop(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    note_fill(state, ctx);
    let Some(pending) = state.pending.as_ref() else {
        stop_at_the_mark(state, ctx, out);
        return;
    };
    let by = pending.by;
    let waits_for_this = matches!(pending.phase, Phase::AtStop { .. } | Phase::Owed);
    // The model asked for the reset itself, after it had saved.
    if !waits_for_this || by == Requester::Model || !needs_close_out(state, ctx) || !is_possible(state, ctx) {
        return;
    }
    if by == Requester::Mark && reached_reset(state, ctx) == Some(false) {
        return;
    }
    close_out(state, by, out);
    if let Some(pending) = state.pending.as_mut() {
        pending.gave_close_out = true;
    }
}

fn stop_at_the_mark(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    if reached_reset(state, ctx) != Some(true) {
        return;
    }
    match may_reset_by_mark(state, ctx, 1) {
        Err(held) => say_held(state, held, out),
        Ok(()) => {
            let gives = needs_close_out(state, ctx);
            state.pending = Some(Pending {
                by: Requester::Mark,
                phase: Phase::AtStop { waited: false },
                gave_close_out: gives,
            });
            if gives {
                close_out(state, Requester::Mark, out);
            }
        }
    }
}

/// `turn.complete` of the main conversation.
pub(super) fn turn_completed(state: &mut State, ctx: &Ctx<'_>, id: Option<&str>, end: TurnEnd, out: &mut Vec<Output>) {
    state.settled_ahead = false;
    if end == TurnEnd::Aborted && ctx.fill.is_none() {
        boot_went_with_the_prompt(state);
    }
    state.rests = false;
    if !drop_stale_flight(state, id) {
        return;
    }
    if drop_impossible(state, ctx, out) {
        return;
    }
    match (state.pending.clone(), end) {
        (None, TurnEnd::Answer) => mark_at_turn_end(state, ctx, id, out),
        (None, _) => {}
        (Some(pending), TurnEnd::Answer) => answered(state, ctx, id, &pending, out),
        (Some(pending), end) => broken_off(state, id, &pending, end, out),
    }
}

/// The client takes a prompt back that was interrupted before any response, and with it all that stands behind it: the
/// boot of a window that this prompt's compaction made, too.
fn boot_went_with_the_prompt(state: &mut State) {
    if let Some(window) = state.window.as_mut()
        && window.made_in_turn
        && window.awaits_first_fill
    {
        window.boot_missing = true;
    }
}

/// A flight that outlived the turn it was decided in will not be settled any more. False: one is still on its way.
fn drop_stale_flight(state: &mut State, id: Option<&str>) -> bool {
    let Some(flight) = state.flight.as_ref() else {
        return true;
    };
    let of_this_turn = flight.turn.is_some() && flight.turn.as_deref() == id;
    let alive = flight.way != Way::Native && of_this_turn && !flight.stood && !flight.orphaned;
    if !alive {
        state.flight = None;
    }
    !alive
}

/// Drops a request that can no longer be met. True: there was one.
fn drop_impossible(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) -> bool {
    if state.pending.is_none() || is_possible(state, ctx) {
        return false;
    }
    let line = if ctx.compact_disabled {
        Line::CompactDisabled
    } else {
        Line::ResetSwitchedOff
    };
    drop_pending(state, line, out);
    true
}

fn mark_at_turn_end(state: &mut State, ctx: &Ctx<'_>, id: Option<&str>, out: &mut Vec<Output>) {
    if reached_reset(state, ctx) != Some(true) {
        return;
    }
    if let Err(held) = may_reset_by_mark(state, ctx, 0) {
        say_held(state, held, out);
        return;
    }
    // The turn ended without its close-out (the figure moved late, or Stop was not heard): the next one gives it.
    let waits = needs_close_out(state, ctx);
    state.pending = Some(Pending {
        by: Requester::Mark,
        phase: Phase::AtStop { waited: true },
        gave_close_out: false,
    });
    if !waits {
        decide(state, ctx, id.map(str::to_owned), out);
    }
}

fn answered(state: &mut State, ctx: &Ctx<'_>, id: Option<&str>, pending: &Pending, out: &mut Vec<Output>) {
    if pending.by == Requester::Mark {
        match reached_reset(state, ctx) {
            // Another model, window or margin: no longer due.
            Some(false) => {
                state.pending = None;
                return;
            }
            Some(true) => {}
            None if marks(state, ctx).is_none() => return,
            None => {}
        }
    }
    let turn = id.map(str::to_owned);
    match &pending.phase {
        Phase::Submitted { accepted: false, .. } => {}
        // A turn of somebody else ended first. The close-out may come as a turn of its own still, or it has joined this
        // one; the next end of a turn tells.
        Phase::Submitted { accepted: true, .. } => set_phase(state, Phase::AtStop { waited: false }),
        Phase::CloseOutTurn { turn: own } => {
            let is_own = own.is_none() || id.is_none() || own.as_deref() == id;
            if is_own {
                decide(state, ctx, turn, out);
            }
        }
        Phase::AtStop { waited } => {
            let wants_close_out = pending.by != Requester::Model && needs_close_out(state, ctx);
            if wants_close_out && !waited {
                set_phase(state, Phase::AtStop { waited: true });
            } else {
                decide(state, ctx, turn, out);
            }
        }
        Phase::Owed => decide(state, ctx, turn, out),
    }
}

/// A turn that was interrupted or failed takes a person's or the model's request with it, and says so; what the mark
/// wants stays owed.
fn broken_off(state: &mut State, id: Option<&str>, pending: &Pending, end: TurnEnd, out: &mut Vec<Output>) {
    let takes_it_along = match &pending.phase {
        // Escape may have come before the start of the close-out turn was heard.
        Phase::Submitted { .. } => end == TurnEnd::Aborted,
        Phase::Owed => false,
        Phase::AtStop { .. } => true,
        Phase::CloseOutTurn { turn } => turn.is_none() || id.is_none() || turn.as_deref() == id,
    };
    if pending.by == Requester::Mark || !takes_it_along {
        return;
    }
    let line = match end {
        TurnEnd::Aborted => Line::CloseOutAborted,
        TurnEnd::Answer | TurnEnd::Failed => Line::CloseOutFailed,
    };
    drop_pending(state, line, out);
}

/// `session.measure`: a reset that is owed is tried again; one that is due comes when nothing has to be closed out.
pub(super) fn measured(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    // What was interrupted or vetoed is not begun again until a turn has passed.
    if ctx.turn_running || state.rests {
        return;
    }
    if let Some(flight) = &state.flight {
        if !flight.orphaned && !flight.stood {
            return;
        }
        state.flight = None;
    }
    if drop_impossible(state, ctx, out) {
        return;
    }
    match state.pending.clone() {
        Some(pending) if pending.phase == Phase::Owed => answered(state, ctx, None, &pending, out),
        Some(_) => {}
        None => {
            if reached_reset(state, ctx) != Some(true) || needs_close_out(state, ctx) {
                return;
            }
            mark_at_turn_end(state, ctx, None, out);
        }
    }
}

fn set_phase(state: &mut State, phase: Phase) {
    if let Some(pending) = state.pending.as_mut() {
        pending.phase = phase;
    }
}
