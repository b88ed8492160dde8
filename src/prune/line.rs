//! One row of a transcript, read as far as a cut needs it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::event::{Entry, Role, ToolResult, ToolUse};
use super::origin::{Sender, sender};
use super::rows::{InsertKind, Media, Provenance, Row, frame};
use super::text::Text;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A user's row with text.
    User,
    /// A user's row with a tool's result.
    Result,
    /// A block of a response.
    Assistant,
    /// An attachment.
    Attachment,
    /// Anything else.
    Other,
}

/// A row, its fields unparsed. Of a key that stands twice, the last one counts.
#[derive(Debug, Default)]
pub struct Line<'a> {
    uuid: Option<&'a RawValue>,
    parent: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    is_sidechain: Option<&'a RawValue>,
    is_meta: Option<&'a RawValue>,
    origin: Option<&'a RawValue>,
    prompt: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    attachment: Option<&'a RawValue>,
    rendered: Option<&'a RawValue>,
    stored: Option<&'a RawValue>,
}

/// The rows of a line with their places in it; what is no row (a line in flight, rubbish) is left out.
pub fn split(bytes: &[u8]) -> Vec<(Range<usize>, Line<'_>)> {
    let skip = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut stream = serde_json::Deserializer::from_slice(&bytes[skip..]).into_iter::<Line<'_>>();
    let mut rows = Vec::new();
    let mut start = skip;
    while let Some(Ok(line)) = stream.next() {
        let end = skip + stream.byte_offset();
        rows.push((start..end, line));
        start = end;
    }
    rows
}

impl<'de: 'a, 'a> Deserialize<'de> for Line<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Line<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a row")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
                let mut line = Line::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let field = match key.as_str() {
                        "uuid" => &mut line.uuid,
                        "parentUuid" => &mut line.parent,
                        "type" => &mut line.kind,
                        "isSidechain" => &mut line.is_sidechain,
                        "isMeta" => &mut line.is_meta,
                        "origin" => &mut line.origin,
                        "promptId" => &mut line.prompt,
                        "message" => &mut line.message,
                        "attachment" => &mut line.attachment,
                        "rendered" => &mut line.rendered,
                        "toolUseResult" => &mut line.stored,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *field = Some(map.next_value()?);
                }
                Ok(line)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, rename = "commandMode")]
    command_mode: Option<Text<'a>>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
    #[serde(borrow)]
    filename: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

/// A field of an object that may be of another shape than expected; then it is as good as absent.
fn read<'a, T: serde::Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn blocks<'a>(content: Option<&'a RawValue>) -> Vec<Block<'a>> {
    let Some(content) = content else { return Vec::new() };
    if let Ok(text) = serde_json::from_str::<Text<'a>>(content.get()) {
        return vec![Block {
            kind: Some(Text::from("text")),
            text: Some(text),
            ..Block::default()
        }];
    }
    serde_json::from_str(content.get()).unwrap_or_default()
}

/// The text blocks of a content, joined, and what else there is.
fn joined(blocks: &[Block<'_>]) -> (String, Media) {
    let mut media = Media::default();
    let mut texts = Vec::new();
    for block in blocks {
        match block.kind.as_ref().map(Text::as_str) {
            Some("image") => media.images += 1,
            Some("document") => media.documents += 1,
            Some("thinking" | "redacted_thinking") => media.thinking += 1,
            _ => texts.extend(block.text.as_ref().map(Text::as_str)),
        }
    }
    (texts.join("\n"), media)
}

impl Line<'_> {
    /// The row's uuid; a row without one is bookkeeping.
    pub fn uuid(&self) -> Option<Text<'_>> {
        read(self.uuid)
    }

    /// The uuid of the row before.
    pub fn parent(&self) -> Option<String> {
        read::<Text<'_>>(self.parent).map(|parent| parent.as_str().to_owned())
    }

    /// Whether it belongs to a subagent's conversation.
    pub fn is_sidechain(&self) -> bool {
        read(self.is_sidechain).unwrap_or(false)
    }

    fn is_meta(&self) -> bool {
        read(self.is_meta).unwrap_or(false)
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        let kind: Option<Text<'_>> = read(self.kind);
        let has_result =
            |message: &RawValue| memchr::memmem::find(message.get().as_bytes(), b"\"tool_result\"").is_some();
        match kind.as_ref().map(Text::as_str) {
            Some("user") if self.message.is_some_and(has_result) => Kind::Result,
            Some("user") => Kind::User,
            Some("assistant") => Kind::Assistant,
            Some("attachment") => Kind::Attachment,
            _ => Kind::Other,
        }
    }

    /// Whether an event carries it as an entry.
    pub fn is_carried(&self) -> bool {
        match self.kind() {
            Kind::User | Kind::Result => !self.is_meta(),
            Kind::Assistant => true,
            Kind::Attachment | Kind::Other => false,
        }
    }

    /// The id of the response that it is a block of.
    pub fn message_id(&self) -> Option<String> {
        if self.kind() != Kind::Assistant {
            return None;
        }
        let message: Message<'_> = read(self.message)?;
        message.id.map(|id| id.as_str().to_owned())
    }

    /// The row as a cut needs it.
    pub fn to_row(&self, uuid: &str, with_entry: bool) -> Row {
        let mut row = Row {
            uuid: uuid.to_owned(),
            prompt_id: self.prompt_id(),
            ..Row::default()
        };
        match self.kind() {
            Kind::User | Kind::Result | Kind::Assistant => self.message_row(&mut row, with_entry),
            Kind::Attachment => self.attachment_row(&mut row),
            Kind::Other => {}
        }
        row
    }

    /// The prompt that its turn began with. What a compaction wrote again names the turn that ran meanwhile; only rows
    /// with the sender of a prompt, or with the record of a call, are the client's first writing.
    fn prompt_id(&self) -> Option<String> {
        let is_first = self.origin.is_some() || self.stored.is_some();
        let id = read::<Text<'_>>(self.prompt).filter(|_| is_first)?;
        Some(id.as_str().to_owned())
    }

    fn message_row(&self, row: &mut Row, with_entry: bool) {
        let message: Message<'_> = read(self.message).unwrap_or_default();
        let blocks = blocks(message.content);
        let (text, media) = joined(&blocks);
        row.media = media;
        row.chars = text.chars().count();
        for block in &blocks {
            row.chars += block.input.map_or(0, |input| input.get().chars().count());
            if block.tool_use_id.is_some() {
                let (text, media) = joined(&self::blocks(block.content));
                row.chars += text.chars().count();
                row.media.add(media);
            }
        }
        if self.kind() == Kind::Assistant {
            row.message_id = message.id.map(|id| id.as_str().to_owned());
            row.input_tokens = read::<Usage>(message.usage)
                .map(|usage| {
                    [usage.cache_creation_input_tokens, usage.cache_read_input_tokens]
                        .iter()
                        .fold(usage.input_tokens, |sum, part| sum.saturating_add(part.unwrap_or(0)))
                })
                .filter(|tokens| *tokens > 0);
        } else {
            row.provenance = self.provenance(&text);
        }
        if self.is_meta() && self.kind() == Kind::User {
            if row.provenance == Provenance::Meta && !text.trim().is_empty() {
                row.restored = Some((InsertKind::Frame, frame(&text, Provenance::Meta)));
            }
        } else if with_entry {
            row.entry = Some(self.to_entry(&row.uuid, text, &blocks));
        }
    }

    fn provenance(&self, text: &str) -> Provenance {
        let start = text.trim_start();
        let sender = sender(self.origin);
        if sender != Sender::Person && (start.starts_with("<local-command-") || start.starts_with("<command-name>")) {
            return Provenance::LocalCommand;
        }
        match (self.is_meta(), sender) {
            (true, _) => Provenance::Meta,
            (false, Sender::Other) => Provenance::Notification,
            (false, Sender::Person | Sender::Unnamed) => Provenance::Person,
        }
    }

    fn attachment_row(&self, row: &mut Row) {
        let attachment: Attachment<'_> = read(self.attachment).unwrap_or_default();
        let rendered: Vec<Block<'_>> = read(self.rendered).unwrap_or_default();
        let mut texts = Vec::new();
        for part in &rendered {
            let (text, media) = joined(&blocks(part.content));
            row.media.add(media);
            row.chars += text.chars().count();
            texts.push(text);
        }
        let shown = texts.join("\n");
        row.restored = match attachment.kind.as_ref().map(Text::as_str) {
            Some("queued_command") => queued(&attachment, &shown, row),
            // What an `@` mention brought in; the names of the kinds that are the client's own are not among them.
            Some(
                "file"
                | "directory"
                | "already_read_file"
                | "compact_file_reference"
                | "pdf_reference"
                | "mcp_resource"
                | "selected_lines_in_ide",
            ) => reading(&attachment, &shown).map(|text| (InsertKind::FileReading, text)),
            _ => None,
        };
    }

    fn to_entry(&self, uuid: &str, text: String, blocks: &[Block<'_>]) -> Entry<'static> {
        let own = |text: &Option<Text<'_>>| text.clone().unwrap_or_default().into_owned();
        let mut entry = Entry {
            text: Text(Cow::Owned(text)),
            handle: Some(Text(Cow::Owned(uuid.to_owned()))),
            ..Entry::default()
        };
        if self.kind() == Kind::Assistant {
            entry.role = Role::Assistant;
        }
        for block in blocks {
            match block.kind.as_ref().map(Text::as_str) {
                Some("tool_use") => entry.tool_uses.push(ToolUse {
                    id: own(&block.id),
                    tool: own(&block.name),
                    input: block.input.map(|input| Cow::Owned(input.to_owned())),
                    is_error: false,
                }),
                Some("tool_result") => entry.tool_results.push(ToolResult {
                    id: own(&block.tool_use_id),
                    text: Text(Cow::Owned(joined(&self::blocks(block.content)).0)),
                    is_error: block.is_error.unwrap_or(false),
                    result: None,
                }),
                _ => {}
            }
        }
        if let ([result], Some(stored)) = (entry.tool_results.as_mut_slice(), self.stored) {
            result.result = Some(Cow::Owned(stored.to_owned()));
        }
        entry
    }
}

/// A prompt typed while the model worked goes back bare, as the person's words; anything else that waited in the same
/// line (a background agent's report) inside its frame.
fn queued(attachment: &Attachment<'_>, shown: &str, row: &mut Row) -> Option<(InsertKind, String)> {
    let (prompt, media) = joined(&blocks(attachment.prompt));
    row.media.add(media);
    let mode = attachment.command_mode.as_ref().map(Text::as_str);
    let typed = mode.is_none_or(|mode| mode == "prompt") && sender(attachment.origin) != Sender::Other;
    if row.chars == 0 {
        row.chars = prompt.chars().count();
    }
    if typed && !prompt.trim().is_empty() {
        return Some((InsertKind::QueuedPrompt, prompt));
    }
    let text = if shown.trim().is_empty() { &prompt } else { shown };
    (!text.trim().is_empty()).then(|| (InsertKind::Report, frame(text, Provenance::Notification)))
}

fn reading(attachment: &Attachment<'_>, shown: &str) -> Option<String> {
    if !shown.trim().is_empty() {
        return Some(shown.to_owned());
    }
    #[derive(serde::Deserialize)]
    struct Content<'a> {
        #[serde(borrow)]
        file: Option<File<'a>>,
    }
    #[derive(serde::Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        content: Option<Text<'a>>,
    }
    // Rows of older builds have no rendering.
    let content = read::<Content<'_>>(attachment.content)?.file?.content?;
    let name = attachment.filename.as_ref().map_or("a file", Text::as_str);
    Some(frame(
        &format!("Content of {name}, which the user mentioned:\n{}", content.as_str()),
        Provenance::Meta,
    ))
}
