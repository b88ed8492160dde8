//! `/fresh-window`, and the model's tool of the same purpose.

use super::input::Ctx;
use super::output::{Line, Output};
use super::rules::{drop_pending, too_soon};
use super::state::{Pending, Phase, Requester, State};

/// `/fresh-window [cancel]`.
pub(super) fn command(state: &mut State, ctx: &Ctx<'_>, args: &str, out: &mut Vec<Output>) {
    let line = match args.trim() {
        "" => ask(state, ctx, out),
        "cancel" => cancel(state),
        word => Line::UnknownArgument { word: word.to_owned() },
    };
    out.push(Output::CommandLines(vec![line]));
}

fn ask(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) -> Line {
    if ctx.compact_disabled {
        return Line::CompactDisabled;
    }
    if !ctx.switches.reset {
        return Line::NoReset;
    }
    if ctx.headless {
        return Line::Headless;
    }
    if state.window.is_none() {
        return Line::Unbound;
    }
    if state.live_flight().is_some_and(|flight| !flight.orphaned) {
        return Line::AlreadyRunning;
    }
    match &state.pending {
        Some(pending) if pending.by != Requester::Mark => return Line::AlreadyPending { by: pending.by },
        // The turn at whose end it comes runs already.
        Some(_) if ctx.turn_running => return Line::AlreadyPending { by: Requester::Mark },
        _ => {}
    }
    // The person may try again what the client refused before.
    state.refused = false;
    if ctx.turn_running {
        state.pending = Some(Pending {
            by: Requester::Person,
            phase: Phase::AtStop { waited: false },
            gave_close_out: false,
        });
        return Line::Queued;
    }
    state.counter += 1;
    let effect = format!("close-out-{}", state.counter);
    state.pending = Some(Pending {
        by: Requester::Person,
        phase: Phase::Submitted {
            effect: effect.clone(),
            accepted: false,
        },
        gave_close_out: false,
    });
    out.push(Output::SubmitCloseOut { id: effect });
    Line::Begun
}

fn cancel(state: &mut State) -> Line {
    if state.live_flight().is_some_and(|flight| !flight.orphaned) {
        return Line::CancelTooLate;
    }
    match &state.pending {
        None => Line::NothingToCancel,
        Some(pending) if pending.by == Requester::Mark => Line::CancelAutomatic,
        Some(_) => {
            // Said by the command's own output.
            drop_pending(state, Line::Cancelled, &mut Vec::new());
            Line::Cancelled
        }
    }
}

/// The tool `fresh_window`: the reset follows the turn that the model is in.
pub(super) fn tool(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    let (line, is_error) = match ask_by_tool(state, ctx) {
        Ok(line) => (line, false),
        Err(line) => (line, true),
    };
    out.push(Output::ToolAnswer { line, is_error });
}

fn ask_by_tool(state: &mut State, ctx: &Ctx<'_>) -> Result<Line, Line> {
    if ctx.compact_disabled {
        return Err(Line::CompactDisabled);
    }
    if !ctx.switches.reset {
        return Err(Line::NoReset);
    }
    if state.window.is_none() {
        return Err(Line::Unbound);
    }
    if state.refused {
        let error = "both ways were refused".to_owned();
        return Err(Line::Refused { error });
    }
    if state.pending.is_some() {
        return Ok(Line::ToolQueued);
    }
    if let Some(line) = too_soon(state, ctx, 1).and_then(super::rules::Held::line) {
        return Err(line);
    }
    state.pending = Some(Pending {
        by: Requester::Model,
        phase: Phase::AtStop { waited: false },
        gave_close_out: false,
    });
    Ok(Line::ToolQueued)
}
