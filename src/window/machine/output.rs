//! What the machine wants done.

use std::fmt;

use super::input::Trigger;
use super::state::Requester;
use crate::window::ordinal::WindowId;

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Deliver the boot of this window with the event at hand (`additionalContext`). Where that fails:
    /// [`super::Input::BootFailed`].
    Boot {
        /// The window.
        window: WindowId,
        /// The window before it in this session.
        previous: Option<WindowId>,
        /// The paragraph of the forced-reset pool behind the boot, when a reset of ours made the window.
        paragraph: Option<usize>,
    },
    /// Give the model the warning with the event at hand.
    Warn {
        /// The window that is warned.
        window: WindowId,
    },
    /// Give the model the close-out with the event at hand; it goes on in the same turn.
    CloseOut {
        /// The window that is closed.
        window: WindowId,
        /// Who wants the reset.
        by: Requester,
    },
    /// The effect `compact`.
    Compact {
        /// Its id.
        id: String,
    },
    /// The effect `run_command` of `/compact`.
    CompactByCommand {
        /// Its id.
        id: String,
        /// Its arguments, the nonce among them.
        args: String,
    },
    /// The effect `submit_prompt` with the close-out's text.
    SubmitCloseOut {
        /// Its id.
        id: String,
    },
    /// Answer the compaction at hand with a reset. Where the new window's boot cannot be built:
    /// [`super::Input::ResetUnbuildable`].
    AnswerReset {
        /// The window that it makes.
        window: WindowId,
        /// The paragraph of the forced-reset pool for it.
        choice: usize,
        /// Who compacts.
        trigger: Trigger,
        /// True: of our own asking; false: the client's own compaction, in place of its summary.
        asked_by_us: bool,
        /// True: nobody asked for it; the mark or the client did.
        is_automatic: bool,
        /// True: a turn runs, or its prompt set the compaction off, so its words must come along.
        turn_is_open: bool,
    },
    /// Refuse the compaction at hand with this line.
    Veto(Line),
    /// Leave the compaction at hand to the client.
    Pass,
    /// Nothing of ours; the next row decides.
    NotOurs,
    /// A line to the person. Already filtered: what is said once comes once.
    Say(Line),
    /// The command's output, one line each.
    CommandLines(Vec<Line>),
    /// The tool's result.
    ToolAnswer {
        /// What the model reads.
        line: Line,
        /// True on a refusal.
        is_error: bool,
    },
}

/// A sentence for the person or the model. The key names it in the config's texts.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Too few turns since the last reset.
    TooSoon {
        /// Completed since.
        done: u64,
        /// How many there must be.
        needed: u64,
    },
    /// The window began above its mark.
    BornFull {
        /// Where it began.
        fill: f64,
        /// Its mark.
        reset_at: f64,
    },
    /// `DISABLE_COMPACT`.
    CompactDisabled,
    /// The client refused both ways.
    Refused {
        /// What it said.
        error: String,
    },
    /// The client failed to reset, for a reason that may pass.
    ResetFailed {
        /// What it said.
        error: String,
    },
    /// The boot could not be built; the reset waits.
    ResetWaitsForBoot {
        /// Why.
        reason: String,
    },
    /// The boot could not be built; the client summarises.
    SummaryInstead {
        /// Why.
        reason: String,
    },
    /// The boot of this window could not be built.
    BootMissing {
        /// Why.
        reason: String,
    },
    /// The close-out turn was interrupted.
    CloseOutAborted,
    /// The close-out turn failed.
    CloseOutFailed,
    /// The close-out turn could not be submitted.
    CloseOutNotSubmitted {
        /// What the client said.
        error: String,
    },
    /// The reset was interrupted.
    ResetAborted,
    /// Another compaction stands in place of the reset.
    Replaced,
    /// The profile has no reset any more.
    ResetSwitchedOff,
    /// The close-out turn's timer was lost in a reload.
    WaitsForNextTurn,
    /// `/fresh-window` while idle.
    Begun,
    /// `/fresh-window` while a turn runs.
    Queued,
    /// `/fresh-window` twice.
    AlreadyPending {
        /// Whose request it is.
        by: Requester,
    },
    /// `/fresh-window` while the reset runs.
    AlreadyRunning,
    /// `/fresh-window` in a headless run.
    Headless,
    /// `/fresh-window` in a profile without reset.
    NoReset,
    /// `/fresh-window` before any session is bound.
    Unbound,
    /// `/fresh-window` with another word.
    UnknownArgument {
        /// The word.
        word: String,
    },
    /// `/fresh-window cancel`.
    Cancelled,
    /// `/fresh-window cancel` with an automatic reset due.
    CancelAutomatic,
    /// `/fresh-window cancel` with the reset on its way.
    CancelTooLate,
    /// `/fresh-window cancel` with nothing to cancel.
    NothingToCancel,
    /// The tool: the reset follows.
    ToolQueued,
    /// The tool, called by a subagent.
    ToolSubagent,
    /// `/compact` is vetoed.
    VetoManual {
        /// True: `/compact prune`, which another profile has.
        prune: bool,
    },
    /// Another plugin's compaction is vetoed.
    VetoPlugin {
        /// Its name.
        name: String,
    },
    /// A precomputed compaction is vetoed.
    VetoPrecompute,
    /// A reset that was done or dropped meanwhile.
    VetoSpent,
}

impl Line {
    /// The name of this line, stable: what is said once is remembered by it.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::TooSoon { .. } => "too_soon",
            Self::BornFull { .. } => "born_full",
            Self::CompactDisabled => "compact_disabled",
            Self::Refused { .. } => "refused",
            Self::ResetFailed { .. } => "reset_failed",
            Self::ResetWaitsForBoot { .. } => "reset_waits_for_boot",
            Self::SummaryInstead { .. } => "summary_instead",
            Self::BootMissing { .. } => "boot_missing",
            Self::CloseOutAborted => "close_out_aborted",
            Self::CloseOutFailed => "close_out_failed",
            Self::CloseOutNotSubmitted { .. } => "close_out_not_submitted",
            Self::ResetAborted => "reset_aborted",
            Self::Replaced => "replaced",
            Self::ResetSwitchedOff => "reset_switched_off",
            Self::WaitsForNextTurn => "waits_for_next_turn",
            Self::Begun => "begun",
            Self::Queued => "queued",
            Self::AlreadyPending { .. } => "already_pending",
            Self::AlreadyRunning => "already_running",
            Self::Headless => "headless",
            Self::NoReset => "no_reset",
            Self::Unbound => "unbound",
            Self::UnknownArgument { .. } => "unknown_argument",
            Self::Cancelled => "cancelled",
            Self::CancelAutomatic => "cancel_automatic",
            Self::CancelTooLate => "cancel_too_late",
            Self::NothingToCancel => "nothing_to_cancel",
            Self::ToolQueued => "tool_queued",
            Self::ToolSubagent => "tool_subagent",
            Self::VetoManual { .. } => "veto_manual",
            Self::VetoPlugin { .. } => "veto_plugin",
            Self::VetoPrecompute => "veto_precompute",
            Self::VetoSpent => "veto_spent",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSoon { done, needed } => write!(
                f,
                "no automatic reset: {done} turns completed since the last one, {needed} are needed; Claude's own compaction stands in meanwhile"
            ),
            Self::BornFull { fill, reset_at } => write!(
                f,
                "no automatic reset in this window: it began at {fill}, above its mark at {reset_at}; a smaller boot or margin helps"
            ),
            Self::CompactDisabled => f.write_str(
                "DISABLE_COMPACT is set, so no window can be reset: start Claude without it, or use /clear",
            ),
            Self::Refused { error } => write!(
                f,
                "this session refuses to be reset ({error}); Claude's own compaction stands in"
            ),
            Self::ResetFailed { error } => write!(
                f,
                "the reset failed ({error}): nothing changed, and the next turn tries again"
            ),
            Self::ResetWaitsForBoot { reason } => write!(
                f,
                "no reset: the new window's boot cannot be built ({reason}); the window stays, and the next turn tries again"
            ),
            Self::SummaryInstead { reason } => write!(
                f,
                "Claude's own summary instead of a fresh window: its boot cannot be built ({reason})"
            ),
            Self::BootMissing { reason } => write!(
                f,
                "this window has no boot ({reason}); the next prompt tries again"
            ),
            Self::CloseOutAborted => f.write_str("close-out interrupted: the fresh window is dropped; /fresh-window asks again"),
            Self::CloseOutFailed => f.write_str("close-out failed: the fresh window is dropped; /fresh-window asks again"),
            Self::CloseOutNotSubmitted { error } => write!(
                f,
                "the close-out turn could not be started ({error}): the fresh window is dropped; /fresh-window asks again"
            ),
            Self::ResetAborted => f.write_str("reset interrupted: nothing changed; /fresh-window asks again"),
            Self::Replaced => f.write_str(
                "another compaction stands in place of the fresh window; /fresh-window asks again",
            ),
            Self::ResetSwitchedOff => f.write_str("this profile has no reset: the fresh window is dropped"),
            Self::WaitsForNextTurn => f.write_str("the fresh window follows the next turn"),
            Self::Begun => f.write_str("one turn to save notes, then a fresh window; /fresh-window cancel takes it back"),
            Self::Queued => f.write_str("a fresh window follows this turn; /fresh-window cancel takes it back"),
            Self::AlreadyPending { by: Requester::Person } => {
                f.write_str("a fresh window is asked for already; /fresh-window cancel takes it back")
            }
            Self::AlreadyPending { by: Requester::Model } => f.write_str(
                "the model has asked for a fresh window already; it follows this turn; /fresh-window cancel takes it back",
            ),
            Self::AlreadyPending { by: Requester::Mark } => {
                f.write_str("a reset is due already; it follows this turn")
            }
            Self::AlreadyRunning => f.write_str("the reset is running"),
            Self::Headless => f.write_str(
                "no turn is submitted in this kind of session: the reset comes by itself when the context reaches its mark",
            ),
            Self::NoReset => f.write_str("this profile has no fresh windows: see `notesoup config explain profile`"),
            Self::Unbound => f.write_str("no session is known yet: send a prompt first"),
            Self::UnknownArgument { word } => write!(
                f,
                "`{word}` means nothing here: /fresh-window asks for a fresh window, /fresh-window cancel takes it back"
            ),
            Self::Cancelled => f.write_str("the fresh window is taken back"),
            Self::CancelAutomatic => f.write_str(
                "the reset that is due is automatic and stays; a larger mark puts it off: see `notesoup config explain window.reset_point`",
            ),
            Self::CancelTooLate => f.write_str("the reset is running: Escape stops it"),
            Self::NothingToCancel => f.write_str("no fresh window is asked for"),
            Self::ToolQueued => f.write_str("Asked. The fresh window begins when you end this turn; end it now."),
            Self::ToolSubagent => f.write_str("Only the main conversation can ask for a fresh window."),
            Self::VetoManual { prune: false } => {
                f.write_str("this profile keeps notes instead of summaries: run /fresh-window")
            }
            Self::VetoManual { prune: true } => f.write_str(
                "this profile has no prune: run /fresh-window, or choose the profile `both` or `compact-shaper`",
            ),
            Self::VetoPlugin { name } => write!(
                f,
                "the plugin `{name}` wants a summary, and this profile keeps notes instead: run /fresh-window"
            ),
            Self::VetoPrecompute => f.write_str("no summary ahead of time: a fresh window takes its place"),
            Self::VetoSpent => f.write_str("that reset is done or dropped already: run /fresh-window for another"),
        }
    }
}
