//! The conversation as a `session.compact` event carries it: one entry per content block.
//!
//! Everything is borrowed from the event's bytes; the tools' stored records (`result`), as large as the texts again,
//! stay unparsed. Missing and unknown fields are no faults.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use super::text::Text;

/// The input of `session.compact`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactEvent<'a> {
    /// `manual`, `auto`, `plugin` or `precompute`.
    #[serde(borrow, deserialize_with = "or_default")]
    pub trigger: Text<'a>,
    /// The subagent whose conversation is compacted; absent on the main conversation.
    #[serde(borrow)]
    pub agent_id: Option<Text<'a>>,
    /// The text behind `/compact`.
    #[serde(borrow)]
    pub instructions: Option<Text<'a>>,
    /// Oldest first.
    #[serde(borrow, deserialize_with = "or_default")]
    pub messages: Vec<Entry<'a>>,
}

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// The person, a tool's result, or a row of the client's.
    #[default]
    User,
    /// The model.
    Assistant,
}

/// One content block, or one message that was rebuilt earlier.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Entry<'a> {
    /// Who wrote it; a role this program does not know counts as the user's.
    #[serde(deserialize_with = "role")]
    pub role: Role,
    /// Its text blocks joined; empty when it has none.
    #[serde(borrow, deserialize_with = "or_default")]
    pub text: Text<'a>,
    /// The calls of an assistant's entry.
    #[serde(borrow, deserialize_with = "or_default")]
    pub tool_uses: Vec<ToolUse<'a>>,
    /// The results of a user's entry.
    #[serde(borrow, deserialize_with = "or_default")]
    pub tool_results: Vec<ToolResult<'a>>,
    /// The uuid of the entry's row in the transcript.
    #[serde(borrow)]
    pub handle: Option<Text<'a>>,
}

/// A call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolUse<'a> {
    /// The call's id.
    #[serde(borrow, rename = "tool_use_id", deserialize_with = "or_default")]
    pub id: Text<'a>,
    /// The tool's name.
    #[serde(borrow, deserialize_with = "or_default")]
    pub tool: Text<'a>,
    /// The arguments, unparsed.
    #[serde(borrow, deserialize_with = "raw")]
    pub input: Option<Cow<'a, RawValue>>,
    /// Whether the result that the client paired with the call is an error.
    #[serde(deserialize_with = "or_default")]
    pub is_error: bool,
}

/// A result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolResult<'a> {
    /// The id of the call it answers.
    #[serde(borrow, rename = "tool_use_id", deserialize_with = "or_default")]
    pub id: Text<'a>,
    /// What the model read.
    #[serde(borrow, deserialize_with = "or_default")]
    pub text: Text<'a>,
    /// Whether the tool failed.
    #[serde(deserialize_with = "or_default")]
    pub is_error: bool,
    /// What the client stored of the call, unparsed.
    #[serde(borrow, deserialize_with = "raw")]
    pub result: Option<Cow<'a, RawValue>>,
}

impl<'a> CompactEvent<'a> {
    /// Reads the event's input.
    ///
    /// # Errors
    /// When it is not an object of this shape; the message says where.
    pub fn parse(input: &'a RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(input.get())
    }
}

impl ToolUse<'_> {
    /// The arguments as JSON text; `{}` where there are none.
    pub fn input_json(&self) -> &str {
        self.input.as_ref().map_or("{}", |input| input.get())
    }
}

/// `null` is as good as absent.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

fn raw<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'a, RawValue>>, D::Error> {
    Ok(Option::<&'a RawValue>::deserialize(deserializer)?.map(Cow::Borrowed))
}

fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    let name = Option::<Cow<'de, str>>::deserialize(deserializer)?;
    Ok(match name.as_deref() {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    })
}
