//! The derivation in words: for `notesoup config explain window.reset_point`.

use std::fmt::Write as _;

use serde_json::Value;

use super::{ConfiguredBy, Derivation, Source, Unit};

impl Derivation {
    /// Puts the figures into sentences.
    pub(super) fn say_figures(&mut self) {
        let figures = &self.figures;
        let mut steps = Vec::new();
        match (figures.model_window, figures.raw_max_tokens) {
            (Some(window), Some(raw)) if raw != window => {
                steps.push(format!(
                    "the model's window is {window} tokens, the client measures against {raw}"
                ));
            }
            (Some(window), _) => steps.push(format!("the model's window is {window} tokens")),
            (None, Some(raw)) => steps.push(format!(
                "no model window is known; the client measures against {raw} tokens"
            )),
            (None, None) => steps.push("no model window is known".to_owned()),
        }
        if let (Some(window), Some(by)) = (figures.configured_window, figures.configured_by) {
            let by = match by {
                ConfiguredBy::Variable => "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
                ConfiguredBy::ModelSetting => "the model's autoCompactWindow setting",
                ConfiguredBy::Setting => "the autoCompactWindow setting",
            };
            steps.push(format!("{by} configures a window of {window} tokens"));
        }
        if let Some(window) = figures.effective_window {
            steps.push(format!(
                "the effective window is {window} tokens, {} of them kept free for a response",
                figures.output_reserve
            ));
        }
        if !figures.auto_compact {
            steps.push("automatic compaction is off".to_owned());
        }
        self.steps.extend(steps);
    }

    /// The derivation for a person, one step a line, the marks last.
    pub fn to_text(&self) -> String {
        let mut text = String::from("window.reset_point\n");
        let _ = writeln!(text, "  source: {}", self.source.map_or("none", Source::describe));
        for step in &self.steps {
            let _ = writeln!(text, "  - {step}");
        }
        match self.marks {
            Some(marks) => {
                let unit = match marks.unit {
                    Unit::Tokens => "tokens",
                    Unit::Percent => "%",
                };
                let warn = marks.warn_at.map_or("never".to_owned(), |at| format!("{at} {unit}"));
                let _ = writeln!(text, "  point: {} {unit}", marks.point);
                let _ = writeln!(text, "  warn at: {warn}");
                let _ = writeln!(text, "  reset at: {} {unit}", marks.reset_at);
            }
            None => text.push_str("  no automatic reset\n"),
        }
        text
    }

    /// The derivation for programs.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
