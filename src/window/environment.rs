//! The client's own variables that move its automatic compaction.

use serde::Serialize;

/// Switches auto-compaction's threshold down to a share of the window, in percent.
pub const PCT_OVERRIDE: &str = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE";
/// The window that auto-compaction measures against, in tokens.
pub const AUTO_COMPACT_WINDOW: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";
/// The most that a response may take, in tokens; the client keeps as much free, up to 20000.
pub const MAX_OUTPUT_TOKENS: &str = "CLAUDE_CODE_MAX_OUTPUT_TOKENS";
/// Switches auto-compaction off.
pub const DISABLE_AUTO_COMPACT: &str = "DISABLE_AUTO_COMPACT";
/// Switches every compaction off, `/compact` and plugins' included.
pub const DISABLE_COMPACT: &str = "DISABLE_COMPACT";

/// The client's variables, as they stand in the session. Plain values, so that a test needs no process environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// [`PCT_OVERRIDE`].
    pub pct_override: Option<String>,
    /// [`AUTO_COMPACT_WINDOW`].
    pub auto_compact_window: Option<String>,
    /// [`MAX_OUTPUT_TOKENS`].
    pub max_output_tokens: Option<String>,
    /// [`DISABLE_AUTO_COMPACT`].
    pub disable_auto_compact: Option<String>,
    /// [`DISABLE_COMPACT`].
    pub disable_compact: Option<String>,
}

impl Environment {
    /// Reads the variables through a look-up; one that is not set gives none.
    pub fn from_lookup(look_up: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            pct_override: look_up(PCT_OVERRIDE),
            auto_compact_window: look_up(AUTO_COMPACT_WINDOW),
            max_output_tokens: look_up(MAX_OUTPUT_TOKENS),
            disable_auto_compact: look_up(DISABLE_AUTO_COMPACT),
            disable_compact: look_up(DISABLE_COMPACT),
        }
    }

    /// Whether every compaction is switched off.
    pub fn is_compact_disabled(&self) -> bool {
        is_truthy(self.disable_compact.as_deref())
    }

    /// Whether the automatic compaction is switched off by a variable.
    pub fn is_auto_compact_disabled(&self) -> bool {
        self.is_compact_disabled() || is_truthy(self.disable_auto_compact.as_deref())
    }

    /// [`PCT_OVERRIDE`] as a number in 1..=100; none when it is not set or anything else.
    pub fn percent(&self) -> Option<f64> {
        let percent: f64 = self.pct_override.as_deref()?.trim().parse().ok()?;
        (1.0..=100.0).contains(&percent).then_some(percent)
    }

    /// [`AUTO_COMPACT_WINDOW`] as a positive whole number of tokens, as it was written.
    pub fn window(&self) -> Option<u64> {
        positive(self.auto_compact_window.as_deref())
    }

    /// [`MAX_OUTPUT_TOKENS`] as a positive whole number of tokens.
    pub fn output_tokens(&self) -> Option<u64> {
        positive(self.max_output_tokens.as_deref())
    }
}

fn positive(value: Option<&str>) -> Option<u64> {
    value?.trim().parse().ok().filter(|tokens| *tokens > 0)
}

/// What the client takes for "yes" in a variable: `1`, `true`, `yes`, `on`, in any case.
fn is_truthy(value: Option<&str>) -> bool {
    value.is_some_and(|value| {
        let value = value.trim();
        ["1", "true", "yes", "on"]
            .iter()
            .any(|yes| value.eq_ignore_ascii_case(yes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_truthiness_decides() {
        for yes in ["1", "true", "TRUE", " yes ", "on"] {
            assert!(is_truthy(Some(yes)), "{yes}");
        }
        for no in [None, Some(""), Some("0"), Some("false"), Some("no"), Some("2")] {
            assert!(!is_truthy(no), "{no:?}");
        }
    }

    #[test]
    fn each_variable_has_its_own_field() {
        let environment = Environment::from_lookup(|name| Some(name.to_owned()));
        assert_eq!(environment.pct_override.as_deref(), Some(PCT_OVERRIDE));
        assert_eq!(environment.auto_compact_window.as_deref(), Some(AUTO_COMPACT_WINDOW));
        assert_eq!(environment.max_output_tokens.as_deref(), Some(MAX_OUTPUT_TOKENS));
        assert_eq!(environment.disable_auto_compact.as_deref(), Some(DISABLE_AUTO_COMPACT));
        assert_eq!(environment.disable_compact.as_deref(), Some(DISABLE_COMPACT));
        assert_eq!(Environment::from_lookup(|_| None), Environment::default());
    }

    #[test]
    fn a_percent_is_a_number_in_1_to_100() {
        let percent = |text: &str| {
            Environment {
                pct_override: Some(text.to_owned()),
                ..Environment::default()
            }
            .percent()
        };
        assert_eq!(percent("50"), Some(50.0));
        assert_eq!(percent(" 33.5 "), Some(33.5));
        assert_eq!(percent("1"), Some(1.0));
        assert_eq!(percent("100"), Some(100.0));
        for bad in ["", "0", "0.5", "101", "-5", "half", "NaN", "inf", "50%"] {
            assert_eq!(percent(bad), None, "{bad}");
        }
    }
}
