//! The table: which event goes to which handler under which condition.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::wire::Event;

/// A row of the table: `[hooks.<id>]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The event that the row answers, e.g. `session.compact`.
    pub event: String,
    /// Conditions on the event's fields; all must hold. Without `agent` the row is for the main conversation only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, Condition>,
    /// The handler, by name.
    pub run: String,
    /// Rows of an event run in this order; unique among the live rows of an event.
    pub order: u32,
    /// False: the row is as if it were not there.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// Settings of the handler; which it takes, `notesoup config explain hooks.<id>` says.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Why the row is there, for people; shown by `config explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Condition {
    /// The field is this flag.
    Is(bool),
    /// A regular expression over the whole value, trimmed (and without regard to case for `instructions`).
    Matches(String),
    /// Any of these values, exactly.
    AnyOf(Vec<String>),
}

/// A field that `when` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in the table.
    pub name: &'static str,
    /// What it holds.
    pub about: &'static str,
}

const fn field(name: &'static str, about: &'static str) -> Field {
    Field { name, about }
}

/// Fields of every event.
pub const COMMON_FIELDS: &[Field] = &[
    field("agent", "`main`, `sub` or `any`; `main` where the row does not say"),
    field("headless", "true in a -p or SDK run"),
    field("model", "the session's model"),
];

/// The fields that an event adds to [`COMMON_FIELDS`].
pub const fn fields_of(event: Event) -> &'static [Field] {
    match event {
        Event::ClassicSessionStart => const { &[field("source", "`startup`, `resume`, `clear`, `compact` or `fork`")] },
        Event::SessionCompact => {
            const {
                &[
                    field("trigger", "`manual`, `auto`, `plugin` or `precompute`"),
                    field(
                        "instructions",
                        "the text after /compact, trimmed; empty when there is none",
                    ),
                    field("plugin", "the plugin that asked for it; empty when none did"),
                ]
            }
        }
        Event::TurnComplete => const { &[field("reason", "`answer`, `aborted`, `refusal` or `error`")] },
        Event::SessionEnd => const { &[field("reason", "why the session ends, e.g. `clear`")] },
        Event::CommandRun => {
            const {
                &[
                    field("command", "the command without its slash"),
                    field("args", "what was typed behind it"),
                ]
            }
        }
        Event::ToolCall => const { &[field("tool", "the tool's name without the prefix `mcp__notesoup__`")] },
        Event::EffectSettled => {
            const {
                &[
                    field("effect", "the effect's kind, e.g. `compact`"),
                    field("ok", "whether it happened"),
                ]
            }
        }
        _ => &[],
    }
}

/// A value of a field, taken from an event.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// A flag.
    Flag(bool),
    /// A text.
    Text(String),
}

impl FieldValue {
    /// The value as text, for logs and for patterns.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Flag(true) => "true",
            Self::Flag(false) => "false",
            Self::Text(text) => text,
        }
    }
}

/// The fields of one event, by name.
pub type Fields = BTreeMap<&'static str, FieldValue>;

impl Row {
    /// Which of the row's conditions fails for these fields, or `None` when the row matches.
    ///
    /// An `agent` that the row does not name is `main`. Patterns are compiled here, for the rows of the event at hand
    /// only; one that does not compile never matches (the layer's check has said so).
    pub fn mismatch(&self, fields: &Fields) -> Option<&str> {
        let agent = self.when.get("agent");
        if !agent_matches(agent, fields.get("agent").map_or("main", FieldValue::as_text)) {
            return Some("agent");
        }
        self.when
            .iter()
            .filter(|(name, _)| name.as_str() != "agent")
            .find(|(name, condition)| {
                let value = fields.get(name.as_str());
                !value.is_some_and(|value| condition.holds(name, value))
            })
            .map(|(name, _)| name.as_str())
    }
}

fn agent_matches(condition: Option<&Condition>, agent: &str) -> bool {
    match condition {
        None => agent == "main",
        Some(Condition::Matches(wanted)) => wanted == "any" || wanted == agent,
        Some(Condition::AnyOf(wanted)) => wanted.iter().any(|wanted| wanted == "any" || wanted == agent),
        Some(Condition::Is(_)) => false,
    }
}

impl Condition {
    fn holds(&self, field: &str, value: &FieldValue) -> bool {
        let text = value.as_text().trim();
        match self {
            Self::Is(wanted) => *value == FieldValue::Flag(*wanted),
            Self::AnyOf(wanted) => wanted.iter().any(|wanted| wanted == text),
            // Most patterns are plain words, and compiling one takes a quarter of a millisecond.
            Self::Matches(pattern) if is_plain(pattern) => {
                if field == "instructions" {
                    pattern.eq_ignore_ascii_case(text)
                } else {
                    pattern == text
                }
            }
            Self::Matches(pattern) => compile(field, pattern).is_ok_and(|regex| regex.is_match(text)),
        }
    }
}

/// The pattern of a `when` condition, compiled as it is applied: over the whole value, and without regard to case for
/// `instructions`.
///
/// # Errors
/// When it is not a regular expression, or one too large.
pub fn compile(field: &str, pattern: &str) -> Result<Regex, regex::Error> {
    let flags = if field == "instructions" { "(?is)" } else { "(?s)" };
    Regex::new(&format!("{flags}^(?:{pattern})$"))
}

fn is_plain(pattern: &str) -> bool {
    pattern
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(when: &str) -> Row {
        toml::from_str(&format!("event='session.compact'\nrun='x'\norder=1\nwhen={when}")).unwrap()
    }

    fn compact(instructions: &str) -> Fields {
        Fields::from([
            ("trigger", FieldValue::Text("manual".into())),
            ("instructions", FieldValue::Text(instructions.into())),
        ])
    }

    #[test]
    fn a_pattern_covers_the_whole_trimmed_value_and_ignores_case_in_instructions() {
        let row = row(r#"{ instructions = 'prune(\s.*)?' }"#);
        assert_eq!(row.mismatch(&compact(" PRUNE 120k ")), None);
        assert_eq!(row.mismatch(&compact("please prune")), Some("instructions"));
    }

    #[test]
    fn a_list_is_any_of() {
        let row = row(r#"{ trigger = ["manual", "plugin"] }"#);
        assert_eq!(row.mismatch(&compact("")), None);
        let auto = Fields::from([("trigger", FieldValue::Text("auto".into()))]);
        assert_eq!(row.mismatch(&auto), Some("trigger"));
    }

    #[test]
    fn without_a_word_on_agents_a_row_is_for_the_main_conversation() {
        let mut fields = compact("");
        fields.insert("agent", FieldValue::Text("sub".into()));
        assert_eq!(row("{}").mismatch(&fields), Some("agent"));
        assert_eq!(row("{ agent = 'any' }").mismatch(&fields), None);
        assert_eq!(row("{ agent = 'sub' }").mismatch(&fields), None);
    }

    #[test]
    fn a_field_that_the_event_lacks_never_matches() {
        assert_eq!(row("{ plugin = '.*' }").mismatch(&compact("")), Some("plugin"));
    }
}
