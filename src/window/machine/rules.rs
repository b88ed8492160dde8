//! What several transitions share: whether a reset may come, whether one is due, and how one is decided or dropped.

use super::input::{Ctx, MarksNow, RESET_WORD};
use super::output::{Line, Output};
use super::state::{Flight, Pending, Phase, Requester, State, Way, Window};
use crate::window::reset_point::Marks;

/// Why no automatic reset may come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    /// Compaction, or the profile's reset, is switched off, there are no marks, or the client refuses.
    Never,
    /// Too few turns since the last one.
    TooSoon { done: u64, needed: u64 },
    /// The window began above its mark.
    BornFull { fill: f64, reset_at: f64 },
}

impl Held {
    /// The line for the person; none where the reason was said elsewhere.
    pub(super) const fn line(self) -> Option<Line> {
        match self {
            Self::Never => None,
            Self::TooSoon { done, needed } => Some(Line::TooSoon { done, needed }),
            Self::BornFull { fill, reset_at } => Some(Line::BornFull { fill, reset_at }),
        }
    }
}

/// The marks that count now.
pub(super) fn marks(state: &State, ctx: &Ctx<'_>) -> Option<Marks> {
    match ctx.marks {
        MarksNow::NotAsked => state.marks,
        MarksNow::Absent => None,
        MarksNow::Are(marks) => Some(marks),
    }
}

/// Whether resets of ours are possible at all here.
pub(super) fn is_possible(state: &State, ctx: &Ctx<'_>) -> bool {
    ctx.switches.reset && !ctx.compact_disabled && !state.refused
}

/// Whether the window at hand began above its mark.
pub(super) fn born_full(state: &State, ctx: &Ctx<'_>) -> Option<Held> {
    let fill = state.window.as_ref()?.first_fill?;
    let reset_at = marks(state, ctx)?.reset_at;
    (fill >= reset_at).then_some(Held::BornFull { fill, reset_at })
}

/// Whether too few turns were completed since the last reset. `running` is 1 where the turn that runs now will have
/// been completed by then.
pub(super) fn too_soon(state: &State, ctx: &Ctx<'_>, running: u64) -> Option<Held> {
    let last = state.last_reset?;
    // A courier that was loaded again may count from 0.
    let done = ctx.completed_turns.checked_sub(last).unwrap_or(ctx.completed_turns);
    (done + running < ctx.min_turns).then_some(Held::TooSoon {
        done,
        needed: ctx.min_turns,
    })
}

/// Whether the mark may cause a reset.
pub(super) fn may_reset_by_mark(state: &State, ctx: &Ctx<'_>, running: u64) -> Result<(), Held> {
    if !is_possible(state, ctx) || marks(state, ctx).is_none() {
        return Err(Held::Never);
    }
    match born_full(state, ctx).or_else(|| too_soon(state, ctx, running)) {
        Some(held) => Err(held),
        None => Ok(()),
    }
}

/// Whether the fill is surely below the warning mark.
pub(super) fn is_below_the_warning(state: &State, ctx: &Ctx<'_>) -> bool {
    let warn_at = marks(state, ctx).and_then(|marks| marks.warn_at);
    warn_at.zip(ctx.fill).is_some_and(|(warn_at, fill)| fill < warn_at)
}

/// Whether the fill has reached the reset mark; none when either is unknown.
pub(super) fn reached_reset(state: &State, ctx: &Ctx<'_>) -> Option<bool> {
    Some(ctx.fill? >= marks(state, ctx)?.reset_at)
}

/// Whether the model has to close out before a reset.
pub(super) fn needs_close_out(state: &State, ctx: &Ctx<'_>) -> bool {
    ctx.switches.close_out && state.window.as_ref().is_some_and(|window| !window.closed_out)
}

/// Says a line once in this window.
pub(super) fn say_once_a_window(window: &mut Window, line: Line, out: &mut Vec<Output>) {
    if window.said.insert(line.key().to_owned()) {
        out.push(Output::Say(line));
    }
}

/// Says a line once in this session.
pub(super) fn say_once(state: &mut State, line: Line, out: &mut Vec<Output>) {
    if state.said.insert(line.key().to_owned()) {
        out.push(Output::Say(line));
    }
}

/// Says why a reset that is due is held back.
pub(super) fn say_held(state: &mut State, held: Held, out: &mut Vec<Output>) {
    if let (Some(line), Some(window)) = (held.line(), state.window.as_mut()) {
        say_once_a_window(window, line, out);
    }
}

/// Delivers the boot of this window with the event at hand, when it is missing.
pub(super) fn deliver_missing_boot(state: &mut State, ctx: &Ctx<'_>, out: &mut Vec<Output>) {
    let Some(window) = state.window.as_mut() else {
        return;
    };
    if !window.boot_missing || !ctx.switches.boot {
        return;
    }
    window.boot_missing = false;
    out.push(Output::Boot {
        window: window.id.clone(),
        previous: window.id.previous(),
        paragraph: window.paragraph,
    });
}

/// Gives the model the close-out with the event at hand.
pub(super) fn close_out(state: &mut State, by: Requester, out: &mut Vec<Output>) {
    let Some(window) = state.window.as_mut() else {
        return;
    };
    window.closed_out = true;
    // The close-out says what the warning says, so a warning behind it would be a second copy.
    window.warned = true;
    out.push(Output::CloseOut {
        window: window.id.clone(),
        by,
    });
}

/// Decides the reset that is asked for: the in-flight flag is set here, before anything is awaited.
pub(super) fn decide(state: &mut State, ctx: &Ctx<'_>, turn: Option<String>, out: &mut Vec<Output>) {
    let Some(pending) = state.pending.as_mut() else {
        return;
    };
    pending.phase = Phase::Owed;
    state.choice.get_or_insert(ctx.choice);
    state.counter += 1;
    let id = format!("reset-{}", state.counter);
    let way = if ctx.headless || state.by_command {
        let nonce = ctx.nonce.to_owned();
        out.push(Output::CompactByCommand {
            id: id.clone(),
            args: format!("{RESET_WORD} {nonce}"),
        });
        Way::Command { nonce }
    } else {
        out.push(Output::Compact { id: id.clone() });
        Way::Call
    };
    state.flight = Some(Flight {
        id,
        way,
        turn,
        answered: false,
        stood: false,
        ours: false,
        orphaned: false,
    });
}

/// Drops the request. A person's or the model's is never dropped without this line; the mark's own is void when it is
/// no longer due, and is found again when it is.
pub(super) fn drop_pending(state: &mut State, line: Line, out: &mut Vec<Output>) {
    let Some(Pending { by, gave_close_out, .. }) = state.pending.take() else {
        return;
    };
    if by == Requester::Mark {
        return;
    }
    if let Some(window) = state.window.as_mut().filter(|_| gave_close_out) {
        // What the model would save later is not saved yet.
        window.closed_out = false;
    }
    out.push(Output::Say(line));
}
