//! A row in full: what a plan, a boot or an event is made of.

use std::borrow::Cow;
use std::ops::Range;

use super::scan::{Broken, Cursor, RawStr, Shape};
use super::skim::is_result;

/// A row's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A prompt, the results of calls, or what the client adds in the person's place.
    User,
    /// A part of a response: one block, or all of them where a hook handed the message back.
    Assistant,
    /// What the client shows the model beside the conversation.
    Attachment,
    /// A notice, or the boundary of a compaction.
    System,
    /// Anything else.
    Other,
}

/// What a message holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Words.
    Text(String),
    /// The model's thinking; never shown.
    Thinking,
    /// A call of a tool.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as JSON.
        input: String,
    },
    /// The result of a call.
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// Its text; media and what is no text stand as placeholders.
        text: String,
        /// Whether the call failed.
        is_error: bool,
        /// How many of its parts are images or documents.
        media: usize,
    },
    /// An image or a document.
    Media {
        /// `image` or `document`.
        kind: String,
        /// The type of its data, e.g. `image/png`.
        media_type: Option<String>,
        /// The size of its data in bytes, where the row has the data.
        bytes: Option<u64>,
    },
    /// A block of another kind, by name.
    Other(String),
}

/// A message's content: one string or blocks; a string stands as one text block.
pub type Content = Vec<Block>;

/// What an attachment is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Its `type`, e.g. `hook_additional_context`.
    pub kind: String,
    /// What the model was shown of it, as the client recorded it; empty when it did not.
    pub rendered: Vec<String>,
    /// The words of a prompt that was typed while the model worked (`queued_command`).
    pub prompt: Option<String>,
}

/// What a request cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that no cache had.
    pub input: u64,
    /// Input that was written to the cache.
    pub cache_creation: u64,
    /// Input that the cache had.
    pub cache_read: u64,
    /// The response.
    pub output: u64,
}

/// A row of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub uuid: String,
    /// The row it follows; none for the first and for a boundary.
    pub parent_uuid: Option<String>,
    /// The row that a boundary follows.
    pub logical_parent_uuid: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// `type` as it stands in the row.
    pub type_name: String,
    /// `subtype` of a system row, e.g. `compact_boundary`.
    pub subtype: Option<String>,
    /// Whether it belongs to a subagent.
    pub is_sidechain: bool,
    /// Whether the client added it in the person's place.
    pub is_meta: bool,
    /// Whether it is a compaction's summary.
    pub is_compact_summary: bool,
    /// The response that it is a part of.
    pub message_id: Option<String>,
    /// The model that responded.
    pub model: Option<String>,
    /// What a user or assistant row holds, and a system row's text.
    pub content: Content,
    /// What an attachment row is.
    pub attachment: Option<Attachment>,
    /// `compactMetadata` of a boundary, as JSON.
    pub compact_metadata: Option<String>,
    /// When it was written, RFC 3339.
    pub timestamp: Option<String>,
    /// The session that wrote it.
    pub session_id: Option<String>,
    /// What the request cost that the response answers.
    pub usage: Option<Usage>,
    /// Its line, counted from 1.
    pub line: u64,
    /// Where it stands in the file, in bytes.
    pub bytes: Range<u64>,
}

impl Row {
    /// Reads a row that stands at `offset` in the file.
    pub(super) fn read(bytes: &[u8], offset: u64, line: u64) -> Result<Self, Broken> {
        let mut row = Self {
            uuid: String::new(),
            parent_uuid: None,
            logical_parent_uuid: None,
            kind: Kind::Other,
            type_name: String::new(),
            subtype: None,
            is_sidechain: false,
            is_meta: false,
            is_compact_summary: false,
            message_id: None,
            model: None,
            content: Vec::new(),
            attachment: None,
            compact_metadata: None,
            timestamp: None,
            session_id: None,
            usage: None,
            line,
            bytes: offset..offset + bytes.len() as u64,
        };
        let mut rendered = Vec::new();
        let mut content = None;
        Cursor::new(bytes).object(|cursor, name| {
            match name {
                b"uuid" => row.uuid = text(cursor)?.unwrap_or_default(),
                b"parentUuid" => row.parent_uuid = text(cursor)?,
                b"logicalParentUuid" => row.logical_parent_uuid = text(cursor)?,
                b"type" => row.type_name = text(cursor)?.unwrap_or_default(),
                b"subtype" => row.subtype = text(cursor)?,
                b"isSidechain" => row.is_sidechain = truth(cursor)?,
                b"isMeta" => row.is_meta = truth(cursor)?,
                b"isCompactSummary" => row.is_compact_summary = truth(cursor)?,
                b"timestamp" => row.timestamp = text(cursor)?,
                b"sessionId" => row.session_id = text(cursor)?,
                b"message" => row.message(cursor)?,
                b"attachment" => row.attachment = Some(attachment(cursor)?),
                b"rendered" => rendered = renderings(cursor)?,
                b"content" => content = text(cursor)?,
                b"compactMetadata" => {
                    row.compact_metadata = Some(String::from_utf8_lossy(cursor.value()?).into_owned());
                }
                _ => return cursor.skip(),
            }
            Ok(())
        })?;
        row.kind = match row.type_name.as_str() {
            "user" => Kind::User,
            "assistant" => Kind::Assistant,
            "attachment" => Kind::Attachment,
            "system" => Kind::System,
            _ => Kind::Other,
        };
        match row.kind {
            Kind::User | Kind::Assistant => {}
            Kind::Attachment => {
                row.content.clear();
                row.attachment.get_or_insert_default().rendered = rendered;
            }
            _ => row.content = content.map(Block::Text).into_iter().collect(),
        }
        if row.kind != Kind::Attachment {
            row.attachment = None;
        }
        Ok(row)
    }

    fn message(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Broken> {
        (self.message_id, self.model, self.usage) = (None, None, None);
        self.content.clear();
        if cursor.shape()? != Shape::Object {
            return cursor.skip();
        }
        cursor.object(|cursor, name| {
            match name {
                b"id" => self.message_id = text(cursor)?,
                b"model" => self.model = text(cursor)?,
                b"content" => self.content = content(cursor)?,
                b"usage" => self.usage = usage(cursor)?,
                _ => return cursor.skip(),
            }
            Ok(())
        })
    }
}

fn content(cursor: &mut Cursor<'_>) -> Result<Content, Broken> {
    let mut blocks = Vec::new();
    match cursor.shape()? {
        Shape::String => blocks.push(Block::Text(cursor.string()?.decode().into_owned())),
        Shape::Array => cursor.array(|cursor| {
            blocks.push(block(cursor)?);
            Ok(())
        })?,
        _ => cursor.skip()?,
    }
    Ok(blocks)
}

fn block(cursor: &mut Cursor<'_>) -> Result<Block, Broken> {
    if cursor.shape()? != Shape::Object {
        let value = String::from_utf8_lossy(cursor.value()?).into_owned();
        return Ok(Block::Other(value.chars().take(40).collect()));
    }
    let mut kind = String::new();
    let (mut id, mut call, mut name, mut words) = (None, None, None, None);
    let mut input: &[u8] = b"{}";
    let mut parts = None;
    let mut failed = false;
    let (mut media_type, mut bytes) = (None, None);
    cursor.object(|cursor, entry| {
        match entry {
            b"type" => kind = text(cursor)?.unwrap_or_default(),
            b"id" => id = text(cursor)?,
            b"tool_use_id" => call = text(cursor)?,
            b"name" => name = text(cursor)?,
            b"tool_name" => name = text(cursor)?,
            b"text" => words = text(cursor)?,
            b"is_error" => failed = truth(cursor)?,
            b"input" => input = cursor.value()?,
            b"content" => parts = Some(content(cursor)?),
            b"source" => (media_type, bytes) = source(cursor)?,
            _ => return cursor.skip(),
        }
        Ok(())
    })?;
    Ok(match kind.as_str() {
        "text" => Block::Text(words.unwrap_or_default()),
        "thinking" | "redacted_thinking" | "fallback" => Block::Thinking,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Block::ToolUse {
            id: id.unwrap_or_default(),
            name: name.unwrap_or_default(),
            input: String::from_utf8_lossy(input).into_owned(),
        },
        "image" | "document" => Block::Media {
            kind,
            media_type,
            bytes,
        },
        _ if is_result(kind.as_bytes()) => {
            let parts = parts.unwrap_or_default();
            Block::ToolResult {
                tool_use_id: call.unwrap_or_default(),
                text: joined(&parts),
                is_error: failed,
                media: parts.iter().filter(|part| matches!(part, Block::Media { .. })).count(),
            }
        }
        _ => Block::Other(name.map_or_else(|| kind.clone(), |name| format!("{kind}: {name}"))),
    })
}

/// The texts and placeholders of a content, one line end apart.
pub(super) fn joined(parts: &[Block]) -> String {
    let shown: Vec<Cow<'_, str>> = parts.iter().filter_map(Block::shown).collect();
    shown.join("\n")
}

impl Block {
    /// The name of a block that this program does not know.
    pub(super) fn unknown(&self) -> Option<String> {
        match self {
            Self::Other(kind) => Some(kind.clone()),
            _ => None,
        }
    }

    /// What is shown of a block that is no call and no result.
    pub(super) fn shown(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Media {
                kind,
                media_type,
                bytes,
            } => {
                let mut label = format!("[{kind}");
                if let Some(media_type) = media_type {
                    label.push_str(&format!(": {media_type}"));
                }
                if let Some(bytes) = bytes {
                    label.push_str(&format!(", {bytes} bytes"));
                }
                label.push(']');
                Some(label.into())
            }
            Self::Other(kind) => Some(format!("[{kind}]").into()),
            Self::Thinking | Self::ToolUse { .. } | Self::ToolResult { .. } => None,
        }
    }
}

fn source(cursor: &mut Cursor<'_>) -> Result<(Option<String>, Option<u64>), Broken> {
    let (mut media_type, mut bytes) = (None, None);
    if cursor.shape()? != Shape::Object {
        cursor.skip()?;
        return Ok((None, None));
    }
    let mut encoded = false;
    cursor.object(|cursor, name| {
        match name {
            b"type" => encoded = text(cursor)?.as_deref() == Some("base64"),
            b"media_type" => media_type = text(cursor)?,
            b"data" => bytes = raw(cursor)?.map(|data| data.raw),
            _ => return cursor.skip(),
        }
        Ok(())
    })?;
    let size = |data: &[u8]| {
        if !encoded {
            return data.len();
        }
        let padding = data.iter().rev().take(2).filter(|byte| **byte == b'=').count();
        data.len() / 4 * 3 - padding.min(data.len() / 4 * 3)
    };
    Ok((media_type, bytes.map(|data| size(data) as u64)))
}

fn usage(cursor: &mut Cursor<'_>) -> Result<Option<Usage>, Broken> {
    if cursor.shape()? != Shape::Object {
        cursor.skip()?;
        return Ok(None);
    }
    let mut usage = Usage::default();
    cursor.object(|cursor, name| {
        let figure = match name {
            b"input_tokens" => &mut usage.input,
            b"cache_creation_input_tokens" => &mut usage.cache_creation,
            b"cache_read_input_tokens" => &mut usage.cache_read,
            b"output_tokens" => &mut usage.output,
            _ => return cursor.skip(),
        };
        *figure = 0;
        if cursor.shape()? != Shape::Word {
            return cursor.skip();
        }
        *figure = std::str::from_utf8(cursor.word())
            .ok()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0);
        Ok(())
    })?;
    Ok(Some(usage))
}

fn attachment(cursor: &mut Cursor<'_>) -> Result<Attachment, Broken> {
    let mut attachment = Attachment::default();
    if cursor.shape()? != Shape::Object {
        cursor.skip()?;
        return Ok(attachment);
    }
    cursor.object(|cursor, name| {
        match name {
            b"type" => attachment.kind = text(cursor)?.unwrap_or_default(),
            b"prompt" => attachment.prompt = Some(joined(&content(cursor)?)),
            _ => return cursor.skip(),
        }
        Ok(())
    })?;
    if attachment.kind != "queued_command" {
        attachment.prompt = None;
    }
    Ok(attachment)
}

fn renderings(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Broken> {
    let mut shown = Vec::new();
    if cursor.shape()? != Shape::Array {
        cursor.skip()?;
        return Ok(shown);
    }
    cursor.array(|cursor| {
        if cursor.shape()? != Shape::Object {
            return cursor.skip();
        }
        cursor.object(|cursor, name| {
            if name != b"content" {
                return cursor.skip();
            }
            shown.push(joined(&content(cursor)?));
            Ok(())
        })
    })?;
    Ok(shown)
}

fn raw<'a>(cursor: &mut Cursor<'a>) -> Result<Option<RawStr<'a>>, Broken> {
    if cursor.shape()? == Shape::String {
        return cursor.string().map(Some);
    }
    cursor.skip()?;
    Ok(None)
}

fn text(cursor: &mut Cursor<'_>) -> Result<Option<String>, Broken> {
    Ok(raw(cursor)?.map(|text| text.decode().into_owned()))
}

fn truth(cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
    if cursor.shape()? == Shape::Word {
        return Ok(cursor.word() == b"true");
    }
    cursor.skip()?;
    Ok(false)
}
