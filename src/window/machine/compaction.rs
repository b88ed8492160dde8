//! `session.compact`, and the outcome of the calls that lead to it.

use super::input::{Ctx, PLUGIN, RESET_WORD, Trigger};
use super::output::{Line, Output};
use super::rules::{born_full, decide, drop_pending, is_possible, say_held, say_once, say_once_a_window, too_soon};
use super::session::stood;
use super::state::{Flight, Phase, Requester, State, Way};
use crate::window::ordinal::WindowId;

/// `session.compact` of the main conversation.
pub(super) fn compact_asked(
    state: &mut State,
    ctx: &Ctx<'_>,
    trigger: Trigger,
    instructions: Option<&str>,
    origin: Option<&str>,
    out: &mut Vec<Output>,
) {
    let answer = match trigger {
        Trigger::Auto => auto(state, ctx, out),
        Trigger::Precompute if ctx.switches.veto_precompute => Output::Veto(Line::VetoPrecompute),
        Trigger::Precompute => Output::NotOurs,
        Trigger::Plugin => by_plugin(state, ctx, origin),
        Trigger::Manual => by_command(state, ctx, instructions),
    };
    if trigger != Trigger::Precompute && !matches!(answer, Output::AnswerReset { .. }) {
        // What stands next is not our answer.
        match state.flight.as_mut() {
            Some(flight) if flight.way == Way::Native => state.flight = None,
            Some(flight) => flight.answered = false,
            None => {}
        }
    }
    out.push(answer);
}

/// The client's own compaction becomes a reset, unless one just was.
fn auto(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) -> Output {
    if !ctx.switches.reset {
        return Output::NotOurs;
    }
    if ctx.compact_disabled || state.window.is_none() {
        return Output::Pass;
    }
    if let Some(held) = born_full(state, ctx).or_else(|| too_soon(state, ctx, 0)) {
        say_held(state, held, out);
        return Output::Pass;
    }
    if state.live_flight().is_none() {
        state.flight = Some(Flight {
            id: String::new(),
            way: Way::Native,
            turn: ctx.turn_id.map(str::to_owned),
            answered: false,
            stood: false,
            ours: false,
            orphaned: false,
        });
    }
    answer(state, ctx, Trigger::Auto, false)
}

/// Ours is recognised by the flight that waits for it; another plugin's is treated like `/compact`.
fn by_plugin(state: &mut State, ctx: &Ctx<'_>, origin: Option<&str>) -> Output {
    let name = origin.unwrap_or(PLUGIN);
    if name != PLUGIN {
        return if ctx.switches.veto_manual {
            Output::Veto(Line::VetoPlugin { name: name.to_owned() })
        } else {
            Output::NotOurs
        };
    }
    let waits = state.live_flight().is_some_and(|flight| flight.way == Way::Call);
    if waits && state.pending.is_some() && is_possible(state, ctx) {
        return answer(state, ctx, Trigger::Plugin, true);
    }
    Output::Veto(Line::VetoSpent)
}

/// `/compact`: ours only with the nonce that is pending.
fn by_command(state: &mut State, ctx: &Ctx<'_>, instructions: Option<&str>) -> Output {
    let words = instructions.unwrap_or_default().trim();
    let nonce = words
        .strip_prefix(RESET_WORD)
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map(str::trim);
    if let Some(nonce) = nonce {
        let waits = state
            .live_flight()
            .is_some_and(|flight| matches!(&flight.way, Way::Command { nonce: own } if own == nonce));
        if waits && state.pending.is_some() && is_possible(state, ctx) {
            return answer(state, ctx, Trigger::Manual, true);
        }
        // No person types this: it is a reset of ours that is over, and a summary in its place would cost the window.
        if ctx.switches.reset {
            return Output::Veto(Line::VetoSpent);
        }
    }
    if !ctx.switches.veto_manual {
        return Output::NotOurs;
    }
    let prune = words
        .split_whitespace()
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("prune"));
    Output::Veto(Line::VetoManual { prune })
}

fn answer(state: &mut State, ctx: &Ctx<'_>, trigger: Trigger, asked_by_us: bool) -> Output {
    let choice = *state.choice.get_or_insert(ctx.choice);
    let Some(window) = &state.window else {
        return Output::Pass;
    };
    let next = WindowId::new(window.id.session_id.clone(), window.id.ordinal.saturating_add(1));
    if let Some(flight) = state.flight.as_mut() {
        flight.answered = true;
    }
    let by_mark = state
        .pending
        .as_ref()
        .is_some_and(|pending| pending.by == Requester::Mark);
    Output::AnswerReset {
        window: next,
        choice,
        trigger,
        asked_by_us,
        is_automatic: !asked_by_us || by_mark,
        turn_is_open: !asked_by_us || ctx.turn_running,
    }
}

/// The new window's boot cannot be built: our own reset waits, the client's own compaction goes on.
pub(super) fn unbuildable(state: &mut State, reason: &str, out: &mut Vec<Output>) {
    let reason = reason.to_owned();
    let asked_by_us = state.pending.is_some()
        && state
            .live_flight()
            .is_some_and(|flight| flight.way != Way::Native && flight.answered);
    if asked_by_us {
        if let Some(flight) = state.flight.as_mut() {
            flight.answered = false;
        }
        // The client shows no reason for a compaction that a plugin asked for and a plugin vetoed.
        let line = Line::ResetWaitsForBoot { reason };
        if let Some(window) = state.window.as_mut() {
            say_once_a_window(window, line.clone(), out);
        }
        out.push(Output::Veto(line));
        return;
    }
    state.flight = None;
    out.push(Output::Say(Line::SummaryInstead { reason }));
    out.push(Output::Pass);
}

/// `effect.settled`.
pub(super) fn settled(
    state: &mut State,
    ctx: &Ctx<'_>,
    id: &str,
    result: Result<Option<&str>, &str>,
    out: &mut Vec<Output>,
) {
    if settle_submission(state, id, &result, out) {
        return;
    }
    let Some(flight) = state
        .flight
        .clone()
        .filter(|flight| !flight.id.is_empty() && flight.id == id)
    else {
        return;
    };
    match result {
        Err(error) => rejected(state, ctx, &flight, error, out),
        // Vetoed: everything as it was, the request owed.
        Ok(Some(_skip)) => {
            state.flight = None;
            state.rests = true;
        }
        Ok(None) => resolved(state, ctx, &flight, out),
    }
}

/// The outcome of submitting the close-out turn. True: it was that.
fn settle_submission(state: &mut State, id: &str, result: &Result<Option<&str>, &str>, out: &mut Vec<Output>) -> bool {
    let Some(pending) = state.pending.as_mut() else {
        return false;
    };
    let Phase::Submitted { effect, accepted } = &mut pending.phase else {
        return false;
    };
    if effect != id {
        return false;
    }
    let error = match result {
        Ok(None) => {
            *accepted = true;
            return true;
        }
        Ok(Some(skip)) => (*skip).to_owned(),
        Err(error) => (*error).to_owned(),
    };
    drop_pending(state, Line::CloseOutNotSubmitted { error }, out);
    true
}

fn resolved(state: &mut State, ctx: &Ctx<'_>, flight: &Flight, out: &mut Vec<Output>) {
    // A command resolves whether it compacted or not; only the event that follows tells. Without it the request is
    // owed.
    if !flight.stood && matches!(flight.way, Way::Command { .. }) {
        state.flight = None;
        return;
    }
    let ours = if flight.stood { flight.ours } else { flight.answered };
    if !flight.stood {
        state.settled_ahead = true;
        stood(state, ctx, None, Some(ours));
    }
    state.flight = None;
    if !ours {
        drop_pending(state, Line::Replaced, out);
    }
}

/// Why the client rejected a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rejection {
    TurnRuns,
    Aborted,
    SwitchedOff,
    Headless,
    Other,
}

/// By the client's own words; its rejections have no codes.
fn classify(error: &str) -> Rejection {
    let error = error.to_ascii_lowercase();
    if error.contains("turn is running") || error.contains("between turns") {
        Rejection::TurnRuns
    } else if error.contains("abort") {
        Rejection::Aborted
    } else if error.contains("switched off") {
        Rejection::SwitchedOff
    } else if error.contains("headless") {
        Rejection::Headless
    } else {
        Rejection::Other
    }
}

fn rejected(state: &mut State, ctx: &Ctx<'_>, flight: &Flight, error: &str, out: &mut Vec<Output>) {
    state.flight = None;
    if flight.stood {
        return;
    }
    match classify(error) {
        // A prompt typed ahead: the reset stays owed, silently.
        Rejection::TurnRuns => {}
        Rejection::Aborted => {
            if state
                .pending
                .as_ref()
                .is_some_and(|pending| pending.by == Requester::Person)
            {
                drop_pending(state, Line::ResetAborted, out);
            }
            state.rests = true;
        }
        Rejection::SwitchedOff => {
            state.refused = true;
            state.said.insert(Line::CompactDisabled.key().to_owned());
            state.pending = None;
            out.push(Output::Say(Line::CompactDisabled));
        }
        Rejection::Headless if flight.way == Way::Call => {
            state.by_command = true;
            decide(state, ctx, flight.turn.clone(), out);
        }
        // In a headless session the command was the last way there is.
        Rejection::Headless | Rejection::Other if ctx.headless || state.by_command => {
            state.refused = true;
            state.pending = None;
            let error = error.to_owned();
            say_once(state, Line::Refused { error }, out);
        }
        Rejection::Headless | Rejection::Other => {
            let error = error.to_owned();
            if let Some(window) = state.window.as_mut() {
                say_once_a_window(window, Line::ResetFailed { error }, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_rejections_are_told_apart() {
        let running = "$.session.compact: a turn is running (abc); the conversation compacts between turns, so call it from turn.complete or later";
        assert_eq!(classify(running), Rejection::TurnRuns);
        for running in [
            "a turn is in flight; the conversation compacts between turns",
            "an external turn is driving the conversation; it compacts between turns",
        ] {
            assert_eq!(classify(running), Rejection::TurnRuns, "{running}");
        }
        let off = "$.session.compact: compaction is switched off in this session (DISABLE_COMPACT), for /compact and plugins alike";
        assert_eq!(classify(off), Rejection::SwitchedOff);
        assert_eq!(classify("aborted"), Rejection::Aborted);
        assert_eq!(classify("AbortError: This operation was aborted"), Rejection::Aborted);
        let headless = "notesoup: $.session.compact: not available in a headless (-p / SDK) session yet: compaction here runs inside a turn";
        assert_eq!(classify(headless), Rejection::Headless);
        assert_eq!(classify("the hook ran out of time"), Rejection::Other);
    }
}
