//! What happens to a window, as one pure reducer: [`step`] takes the state, what happened and what is known beside, and
//! gives the new state and what is to be done. [`watch`] says when the courier has to ask again.
//!
//! # Transitions
//!
//! "Due" is: the fill has reached the reset mark, a reset is possible here (compaction and the profile's reset are on,
//! the client refused neither way), enough turns were completed since the last one, and the window did not begin above
//! its mark. The request (`pending`) is in one of four phases; `–` means nothing happens.
//!
//! | input | no request | submitted | close-out turn | at stop | owed |
//! | --- | --- | --- | --- | --- | --- |
//! | prompt submitted | boot again if it is missing; warn at the mark | boot | boot | as without | as without |
//! | tool batch | warn at the mark | – | – | warn at the mark | warn at the mark |
//! | turn started | – | its own turn → close-out turn | – | its own turn → close-out turn | – |
//! | stop | due → close out, at stop (mark) | – | – | close out if not yet | close out if not yet |
//! | turn completed, answered | due → at stop (mark), the next stop closes out; closed out already → decide | accepted → at stop | its own → decide | closed out, or waited a turn → decide | decide |
//! | turn completed, interrupted or failed | – | interrupted → dropped, said | its own → dropped, said | mark: stays; else dropped, said | – |
//! | measured, no turn runs | due and closed out → decide | – | – | – | decide, unless the last try of this turn was skipped or interrupted |
//! | `/fresh-window`, idle | submit a close-out turn | says so | says so | mark: submit; else says so | mark: submit; else says so |
//! | `/fresh-window`, busy | at stop (person) | says so | says so | says so | says so |
//! | `/fresh-window cancel` | says so | dropped, said | dropped, said | mark: says so; else dropped, said | mark: says so; else dropped, said |
//! | tool `fresh_window` | at stop (model) | asked already | asked already | asked already | asked already |
//! | a reset of ours stands | next window | next window, request met | the same | the same | the same |
//! | another compaction stands | next window | next window, request kept | the same | next window; mark: void, else kept | next window; mark: void, else at stop |
//! | session ended, or another bound | forgotten | forgotten | forgotten | forgotten | forgotten |
//!
//! Deciding sets the flight before anything is awaited; one flight at a time:
//!
//! | input | no flight | called | by command | the client's own |
//! | --- | --- | --- | --- | --- |
//! | compaction, ours by call | veto (spent) | answer | veto (spent) | veto (spent) |
//! | compaction, `/compact notesoup-reset <nonce>` | veto (spent) | veto (spent) | its own nonce → answer | veto (spent) |
//! | compaction, automatic | answer; held back: leave to the client, said once a window | answer | answer | answer |
//! | compaction, `/compact`, another plugin's, ahead of time | by the profile: veto, or the next row | the same | the same | the same |
//! | boot of the answer cannot be built | leave to the client, said | veto, said once a window, request owed | the same | leave to the client, said |
//! | effect resolved | – | next window if not counted yet; not ours → dropped, said | not counted → owed | – |
//! | effect skipped | – | owed | owed | – |
//! | effect rejected: a turn runs | – | owed, silently | owed, silently | – |
//! | effect rejected: aborted | – | person's → dropped, said; else owed | the same | – |
//! | effect rejected: compaction is off | – | void, said | void, said | – |
//! | effect rejected: headless | – | by command at once | refused: void, said once | – |
//! | effect rejected: anything else | – | owed, said once a window | headless: refused; else owed, said once a window | – |
//! | later turn completed, loaded again | – | forgotten, request owed | forgotten, request owed | forgotten |
//!
//! A subagent's events change nothing, and its compaction is left to the client.

mod command;
mod compaction;
mod input;
mod output;
mod rules;
mod session;
mod state;
mod turn;

pub use input::{
    BoundBy, CLOSE_OUT_TAG, Ctx, Input, MarksNow, PLUGIN, RESET_WORD, Switches, Trigger, TurnEnd, WARNING_TAG,
};
pub use output::{Line, Output};
pub use state::{Flight, Pending, Phase, Requester, STATE_VERSION, State, Way, Window};

use super::ordinal::WindowId;
use super::reset_point::Unit;
use crate::wire;

/// Takes one event in.
pub fn step(mut state: State, input: &Input, ctx: &Ctx<'_>) -> (State, Vec<Output>) {
    let mut out = Vec::new();
    if ctx.is_subagent {
        from_subagent(input, &mut out);
        return (state, out);
    }
    if ctx.marks != MarksNow::NotAsked {
        state.marks = rules::marks(&state, ctx);
    }
    if !matches!(input, Input::SessionBound { .. } | Input::SessionEnded) {
        bind_unheard(&mut state, ctx);
    }
    apply(&mut state, input, ctx, &mut out);
    tracing::debug!(
        ?input,
        fill = ctx.fill,
        warn_at = state.marks.and_then(|marks| marks.warn_at),
        reset_at = state.marks.map(|marks| marks.reset_at),
        completed_turns = ctx.completed_turns,
        window = state.window.as_ref().map(|window| window.id.to_string()),
        pending = ?state.pending,
        ?out,
        "window"
    );
    (state, out)
}

fn apply(state: &mut State, input: &Input, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    match input {
        Input::SessionBound {
            by,
            session_id,
            standing,
            ours,
        } => session::bound(state, ctx, *by, session_id, standing, *ours, out),
        Input::Reconciled { standing } => session::reconciled(state, ctx, standing),
        Input::BootFailed { reason } => session::boot_failed(state, reason, out),
        Input::BootWanted => rules::deliver_missing_boot(state, ctx, out),
        Input::PromptSubmitted => turn::warn(state, ctx, out),
        Input::TurnStarted { id, text } => turn::turn_started(state, id.as_deref(), text),
        Input::ToolBatch => turn::tool_batch(state, ctx, out),
        Input::Stop => turn::stop(state, ctx, out),
        Input::TurnCompleted { id, end } => turn::turn_completed(state, ctx, id.as_deref(), *end, out),
        Input::Measured => turn::measured(state, ctx, out),
        Input::CompactAsked {
            trigger,
            instructions,
            origin,
        } => compaction::compact_asked(state, ctx, *trigger, instructions.as_deref(), origin.as_deref(), out),
        Input::ResetUnbuildable { reason } => compaction::unbuildable(state, reason, out),
        Input::EffectSettled { id, ok, error, skip } => {
            let result = if *ok {
                Ok(skip.as_deref())
            } else {
                Err(error.as_deref().unwrap_or("no reason given"))
            };
            compaction::settled(state, ctx, id, result, out);
        }
        Input::FreshWindowCommand { args } => command::command(state, ctx, args, out),
        Input::FreshWindowTool => command::tool(state, ctx, out),
        Input::SessionEnded => session::forget(state),
        Input::Reloaded => session::reloaded(state, out),
    }
}

fn from_subagent(input: &Input, out: &mut Vec<Output>) {
    match input {
        Input::CompactAsked { .. } => out.push(Output::Pass),
        Input::FreshWindowTool => out.push(Output::ToolAnswer {
            line: Line::ToolSubagent,
            is_error: true,
        }),
        _ => {}
    }
}

/// A session whose start was not heard gets a window of its own, the first; what stands in its transcript corrects it
/// when it is read ([`State::needs_binding`]).
fn bind_unheard(state: &mut State, ctx: &Ctx<'_>) {
    let Some(session_id) = ctx.session_id.filter(|id| state.needs_binding(Some(id))) else {
        return;
    };
    session::forget(state);
    state.window = Some(Window::new(WindowId::new(session_id, 0)));
}

/// What the courier has to watch for from here: marks that nothing would follow are not watched, so that no process
/// starts in vain; while anything is pending every event that wakes on it does.
///
/// `ctx.completed_turns` plays no part: turns pass without a process, so a reset that comes too soon now is watched for
/// all the same.
pub fn watch(state: &State, ctx: &Ctx<'_>) -> wire::Watch {
    let pending = state.pending.is_some()
        || state.live_flight().is_some()
        || (ctx.switches.boot && state.window.as_ref().is_some_and(|window| window.boot_missing));
    let asleep = wire::Watch {
        pending,
        ..wire::Watch::default()
    };
    let (Some(marks), Some(window)) = (rules::marks(state, ctx), &state.window) else {
        return asleep;
    };
    let percent = marks.unit == Unit::Percent;
    if !rules::is_possible(state, ctx) {
        return wire::Watch { percent, ..asleep };
    }
    if window.awaits_first_fill {
        // Any figure: the first one tells whether the window began above its mark.
        return wire::Watch {
            warn_at: Some(0.0),
            reset_at: Some(0.0),
            warned_at: None,
            percent,
            // An interruption before the first figure may take the boot along.
            pending: pending || window.made_in_turn,
        };
    }
    if rules::born_full(state, ctx).is_some() {
        // Its line is said when the mark is next seen; after that nothing follows in this window.
        let said = window.said.contains("born_full");
        return wire::Watch {
            reset_at: (!said).then_some(marks.reset_at),
            percent,
            ..asleep
        };
    }
    let warn_at = marks.warn_at.filter(|_| ctx.switches.warning && !window.closed_out);
    wire::Watch {
        warn_at: warn_at.filter(|_| !window.warned),
        reset_at: Some(marks.reset_at),
        warned_at: warn_at.filter(|_| window.warned),
        percent,
        pending,
    }
}

impl State {
    /// The window that stands.
    pub fn window_id(&self) -> Option<&WindowId> {
        self.window.as_ref().map(|window| &window.id)
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
