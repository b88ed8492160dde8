//! The options of the window: margins, runway, and how often a window may be reset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire;

/// `[window]` of the config: when a window is warned and reset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WindowOptions {
    /// How far below the client's own automatic compaction the reset comes, in tokens.
    ///
    /// A positive whole number. It must cover what one response and its tool results may add, or the client compacts
    /// first. A margin that leaves no room in the window means no automatic reset, and one line says so.
    #[schemars(range(min = 1))]
    pub reset_margin_tokens: u64,
    /// How far below the reset the model is warned, in tokens.
    ///
    /// A positive whole number. A runway longer than the room below the reset means no warning, and one line says so.
    #[schemars(range(min = 1))]
    pub warning_runway_tokens: u64,
    /// How many turns of the main conversation must have been completed since the last reset before the next automatic
    /// one.
    ///
    /// Guards against a window that is full again as soon as it begins. 0 switches the guard off. A reset that a
    /// person asks for is never held back.
    pub min_turns_between_resets: u64,
    /// How long the close-out turn of `/fresh-window` waits before it is submitted, in milliseconds.
    ///
    /// The command has to end first; a client that is still busy with it refuses the prompt.
    pub close_out_delay_ms: u64,
    /// How much of the running turn's work a reset in the middle of it hands on, in code points.
    ///
    /// Bounds the text of the last calls and results; the person's own prompts are handed on whole whatever their
    /// length. 0 hands on no work.
    pub work_chars: usize,
    /// How many of the last calls, with their results, a reset in the middle of a turn hands on at most.
    pub work_calls: usize,
    /// How much of the last request an automatic reset between two turns quotes, in code points. 0 quotes nothing.
    pub request_chars: usize,
}

impl WindowOptions {
    /// The default of [`Self::reset_margin_tokens`].
    pub const RESET_MARGIN_TOKENS: u64 = 8192;
    /// The default of [`Self::warning_runway_tokens`].
    pub const WARNING_RUNWAY_TOKENS: u64 = 16384;
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            reset_margin_tokens: Self::RESET_MARGIN_TOKENS,
            warning_runway_tokens: Self::WARNING_RUNWAY_TOKENS,
            min_turns_between_resets: 2,
            close_out_delay_ms: 50,
            work_chars: 6000,
            work_calls: 8,
            request_chars: 2000,
        }
    }
}

/// A margin that came through the client, and where from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientMargin {
    /// The field of [`WindowOptions`] it stands for.
    pub field: MarginField,
    /// Where it was read: `settings notesoup.resetMarginTokens`, `plugin option resetMarginTokens`.
    pub origin: String,
    /// The figure, or the line that says why it is ignored.
    pub value: Result<u64, String>,
}

/// Which margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginField {
    /// [`WindowOptions::reset_margin_tokens`].
    Reset,
    /// [`WindowOptions::warning_runway_tokens`].
    Runway,
}

impl MarginField {
    /// The name that the client's settings and options use.
    pub const fn client_key(self) -> &'static str {
        match self {
            Self::Reset => "resetMarginTokens",
            Self::Runway => "warningRunwayTokens",
        }
    }
}

/// The margins that the client's settings and our own plugin options hold, lowest layer first: a later one stands over
/// an earlier one.
///
/// An option that is `""` or null is not set and gives no entry.
pub fn client_margins(settings: &wire::Settings) -> Vec<ClientMargin> {
    let from_object = settings.merged.get("notesoup").and_then(Value::as_object);
    let layers = [
        ("plugin option", Some(&settings.options)),
        ("settings notesoup.", from_object),
    ];
    let mut margins = Vec::new();
    for (place, layer) in layers {
        for field in [MarginField::Reset, MarginField::Runway] {
            let key = field.client_key();
            let Some(value) = layer.and_then(|layer| layer.get(key)) else {
                continue;
            };
            if value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty()) {
                continue;
            }
            let separator = if place.ends_with('.') { "" } else { " " };
            let origin = format!("{place}{separator}{key}");
            let value = positive_whole(value)
                .ok_or_else(|| format!("{origin} is {value}, not a positive whole number of tokens: ignored"));
            margins.push(ClientMargin { field, origin, value });
        }
    }
    margins
}

impl WindowOptions {
    /// These options with the client's margins over them, and a line for each margin that is ignored.
    ///
    /// For callers whose config does not already hold the client's layers.
    #[must_use]
    pub fn with_client_margins(mut self, settings: &wire::Settings) -> (Self, Vec<String>) {
        let mut lines = Vec::new();
        for margin in client_margins(settings) {
            match (margin.value, margin.field) {
                (Ok(tokens), MarginField::Reset) => self.reset_margin_tokens = tokens,
                (Ok(tokens), MarginField::Runway) => self.warning_runway_tokens = tokens,
                (Err(line), _) => lines.push(line),
            }
        }
        (self, lines)
    }
}

/// A JSON number that is whole and above 0, e.g. `8192` or `8192.0`; nothing else, no strings.
pub(crate) fn positive_whole(value: &Value) -> Option<u64> {
    if let Some(whole) = value.as_u64() {
        return (whole > 0).then_some(whole);
    }
    let float = value.as_f64()?;
    // 2^53: above it a float no longer names one whole number.
    (float.fract() == 0.0 && (1.0..=9_007_199_254_740_992.0).contains(&float)).then_some(float as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(merged: Value, options: Value) -> wire::Settings {
        wire::Settings {
            merged: merged.as_object().cloned().unwrap_or_default(),
            options: options.as_object().cloned().unwrap_or_default(),
            ..wire::Settings::default()
        }
    }

    #[test]
    fn the_settings_object_stands_over_the_plugin_option() {
        let settings = settings(
            json!({ "notesoup": { "resetMarginTokens": 100 } }),
            json!({ "resetMarginTokens": 200, "warningRunwayTokens": 300 }),
        );
        let (options, lines) = WindowOptions::default().with_client_margins(&settings);
        assert_eq!((options.reset_margin_tokens, options.warning_runway_tokens), (100, 300));
        assert!(lines.is_empty());
    }

    #[test]
    fn a_margin_that_is_no_positive_whole_number_is_ignored_with_one_line() {
        for bad in [
            json!("lots"),
            json!(-1),
            json!(0.5),
            json!(0),
            json!(true),
            json!([1]),
            json!("8192"),
            json!(1e300),
        ] {
            let settings = settings(json!({ "notesoup": { "resetMarginTokens": bad } }), json!({}));
            let (options, lines) = WindowOptions::default().with_client_margins(&settings);
            assert_eq!(options, WindowOptions::default(), "{bad}");
            assert_eq!(lines.len(), 1, "{bad}");
            assert!(lines[0].contains("settings notesoup.resetMarginTokens"), "{}", lines[0]);
        }
    }

    #[test]
    fn an_unset_option_arrives_as_an_empty_string_and_says_nothing() {
        let settings = settings(
            json!({ "notesoup": null }),
            json!({ "resetMarginTokens": "", "warningRunwayTokens": null }),
        );
        let (options, lines) = WindowOptions::default().with_client_margins(&settings);
        assert_eq!(options, WindowOptions::default());
        assert!(lines.is_empty());
    }
}
