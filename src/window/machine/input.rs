//! What can happen to the machine, and what it is told beside.

use crate::window::ordinal::Standing;
use crate::window::reset_point::Marks;

/// The tag that every text of the warning carries, so that a row of the transcript tells that a window was warned.
pub const WARNING_TAG: &str = "notesoup:warning";

/// The tag that every text of the close-out carries, and by which a close-out turn is recognised.
pub const CLOSE_OUT_TAG: &str = "notesoup:close-out";

/// The word in front of the nonce in `/compact notesoup-reset <nonce>`.
pub const RESET_WORD: &str = "notesoup-reset";

/// The plugin's name, as `next.origin.plugin` has it.
pub const PLUGIN: &str = "notesoup";

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// `classic.SessionStart`, or the first event of a session whose start was missed ([`BoundBy::Lazy`]).
    SessionBound {
        /// Why.
        by: BoundBy,
        /// The session.
        session_id: String,
        /// What stands in its transcript.
        standing: Standing,
        /// For [`BoundBy::Compact`]: whether what stands is our reset, where the transcript can tell.
        ours: Option<bool>,
    },
    /// The transcript was read again: finds a rewind. To be given before [`Self::BootWanted`], [`Self::PromptSubmitted`] and
    /// [`Self::CompactAsked`] when the transcript is at hand.
    Reconciled {
        /// What stands.
        standing: Standing,
    },
    /// The boot that the last outputs asked for could not be built or delivered.
    BootFailed {
        /// Why, in half a line.
        reason: String,
    },
    /// `classic.UserPromptSubmit`, for a boot that is still missing.
    BootWanted,
    /// `classic.UserPromptSubmit`, for a warning that the last step earned.
    PromptSubmitted,
    /// `turn.start`.
    TurnStarted {
        /// The turn.
        id: Option<String>,
        /// Its text; a close-out turn's carries [`CLOSE_OUT_TAG`].
        text: String,
    },
    /// `classic.PostToolBatch`.
    ToolBatch,
    /// `classic.Stop`.
    Stop,
    /// `turn.complete`.
    TurnCompleted {
        /// The turn.
        id: Option<String>,
        /// How it ended.
        end: TurnEnd,
    },
    /// `session.measure`.
    Measured,
    /// `session.compact`.
    CompactAsked {
        /// Who compacts.
        trigger: Trigger,
        /// The text behind `/compact`, or a plugin's.
        instructions: Option<String>,
        /// The plugin that caused it (`next.origin.plugin`).
        origin: Option<String>,
    },
    /// The answer that [`super::Output::AnswerReset`] asked for cannot be given, since the new window's boot cannot be
    /// built.
    ResetUnbuildable {
        /// Why, in half a line.
        reason: String,
    },
    /// `effect.settled`.
    EffectSettled {
        /// Which effect.
        id: String,
        /// True: the call resolved.
        ok: bool,
        /// Why it rejected.
        error: Option<String>,
        /// Why it was skipped.
        skip: Option<String>,
    },
    /// `command.run` of `/fresh-window`.
    FreshWindowCommand {
        /// The text behind it.
        args: String,
    },
    /// `tool.call` of `fresh_window`.
    FreshWindowTool,
    /// `session.end`.
    SessionEnded,
    /// `session.start`: the module was loaded (again).
    Reloaded,
}

/// Why a session was bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// A new session.
    Startup,
    /// An old one, taken up again.
    Resume,
    /// `/clear`.
    Clear,
    /// `/branch`.
    Fork,
    /// A compaction stands.
    Compact,
    /// No start was heard; an event names a session that is not known here.
    Lazy,
}

impl BoundBy {
    /// By the `source` of `classic.SessionStart`; one that is not known counts as a resume, which delivers a boot only
    /// where none stands.
    pub fn from_source(source: &str) -> Self {
        match source {
            "startup" => Self::Startup,
            "clear" => Self::Clear,
            "fork" => Self::Fork,
            "compact" => Self::Compact,
            _ => Self::Resume,
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model answered.
    Answer,
    /// The person interrupted it.
    Aborted,
    /// The model refused, or the API failed.
    Failed,
}

impl TurnEnd {
    /// By the `reason` of `turn.complete`; one that is not known counts as failed.
    pub fn from_reason(reason: &str) -> Self {
        match reason {
            "answer" => Self::Answer,
            "aborted" => Self::Aborted,
            _ => Self::Failed,
        }
    }
}

/// Who compacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// `/compact`.
    Manual,
    /// The client, at its threshold or on a prompt too long.
    Auto,
    /// A plugin.
    Plugin,
    /// Nobody yet: a result for the next compaction.
    Precompute,
}

impl Trigger {
    /// By the event's `trigger`; none for one that is not known, which is then left alone.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "manual" => Self::Manual,
            "auto" => Self::Auto,
            "plugin" => Self::Plugin,
            "precompute" => Self::Precompute,
            _ => return None,
        })
    }
}

/// What the profile's live rows want of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// A boot is delivered to each window.
    pub boot: bool,
    /// The model is warned.
    pub warning: bool,
    /// The model closes out before a reset.
    pub close_out: bool,
    /// The reset mark, `/fresh-window` and the client's automatic compaction reset the window.
    pub reset: bool,
    /// `/compact` and another plugin's compaction are vetoed.
    pub veto_manual: bool,
    /// A precomputed compaction is vetoed.
    pub veto_precompute: bool,
}

impl Switches {
    /// Those of the profile `notesoup`.
    pub const ALL: Self = Self {
        boot: true,
        warning: true,
        close_out: true,
        reset: true,
        veto_manual: true,
        veto_precompute: true,
    };
    /// Those of a profile that leaves windows alone.
    pub const NONE: Self = Self {
        boot: false,
        warning: false,
        close_out: false,
        reset: false,
        veto_manual: false,
        veto_precompute: false,
    };
}

/// What this event says of the marks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarksNow {
    /// The event carried no usage; the marks as last derived count.
    NotAsked,
    /// There are none.
    Absent,
    /// They are these.
    Are(Marks),
}

/// What the machine is told beside the event. Plain values: the machine reads no clock, no chance and no file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ctx<'a> {
    /// The marks.
    pub marks: MarksNow,
    /// The context's fill in the marks' unit ([`Marks::fill`]).
    pub fill: Option<f64>,
    /// What the profile wants.
    pub switches: Switches,
    /// [`crate::window::WindowOptions::min_turns_between_resets`].
    pub min_turns: u64,
    /// Turns of the main conversation that were completed; with [`Input::TurnCompleted`] the one at hand included.
    pub completed_turns: u64,
    /// Whether a turn of the main conversation runs.
    pub turn_running: bool,
    /// The running turn.
    pub turn_id: Option<&'a str>,
    /// A `-p` or SDK run.
    pub headless: bool,
    /// `DISABLE_COMPACT` is set.
    pub compact_disabled: bool,
    /// A subagent's loop raised the event.
    pub is_subagent: bool,
    /// The session.
    pub session_id: Option<&'a str>,
    /// A fresh random word, for a reset by command.
    pub nonce: &'a str,
    /// A fresh random index into the forced-reset pool.
    pub choice: usize,
}
