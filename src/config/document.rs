//! A TOML file as a layer: its values for the merge, and where each key stands, so that every later word about a
//! value can name file, line and column.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use figment::value::{Dict, Num, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{join, parent};
use super::problem::{Code, Place, Problem};

/// How many syntax errors of one file are told; what comes after the first few follows from them.
const MOST_ERRORS: usize = 20;

/// The bytes of a key and of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The key itself.
    pub key: Range<usize>,
    /// Its value.
    pub value: Range<usize>,
}

/// A parsed TOML file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it was read from.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its values.
    pub dict: Dict,
    spans: BTreeMap<String, Span>,
}

impl Document {
    /// Parses `text`, which was read from `path`.
    ///
    /// # Errors
    /// The syntax errors, each with its place.
    pub fn parse(path: &Path, text: String) -> Result<Self, Vec<Problem>> {
        let mut spans = BTreeMap::new();
        let dict = {
            let (root, errors) = DeTable::parse_recoverable(&text);
            if !errors.is_empty() {
                return Err(errors
                    .iter()
                    .take(MOST_ERRORS)
                    .map(|error| syntax_problem(path, &text, error))
                    .collect());
            }
            table(root.get_ref(), "", &mut spans)
        };
        Ok(Self {
            path: path.to_owned(),
            text,
            dict,
            spans,
        })
    }

    /// Where the value of `key` (dotted) stands: line and column counted from 1, and the line itself.
    ///
    /// A key that is not in the file is looked for by the nearest table that holds it.
    pub fn place_of(&self, key: &str) -> Place {
        self.place(self.nearest_span(key).map(|span| span.value.clone()))
    }

    /// Where the key itself stands, for a word about its name.
    pub fn place_of_key(&self, key: &str) -> Place {
        self.place(self.nearest_span(key).map(|span| span.key.clone()))
    }

    /// Where `needle` stands within the value of `key` (dotted); the whole value where it is not to be found as it is.
    pub fn place_within(&self, key: &str, needle: &str) -> Place {
        let within = self.spans.get(key).and_then(|span| {
            let value = self.text.get(span.value.clone())?;
            let start = span.value.start + value.find(needle)?;
            Some(start..start + needle.len())
        });
        match within {
            Some(range) => self.place(Some(range)),
            None => self.place_of(key),
        }
    }

    /// Whether the file itself has `key` (dotted).
    pub fn has(&self, key: &str) -> bool {
        self.spans.contains_key(key)
    }

    /// Every dotted key whose value is not a table, in the order of the keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.spans.keys().map(String::as_str)
    }

    fn nearest_span(&self, key: &str) -> Option<&Span> {
        let mut key = key;
        loop {
            if let Some(span) = self.spans.get(key) {
                return Some(span);
            }
            key = parent(key)?;
        }
    }

    fn place(&self, range: Option<Range<usize>>) -> Place {
        Place::in_file(&self.path, &self.text, range)
    }
}

/// The value that a text stands for: what TOML reads in it, else the text itself.
///
/// So `8192`, `true` and `["a", "b"]` are what they look like, and `de` needs no quotes.
pub(super) fn value_of_text(text: &str) -> Value {
    let text = text.trim();
    match DeValue::parse(text) {
        Ok(value) => convert(&value, "", &mut BTreeMap::new()),
        Err(_) => Value::from(text),
    }
}

fn syntax_problem(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    Problem::new(
        Code::Syntax,
        Place::in_file(path, text, error.span()),
        format!("this is not TOML: {}", error.message().trim()),
    )
    .help("mend the line, or take it out")
}

fn table(table: &DeTable<'_>, prefix: &str, spans: &mut BTreeMap<String, Span>) -> Dict {
    let mut dict = Dict::new();
    for (key, value) in table {
        let path = join(prefix, key.get_ref());
        spans.insert(
            path.clone(),
            Span {
                key: key.span(),
                value: value.span(),
            },
        );
        dict.insert(key.get_ref().to_string(), convert(value, &path, spans));
    }
    dict
}

fn convert(value: &Spanned<DeValue<'_>>, path: &str, spans: &mut BTreeMap<String, Span>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::from(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            match i128::from_str_radix(&digits, number.radix()) {
                Ok(number) => i64::try_from(number).map_or(Value::from(number), Value::from),
                // Kept as text, so that the word about it shows what stands there.
                Err(_) => Value::from(digits),
            }
        }
        DeValue::Float(number) => {
            let number: f64 = number.as_str().replace('_', "").parse().unwrap_or(f64::NAN);
            Value::from(Num::F64(number))
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}.{index}");
                spans.insert(
                    path.clone(),
                    Span {
                        key: item.span(),
                        value: item.span(),
                    },
                );
                list.push(convert(item, &path, spans));
            }
            Value::from(list)
        }
        DeValue::Table(inner) => Value::from(table(inner, path, spans)),
    }
}
