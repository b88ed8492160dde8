//! What a call's arguments say: its target, its file, its command.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::text::Text;

/// Arguments that name what a call is about, the most telling first.
const TARGETS: &[&str] = &[
    "file_path",
    "notebook_path",
    "command",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "skill",
    "name",
    "id",
];

/// A call's arguments, those that matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments<'a> {
    /// `file_path`, `notebook_path` or `path`.
    pub file: Option<Cow<'a, str>>,
    /// `command`.
    pub command: Option<Cow<'a, str>>,
    /// What a person would call the call by.
    pub target: Cow<'a, str>,
    /// `offset` and `limit`, of a reading.
    pub offset: Option<u64>,
    /// See `offset`.
    pub limit: Option<u64>,
}

impl<'a> Arguments<'a> {
    /// Reads them. Arguments of another shape than expected are passed over.
    pub fn new(input: &'a RawValue) -> Self {
        let Ok(fields) = serde_json::from_str::<Fields<'a>>(input.get()) else {
            return Self::default();
        };
        let find = |wanted: &str| {
            fields
                .0
                .iter()
                .find(|(name, _)| name.as_str() == wanted)
                .map(|(_, value)| *value)
        };
        let text = |name: &str| -> Option<Cow<'a, str>> {
            let text: Text<'a> = serde_json::from_str(find(name)?.get()).ok()?;
            (!text.as_str().is_empty()).then_some(text.0)
        };
        // Whole numbers; some models write them as strings.
        let number = |name: &str| -> Option<u64> {
            let value = find(name)?.get();
            value.trim_matches('"').parse().ok()
        };
        Self {
            file: text("file_path")
                .or_else(|| text("notebook_path"))
                .or_else(|| text("path")),
            command: text("command"),
            target: TARGETS.iter().find_map(|name| text(name)).unwrap_or_default(),
            offset: number("offset"),
            limit: number("limit"),
        }
    }
}

/// The fields of an object, unparsed.
struct Fields<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = Fields<'de>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// The arguments as a map that can be changed; `None` when they are no object.
pub fn to_map(input: &RawValue) -> Option<Map<String, Value>> {
    serde_json::from_str(input.get()).ok()
}
