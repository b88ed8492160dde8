//! A word about a bad value: what happened, where, what to do.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The kind of a problem, stable for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The file is not TOML (or not UTF-8).
    Syntax,
    /// The file cannot be read.
    Unreadable,
    /// A key that does not exist.
    UnknownKey,
    /// A value of the wrong type, or out of range.
    InvalidValue,
    /// A row without a key that it needs.
    MissingKey,
    /// An event that does not exist.
    UnknownEvent,
    /// A handler that does not exist, or that does not serve the row's event.
    UnknownHandler,
    /// A `when` field that the event does not have.
    UnknownField,
    /// A pattern that does not compile.
    InvalidPattern,
    /// Two live rows of one event with the same `order`.
    DuplicateOrder,
    /// A profile that does not exist.
    UnknownProfile,
    /// A text with a placeholder that it does not have.
    UnknownPlaceholder,
    /// A text pool without a text.
    EmptyPool,
    /// A key that this layer may not set.
    NotAllowedHere,
    /// A file of the person that others can read.
    ReadableByOthers,
    /// A file that others can write.
    WritableByOthers,
    /// A file that belongs to somebody else.
    ForeignOwner,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The value or its file is left out.
    #[default]
    Error,
    /// The value stands; the person should know all the same.
    Warning,
}

/// What became of the value that a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The value alone is left out.
    ValueIgnored,
    /// The whole file is left out.
    FileIgnored,
    /// The file is left out, and stands as it was when it was last good.
    LastGoodStands,
}

impl Consequence {
    /// What became of it, in words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ValueIgnored => "the value is left out",
            Self::FileIgnored => "the file is left out until it is mended",
            Self::LastGoodStands => "the file stands as it was when it was last good",
        }
    }
}

impl Code {
    /// The code as scripts see it.
    pub fn name(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// Where a problem stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// The file, or the source where the value came through the client (e.g. `pluginConfigs (user settings)`).
    pub source: String,
    /// The line, counted from 1; absent where the source has no lines.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<usize>,
    /// The line itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub excerpt: Option<String>,
    /// How many characters of the line are meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub length: Option<usize>,
}

impl Place {
    /// A place in a file; `range` are bytes of `text`.
    pub fn in_file(path: &Path, text: &str, range: Option<Range<usize>>) -> Self {
        let source = path.display().to_string();
        let Some(range) = range else {
            return Self {
                source,
                ..Self::default()
            };
        };
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let end = text.floor_char_boundary(range.end.clamp(start, text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        Self {
            source,
            line: Some(text[..start].matches('\n').count() + 1),
            column: Some(text[line_start..start].chars().count() + 1),
            excerpt: Some(text[line_start..line_end].trim_end_matches('\r').to_owned()),
            length: Some(text[start..end.min(line_end)].chars().count().max(1)),
        }
    }

    /// A source without lines.
    pub fn source(name: impl Into<String>) -> Self {
        Self {
            source: name.into(),
            ..Self::default()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// A bad value in a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Which kind.
    pub code: Code,
    /// Where.
    pub place: Place,
    /// The dotted key, where one is meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    /// What happened, without a full stop.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
    /// How much it matters.
    #[serde(default)]
    pub severity: Severity,
    /// What became of the value; absent where nothing was loaded, as in a check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub consequence: Option<Consequence>,
}

impl Problem {
    /// A problem without a key.
    pub fn new(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            place,
            key: None,
            message: message.into(),
            help: None,
            severity: Severity::Error,
            consequence: None,
        }
    }

    /// The same problem as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same problem with what became of the value.
    #[must_use]
    pub fn then(mut self, consequence: Consequence) -> Self {
        self.consequence = Some(consequence);
        self
    }

    /// The same problem, about this key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same problem with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    /// One line: `hooks.toml:12:3: window.reset_margin_tokens: found …; do …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

/// The name in `known` that is nearest to `found`, when one is near enough to be meant.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (found.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(found, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `did you mean …` for a near name, else the list of all.
pub fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(found, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => match listed(known) {
            list if list.contains(',') => format!("there are {list}"),
            list if list.is_empty() => "there is none".to_owned(),
            list => format!("there is {list} only"),
        },
    }
}

/// The names in backticks, with commas.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A name or value as a message shows it: on one line, cut when it is long, without control characters.
pub fn shown(text: &str) -> String {
    const LIMIT: usize = 60;
    let mut shown: String = text
        .chars()
        .take(LIMIT)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect();
    if text.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    shown
}
