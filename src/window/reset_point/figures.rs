//! What a derivation is made from and what comes of it.

use serde::{Deserialize, Serialize};

use super::{not_negative, tokens};
use crate::window::options::MarginField;
use crate::wire;

/// What marks are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// `context.tokens`.
    Tokens,
    /// `context.percent`, 0 to 100.
    Percent,
}

/// The marks of a window, all in the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// What the figures are.
    pub unit: Unit,
    /// Where the client compacts by itself.
    pub point: f64,
    /// Where our reset is due; above 0 and not above `point`.
    pub reset_at: f64,
    /// Where the model is warned; none when the runway leaves no room for it.
    pub warn_at: Option<f64>,
}

impl Marks {
    /// The context's fill in the unit of these marks: `tokens` (or, when that is no number, the share of the window
    /// that `percent` names), or `percent`. None when the client has no figure yet, as right after a compaction.
    pub fn fill(&self, usage: &wire::Usage) -> Option<f64> {
        let percent = not_negative(usage.percent.as_ref());
        match self.unit {
            Unit::Percent => percent,
            Unit::Tokens => not_negative(usage.tokens.as_ref())
                .or_else(|| Some(percent? / 100.0 * tokens(usage.window.as_ref())? as f64)),
        }
    }
}

/// Which source gave the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `context.breakdown.autoCompactThreshold`.
    BreakdownThreshold,
    /// `context.autoCompactThreshold`.
    ContextThreshold,
    /// The window less the reserves.
    Computed,
    /// The window less the output reserve: automatic compaction is off.
    AutoCompactOff,
    /// A percent of an unknown window.
    Percent,
}

impl Source {
    /// What it is, in words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::BreakdownThreshold => "the client's threshold (context.breakdown.autoCompactThreshold)",
            Self::ContextThreshold => "the client's threshold (context.autoCompactThreshold)",
            Self::Computed => "computed from the window",
            Self::AutoCompactOff => "computed from the window, automatic compaction being off",
            Self::Percent => "percent fallback, no window being known",
        }
    }
}

/// Where a configured window was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfiguredBy {
    /// The variable `CLAUDE_CODE_AUTO_COMPACT_WINDOW`.
    Variable,
    /// `modelSettings.<model>.autoCompactWindow`.
    ModelSetting,
    /// `autoCompactWindow`.
    Setting,
}

/// Why there are no marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoMarks {
    /// `DISABLE_COMPACT` is set.
    CompactDisabled,
    /// The client gave no usage.
    NoUsage,
    /// Neither a threshold nor a window nor a percent is known.
    Unresolvable,
    /// The margin is not smaller than the point.
    NoRoom,
}

/// A line for the person, to be said once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Names the line, so that it is said once: `margin`, `no_point`, …, with what it is about behind a colon.
    pub key: String,
    /// The line.
    pub text: String,
}

impl Notice {
    /// Whether this line says the same: that one is about the same margin of the client's settings.
    pub fn is_said_in(&self, line: &str) -> bool {
        let fields = [MarginField::Reset, MarginField::Runway].map(MarginField::client_key);
        let is_named = |field: &str| self.text.contains(field) && line.contains(field);
        self.key.starts_with("margin:") && fields.into_iter().any(is_named)
    }
}

/// Every figure that the point was made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// `context.window`, in tokens.
    pub model_window: Option<u64>,
    /// `context.breakdown.rawMaxTokens`, in tokens.
    pub raw_max_tokens: Option<u64>,
    /// The configured window, in tokens, as it counts.
    pub configured_window: Option<u64>,
    /// Where the configured window was read.
    pub configured_by: Option<ConfiguredBy>,
    /// The smallest of the three, in tokens.
    pub effective_window: Option<u64>,
    /// Kept free for a response, in tokens.
    pub output_reserve: u64,
    /// The threshold that the client reports, in tokens.
    pub reported_threshold: Option<u64>,
    /// Whether the client compacts by itself.
    pub auto_compact: bool,
    /// The client's percent variable, where it counts.
    pub percent_override: Option<f64>,
    /// The point that the percent variable gives, in tokens.
    pub percent_point: Option<u64>,
    /// The margin between point and reset, in tokens.
    pub reset_margin: u64,
    /// The runway between warning and reset, in tokens.
    pub warning_runway: u64,
}

/// How the marks came about, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Derivation {
    /// Which source gave the point.
    pub source: Option<Source>,
    /// The marks.
    pub marks: Option<Marks>,
    /// Why there are none.
    pub none: Option<NoMarks>,
    /// What everything was made from.
    pub figures: Figures,
    /// The derivation, step by step, one sentence each.
    pub steps: Vec<String>,
    /// Lines to say once.
    pub notices: Vec<Notice>,
}
