//! Where a window ends: the point at which the client would compact by itself, and our marks below it.
//!
//! Three sources, tried in order; a field that is not what its type says drops to the next one:
//!
//! 1. the threshold that the client reports (`context.breakdown.autoCompactThreshold`, then
//!    `context.autoCompactThreshold`), lowered by the client's percent variable where that is lower;
//! 2. computed from the window: less the output reserve, less the room for the summary;
//! 3. a percent of an unknown window, with the reserves of a 200000 window.
//!
//! With automatic compaction off the point is the window less the output reserve. The reset comes one margin below the
//! point, the warning one runway below the reset.

mod explain;
mod figures;

use serde_json::{Map, Value};

pub use figures::{ConfiguredBy, Derivation, Figures, Marks, NoMarks, Notice, Source, Unit};

pub use super::environment::Environment;
use super::options::{WindowOptions, client_margins};
use crate::wire;

/// The most that the client keeps free for a response, in tokens.
pub const OUTPUT_RESERVE: u64 = 20_000;
/// What the client keeps free for its summary, in tokens.
pub const SUMMARY_RESERVE: u64 = 13_000;
/// The smallest window that can be configured, in tokens: the variable is raised to it, a setting below it is ignored.
pub const SMALLEST_CONFIGURED: u64 = 100_000;
/// The window whose shares stand for reserves and margins when no window is known, in tokens.
pub const CLASSIC_WINDOW: u64 = 200_000;

/// Derives the marks.
///
/// `usage` is the client's context figures, none when it gave none; `options` are the margins as merged over all
/// layers; `settings` are the client's (the configured window, the switch, and margins that are no margins, which get
/// a notice); `model` names the entry of `modelSettings`.
pub fn derive(
    usage: Option<&wire::Usage>,
    settings: &wire::Settings,
    environment: &Environment,
    options: &WindowOptions,
    model: Option<&str>,
) -> Derivation {
    let mut derivation = Derivation {
        source: None,
        marks: None,
        none: None,
        figures: Figures {
            reset_margin: or_default(options.reset_margin_tokens, WindowOptions::RESET_MARGIN_TOKENS),
            warning_runway: or_default(options.warning_runway_tokens, WindowOptions::WARNING_RUNWAY_TOKENS),
            ..Figures::default()
        },
        steps: Vec::new(),
        notices: Vec::new(),
    };
    derivation.note_ignored_margins(settings);
    if environment.is_compact_disabled() {
        derivation.fail(
            NoMarks::CompactDisabled,
            "DISABLE_COMPACT is set: the client compacts nothing, so there is no automatic reset and /fresh-window cannot run",
        );
        return derivation;
    }
    let Some(usage) = usage else {
        derivation.fail(
            NoMarks::NoUsage,
            "the client gives no usage of its context: no automatic reset",
        );
        return derivation;
    };
    derivation.gather(usage, settings, environment, model);
    match derivation.find_point(usage) {
        Some((Unit::Tokens, point)) => derivation.mark(Unit::Tokens, point, 1.0),
        Some((Unit::Percent, point)) => derivation.mark(Unit::Percent, point, 100.0 / CLASSIC_WINDOW as f64),
        None => derivation.fail(
            NoMarks::Unresolvable,
            "the client gives neither a threshold nor a window nor a percent that can be used: no automatic reset",
        ),
    }
    derivation
}

impl Derivation {
    fn note_ignored_margins(&mut self, settings: &wire::Settings) {
        for margin in client_margins(settings) {
            if let Err(line) = margin.value {
                self.steps.push(line.clone());
                self.notices.push(Notice {
                    key: format!("margin:{line}"),
                    text: line,
                });
            }
        }
    }

    fn fail(&mut self, reason: NoMarks, line: &str) {
        self.none = Some(reason);
        self.steps.push(line.to_owned());
        self.notices.push(Notice {
            key: match reason {
                NoMarks::CompactDisabled => "compact_disabled",
                NoMarks::NoUsage => "no_usage",
                NoMarks::Unresolvable => "no_point",
                NoMarks::NoRoom => "no_room",
            }
            .to_owned(),
            text: line.to_owned(),
        });
    }

    /// Reads every figure, each for itself, so that one of an unexpected type takes no other with it.
    fn gather(
        &mut self,
        usage: &wire::Usage,
        settings: &wire::Settings,
        environment: &Environment,
        model: Option<&str>,
    ) {
        let breakdown = usage.breakdown.as_ref();
        let of_breakdown = |key: &str| breakdown.and_then(|breakdown| breakdown.get(key));
        let figures = &mut self.figures;
        figures.model_window = tokens(usage.window.as_ref());
        figures.raw_max_tokens = tokens(of_breakdown("rawMaxTokens"));
        if let Some((window, by)) = configured_window(&settings.merged, environment, model) {
            figures.configured_window = Some(window);
            figures.configured_by = Some(by);
        }
        figures.output_reserve = environment
            .output_tokens()
            .map_or(OUTPUT_RESERVE, |most| most.min(OUTPUT_RESERVE));
        figures.percent_override = environment.percent();
        figures.auto_compact = match of_breakdown("isAutoCompactEnabled") {
            Some(Value::Bool(enabled)) => *enabled,
            _ => {
                settings.merged.get("autoCompactEnabled") != Some(&Value::Bool(false))
                    && !environment.is_auto_compact_disabled()
            }
        };
        // A configured window counts only below a known one: above an unknown one it would put the marks out of reach.
        let known = [figures.model_window, figures.raw_max_tokens]
            .into_iter()
            .flatten()
            .min();
        figures.effective_window =
            known.map(|known| figures.configured_window.map_or(known, |window| window.min(known)));

        let (source, threshold) = match tokens(of_breakdown("autoCompactThreshold")) {
            Some(threshold) => (Some(Source::BreakdownThreshold), Some(threshold)),
            None => match tokens(usage.auto_compact_threshold.as_ref()) {
                Some(threshold) => (Some(Source::ContextThreshold), Some(threshold)),
                None => (None, None),
            },
        };
        figures.reported_threshold = threshold;
        self.source = source;
        self.say_figures();
    }

    /// The point, and its unit. Sets the source that gave it.
    fn find_point(&mut self, usage: &wire::Usage) -> Option<(Unit, f64)> {
        if !self.figures.auto_compact {
            return self.point_without_auto_compact(usage);
        }
        let reserve = self.figures.output_reserve;
        let base = match self.figures.reported_threshold {
            Some(threshold) => {
                self.steps
                    .push(format!("the client reports that it compacts at {threshold} tokens"));
                threshold
            }
            None => {
                let Some(window) = self.figures.effective_window else {
                    return self.percent_point(usage, reserve + SUMMARY_RESERVE);
                };
                self.source = Some(Source::Computed);
                let base = window.checked_sub(reserve + SUMMARY_RESERVE)?;
                self.steps.push(format!(
                    "no threshold is reported: {window} - {reserve} for a response - {SUMMARY_RESERVE} for the summary = {base}"
                ));
                base
            }
        };
        let Some(percent) = self.figures.percent_override else {
            return Some((Unit::Tokens, base as f64));
        };
        // Without a window, the threshold itself says how large it is: it lies one summary below window and reserve.
        let usable = match self.figures.effective_window {
            Some(window) => window.saturating_sub(reserve),
            None => base + SUMMARY_RESERVE,
        };
        let lowered = (usable as f64 * percent / 100.0).floor() as u64;
        self.figures.percent_point = Some(lowered);
        let point = base.min(lowered);
        self.steps.push(format!(
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={percent}: {usable} x {percent} % = {lowered}; the smaller counts: {point}"
        ));
        Some((Unit::Tokens, point as f64))
    }

    fn point_without_auto_compact(&mut self, usage: &wire::Usage) -> Option<(Unit, f64)> {
        let reserve = self.figures.output_reserve;
        let Some(window) = self.figures.effective_window else {
            return self.percent_point(usage, reserve);
        };
        self.source = Some(Source::AutoCompactOff);
        let point = window.checked_sub(reserve)?;
        self.steps.push(format!(
            "the point is the window less the reserve: {window} - {reserve} = {point}"
        ));
        Some((Unit::Tokens, point as f64))
    }

    fn percent_point(&mut self, usage: &wire::Usage, reserves: u64) -> Option<(Unit, f64)> {
        self.source = None;
        not_negative(usage.percent.as_ref())?;
        self.source = Some(Source::Percent);
        let mut point = CLASSIC_WINDOW - reserves;
        if let (true, Some(percent)) = (self.figures.auto_compact, self.figures.percent_override) {
            let usable = CLASSIC_WINDOW - self.figures.output_reserve;
            point = point.min((usable as f64 * percent / 100.0).floor() as u64);
        }
        let percent = point as f64 * 100.0 / CLASSIC_WINDOW as f64;
        self.steps.push(format!(
            "no window is known but a percent is: the reserves of a {CLASSIC_WINDOW} window put the point at {percent} %"
        ));
        Some((Unit::Percent, percent))
    }

    /// Puts the marks below the point; `scale` turns tokens into the marks' unit.
    fn mark(&mut self, unit: Unit, point: f64, scale: f64) {
        let (margin, runway) = (self.figures.reset_margin, self.figures.warning_runway);
        let reset_at = point - margin as f64 * scale;
        let unit_name = match unit {
            Unit::Tokens => "tokens",
            Unit::Percent => "percent",
        };
        if reset_at <= 0.0 {
            self.fail(
                NoMarks::NoRoom,
                &format!(
                    "the reset margin of {margin} tokens leaves no room below the point at {point} {unit_name}: no automatic reset; lower window.reset_margin_tokens"
                ),
            );
            return;
        }
        self.steps.push(format!(
            "reset at {point} - the margin of {margin} tokens = {reset_at} {unit_name}"
        ));
        let warn_at = reset_at - runway as f64 * scale;
        let warn_at = if warn_at > 0.0 {
            self.steps.push(format!(
                "warn at {reset_at} - the runway of {runway} tokens = {warn_at} {unit_name}"
            ));
            Some(warn_at)
        } else {
            let line = format!(
                "the warning runway of {runway} tokens leaves no room below the reset at {reset_at} {unit_name}: no warning; lower window.warning_runway_tokens"
            );
            self.steps.push(line.clone());
            self.notices.push(Notice {
                key: "no_runway".to_owned(),
                text: line,
            });
            None
        };
        self.marks = Some(Marks {
            unit,
            point,
            reset_at,
            warn_at,
        });
    }
}

fn or_default(value: u64, default: u64) -> u64 {
    if value > 0 { value } else { default }
}

/// The configured window: the variable wins, then the model's setting, then the plain one.
fn configured_window(
    merged: &Map<String, Value>,
    environment: &Environment,
    model: Option<&str>,
) -> Option<(u64, ConfiguredBy)> {
    if let Some(window) = environment.window() {
        return Some((window.max(SMALLEST_CONFIGURED), ConfiguredBy::Variable));
    }
    let large_enough = |value: Option<&Value>| tokens(value).filter(|window| *window >= SMALLEST_CONFIGURED);
    let of_model = model
        .and_then(|model| merged.get("modelSettings")?.get(model))
        .and_then(|settings| settings.get("autoCompactWindow"));
    if let Some(window) = large_enough(of_model) {
        return Some((window, ConfiguredBy::ModelSetting));
    }
    let window = large_enough(merged.get("autoCompactWindow"))?;
    Some((window, ConfiguredBy::Setting))
}

/// A positive number of tokens, rounded down; none for anything else.
fn tokens(value: Option<&Value>) -> Option<u64> {
    let number = value?.as_f64()?.floor();
    // Far above any window; keeps all sums within range.
    (1.0..=1e15).contains(&number).then_some(number as u64)
}

fn not_negative(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|number| *number >= 0.0)
}

#[cfg(test)]
mod tests;
