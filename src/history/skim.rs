//! What a pass over the transcript keeps of a row: who it is, where it hangs, what it holds, without its payload.

use memchr::memmem;

use super::key::Key;
use super::scan::{Broken, Cursor, RawStr, Shape};

/// A row's kind and marks, in one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bits(pub u32);

impl Bits {
    const KIND: u32 = 7;
    /// A row without a kind that is known.
    pub const UNKNOWN: u32 = 0;
    /// A prompt, a result, or what the client adds as the person.
    pub const USER: u32 = 1;
    /// A part of a response.
    pub const ASSISTANT: u32 = 2;
    /// What the client shows the model beside the conversation.
    pub const ATTACHMENT: u32 = 3;
    /// A notice, or the boundary of a compaction.
    pub const SYSTEM: u32 = 4;
    /// Passed through: it says nothing and takes no address.
    pub const PROGRESS: u32 = 5;

    /// Belongs to a subagent.
    pub const SIDECHAIN: u32 = 1 << 3;
    /// Added by the client, not typed.
    pub const META: u32 = 1 << 4;
    /// A compaction's summary.
    pub const SUMMARY: u32 = 1 << 5;
    /// The boundary of a compaction.
    pub const BOUNDARY: u32 = 1 << 6;
    /// Has text or media to show.
    pub const VISIBLE: u32 = 1 << 7;
    /// A prompt that a person typed while the model worked.
    pub const QUEUED: u32 = 1 << 8;
    /// Context that a hook added.
    pub const HOOK: u32 = 1 << 9;
    /// Has a block of an unknown kind.
    pub const UNKNOWN_BLOCK: u32 = 1 << 10;
    /// Has a result of a call.
    pub const RESULT: u32 = 1 << 11;
    /// Written by a hook's answer to a compaction.
    pub const HANDED_BACK: u32 = 1 << 12;
    /// Said to come from a person.
    pub const HUMAN: u32 = 1 << 13;
    /// Said to come from something else than a person.
    pub const NOT_HUMAN: u32 = 1 << 14;
    /// Its text begins like the client's record of a command, or like a reminder or a notification.
    pub const ECHO: u32 = 1 << 15;
    /// A reminder that the client repeats turn after turn.
    pub const REMINDER: u32 = 1 << 16;
    /// A newer version of a row that was there before.
    pub const REPEAT: u32 = 1 << 17;
    /// There is a newer version of it.
    pub const REPLACED: u32 = 1 << 18;
    /// Has what only a prompt has that came in from outside.
    pub const TYPED: u32 = 1 << 19;

    /// Whether one of these marks is set.
    pub const fn has(self, marks: u32) -> bool {
        self.0 & marks != 0
    }

    /// The kind.
    pub const fn kind(self) -> u32 {
        self.0 & Self::KIND
    }
}

/// A call or a result in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkimBlock<'a> {
    /// Whether it is a result.
    pub is_result: bool,
    /// The call's id.
    pub id: Key,
    /// The tool's name as it stands in the row; for calls.
    pub name: RawStr<'a>,
    /// Whether the result says that the call failed.
    pub failed: bool,
}

/// What is kept of a row.
#[derive(Debug, Default)]
pub(super) struct Skim<'a> {
    /// The row's id; a row without one is bookkeeping.
    pub uuid: Option<Key>,
    /// The row it follows.
    pub parent: Option<Key>,
    /// The row that a boundary follows.
    pub logical_parent: Option<Key>,
    /// Kind and marks.
    pub bits: Bits,
    /// The response it is a part of.
    pub message: Option<Key>,
    /// Calls and results, in order.
    pub blocks: Vec<SkimBlock<'a>>,
    /// `compactMetadata` as it stands in the row.
    pub metadata: Option<&'a [u8]>,
    /// The ordinal that a boot in it names.
    pub marker: Option<u32>,
    /// Whether it names its session, as what the client writes does.
    pub has_session: bool,
    kind: Option<RawStr<'a>>,
    subtype_boundary: bool,
    system_visible: bool,
    content: Content,
    attachment: u32,
    rendered: Rendered,
}

#[derive(Debug, Default, Clone, Copy)]
struct Content {
    marks: u32,
    boots: bool,
    first: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Rendered {
    visible: bool,
    boots: bool,
}

impl<'a> Skim<'a> {
    /// Reads the row at the cursor.
    pub fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        let start = cursor.position();
        let mut row = *cursor;
        row.object(|cursor, name| self.entry(cursor, name))?;
        let end = row.position();
        let bytes = cursor.rest().get(..end - start).ok_or(Broken)?;
        *cursor = row;
        self.settle(bytes);
        Ok(())
    }

    fn entry(&mut self, cursor: &mut Cursor<'a>, name: &[u8]) -> Result<(), Broken> {
        match name {
            b"uuid" => self.uuid = key(cursor)?,
            b"parentUuid" => self.parent = key(cursor)?,
            b"logicalParentUuid" => self.logical_parent = key(cursor)?,
            b"type" => self.kind = text(cursor)?,
            b"subtype" => self.subtype_boundary = text(cursor)?.is_some_and(|text| text.raw == b"compact_boundary"),
            b"isSidechain" => self.mark(Bits::SIDECHAIN, truth(cursor)?),
            b"isMeta" => self.mark(Bits::META, truth(cursor)?),
            b"isCompactSummary" => self.mark(Bits::SUMMARY, truth(cursor)?),
            b"rowSource" => {
                let by_hook = text(cursor)?.is_some_and(|text| text.raw == b"hook");
                self.mark(Bits::HANDED_BACK, by_hook);
            }
            b"origin" => {
                let human = origin(cursor)?;
                self.mark(Bits::HUMAN, human == Some(true));
                self.mark(Bits::NOT_HUMAN, human == Some(false));
            }
            b"promptSource" | b"permissionMode" => {
                self.bits.0 |= Bits::TYPED;
                return cursor.skip();
            }
            b"sessionId" => {
                self.has_session = true;
                return cursor.skip();
            }
            b"message" => return self.message(cursor),
            b"attachment" => return self.attachment(cursor),
            b"rendered" => self.rendered = rendered(cursor)?,
            b"content" => self.system_visible = text(cursor)?.is_some_and(|text| is_visible(text.raw)),
            b"compactMetadata" => self.metadata = Some(cursor.value()?),
            _ => return cursor.skip(),
        }
        Ok(())
    }

    fn mark(&mut self, mark: u32, set: bool) {
        // The last of two equal names counts.
        self.bits.0 = if set { self.bits.0 | mark } else { self.bits.0 & !mark };
    }

    fn message(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        self.message = None;
        self.content = Content::default();
        self.blocks.clear();
        if cursor.shape()? != Shape::Object {
            return cursor.skip();
        }
        cursor.object(|cursor, name| match name {
            b"id" => {
                self.message = key(cursor)?;
                Ok(())
            }
            b"content" => self.content(cursor),
            _ => cursor.skip(),
        })
    }

    fn content(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        self.content = Content::default();
        self.blocks.clear();
        match cursor.shape()? {
            Shape::String => {
                let text = cursor.string()?;
                self.text(text.raw);
                Ok(())
            }
            Shape::Array => cursor.array(|cursor| self.block(cursor)),
            _ => cursor.skip(),
        }
    }

    fn text(&mut self, raw: &[u8]) {
        if !is_visible(raw) {
            return;
        }
        self.content.marks |= Bits::VISIBLE;
        if !self.content.first {
            self.content.first = true;
            let start = lead(raw);
            self.content.boots = starts(start, BOOT);
            if ECHOES.iter().any(|echo| starts(start, echo)) {
                self.content.marks |= Bits::ECHO;
            }
        }
    }

    fn block(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        if cursor.shape()? != Shape::Object {
            self.content.marks |= Bits::UNKNOWN_BLOCK;
            return cursor.skip();
        }
        let mut kind: &[u8] = b"";
        let (mut id, mut call, mut name, mut words) = (None, None, None, None);
        let mut failed = false;
        cursor.object(|cursor, entry| {
            match entry {
                b"type" => kind = text(cursor)?.map_or(b"", |text| text.raw),
                b"id" => id = text(cursor)?,
                b"tool_use_id" => call = text(cursor)?,
                b"name" => name = text(cursor)?,
                b"text" => words = text(cursor)?,
                b"is_error" => failed = truth(cursor)?,
                _ => return cursor.skip(),
            }
            Ok(())
        })?;
        match kind {
            b"text" => {
                if let Some(words) = words {
                    self.text(words.raw);
                }
            }
            b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => self.blocks.push(SkimBlock {
                is_result: false,
                id: id.map_or(Key(0), |id| of(&id)),
                name: name.unwrap_or(NO_TEXT),
                failed: false,
            }),
            _ if is_result(kind) => {
                self.content.marks |= Bits::RESULT;
                self.blocks.push(SkimBlock {
                    is_result: true,
                    id: call.map_or(Key(0), |id| of(&id)),
                    name: NO_TEXT,
                    failed,
                });
            }
            b"image" | b"document" => {
                self.content.first = true;
                self.content.marks |= Bits::VISIBLE;
            }
            b"thinking" | b"redacted_thinking" | b"fallback" => {}
            _ => self.content.marks |= Bits::UNKNOWN_BLOCK,
        }
        Ok(())
    }

    fn attachment(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        self.attachment = 0;
        if cursor.shape()? != Shape::Object {
            return cursor.skip();
        }
        let mut kind: &[u8] = b"";
        let mut typed = true;
        let mut human = true;
        let mut prompt = false;
        cursor.object(|cursor, name| {
            match name {
                b"type" => kind = text(cursor)?.map_or(b"", |text| text.raw),
                b"commandMode" => typed = text(cursor)?.is_none_or(|mode| mode.raw == b"prompt"),
                b"origin" => human = origin(cursor)? != Some(false),
                b"prompt" => prompt = cursor.value()?.len() > 2,
                _ => return cursor.skip(),
            }
            Ok(())
        })?;
        self.attachment = match kind {
            b"queued_command" if typed && human => Bits::QUEUED | if prompt { Bits::VISIBLE } else { 0 },
            b"hook_additional_context" => Bits::HOOK,
            b"date" | b"date_change" => Bits::REMINDER,
            kind if kind.ends_with(b"reminder") || kind.ends_with(b"_usage") => Bits::REMINDER,
            _ => 0,
        };
        Ok(())
    }

    /// Takes together what the entries said, once all of them are known.
    fn settle(&mut self, row: &[u8]) {
        let kind = match self.kind.map_or(&b""[..], |kind| kind.raw) {
            b"user" => Bits::USER,
            b"assistant" => Bits::ASSISTANT,
            b"attachment" => Bits::ATTACHMENT,
            b"system" => Bits::SYSTEM,
            b"progress" => Bits::PROGRESS,
            _ => Bits::UNKNOWN,
        };
        self.bits.0 |= kind;
        let mut boots = false;
        match kind {
            Bits::USER | Bits::ASSISTANT => {
                self.bits.0 |= self.content.marks;
                boots = self.content.boots && kind == Bits::USER;
            }
            Bits::ATTACHMENT => {
                self.bits.0 |= self.attachment;
                self.mark(
                    Bits::VISIBLE,
                    self.rendered.visible || self.attachment & Bits::VISIBLE != 0,
                );
                boots = self.rendered.boots || self.attachment & Bits::HOOK != 0;
            }
            Bits::SYSTEM => {
                self.mark(Bits::VISIBLE, self.system_visible);
                self.mark(Bits::BOUNDARY, self.subtype_boundary);
            }
            _ => {}
        }
        if kind != Bits::ASSISTANT {
            self.message = None;
        }
        if !matches!(kind, Bits::USER | Bits::ASSISTANT) {
            self.blocks.clear();
        }
        if boots {
            self.marker = marker(row);
        }
    }
}

const NO_TEXT: RawStr<'static> = RawStr {
    raw: b"",
    escaped: false,
};

/// How our boot begins.
const BOOT: &[u8] = b"<notesoup window=";

/// How texts begin that stand in the person's place and are not the person's.
const ECHOES: [&[u8]; 11] = [
    BOOT,
    b"<command-name>",
    b"<command-message>",
    b"<command-args>",
    b"<local-command-",
    b"<bash-input>",
    b"<bash-stdout>",
    b"<bash-stderr>",
    b"<task-notification>",
    b"<system-reminder>",
    b"<user-memory-input>",
];

/// Whether a block of this kind answers a call.
pub(super) fn is_result(kind: &[u8]) -> bool {
    kind.ends_with(b"tool_result")
}

/// The ordinal of the last boot that the row's text names.
fn marker(row: &[u8]) -> Option<u32> {
    const OPENING: &[u8] = br#"<notesoup window=\"claude:"#;
    memmem::rfind_iter(row, OPENING).find_map(|at| {
        let rest = &row[at + OPENING.len()..];
        let end = memmem::find(rest, br#"\">"#)?;
        let id = std::str::from_utf8(&rest[..end]).ok()?;
        let (session, ordinal) = id.rsplit_once(':')?;
        (!session.is_empty()).then_some(())?;
        ordinal.parse().ok()
    })
}

fn of(id: &RawStr<'_>) -> Key {
    if id.escaped {
        return Key::of(id.decode().as_bytes());
    }
    Key::of(id.raw)
}

fn text<'a>(cursor: &mut Cursor<'a>) -> Result<Option<RawStr<'a>>, Broken> {
    if cursor.shape()? == Shape::String {
        return cursor.string().map(Some);
    }
    cursor.skip()?;
    Ok(None)
}

fn key(cursor: &mut Cursor<'_>) -> Result<Option<Key>, Broken> {
    Ok(text(cursor)?.map(|id| of(&id)))
}

fn truth(cursor: &mut Cursor<'_>) -> Result<bool, Broken> {
    if cursor.shape()? == Shape::Word {
        return Ok(cursor.word() == b"true");
    }
    cursor.skip()?;
    Ok(false)
}

/// Whether an `origin` says that a person is behind the row; none when it does not say.
fn origin(cursor: &mut Cursor<'_>) -> Result<Option<bool>, Broken> {
    let mut human = None;
    if cursor.shape()? != Shape::Object {
        cursor.skip()?;
        return Ok(None);
    }
    cursor.object(|cursor, name| {
        if name == b"kind" {
            human = text(cursor)?.map(|kind| kind.raw == b"human");
            return Ok(());
        }
        cursor.skip()
    })?;
    Ok(human)
}

/// Whether the renderings of an attachment have text, and whether the first begins with a boot.
fn rendered(cursor: &mut Cursor<'_>) -> Result<Rendered, Broken> {
    let mut found = Rendered::default();
    if cursor.shape()? != Shape::Array {
        cursor.skip()?;
        return Ok(found);
    }
    cursor.array(|cursor| {
        if cursor.shape()? != Shape::Object {
            return cursor.skip();
        }
        cursor.object(|cursor, name| {
            if name != b"content" {
                return cursor.skip();
            }
            if cursor.shape()? != Shape::String {
                let value = cursor.value()?;
                found.visible |= value.len() > 2 && value != b"null";
                return Ok(());
            }
            let raw = cursor.string()?.raw;
            let start = lead(raw);
            let start = start.strip_prefix(b"<system-reminder>").map_or(start, lead);
            found.boots |= starts(start, BOOT);
            found.visible |= is_visible(raw);
            Ok(())
        })
    })?;
    Ok(found)
}

/// The string without the white space it begins with.
fn lead(mut raw: &[u8]) -> &[u8] {
    loop {
        raw = match raw {
            [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            _ => return raw,
        };
    }
}

/// Whether there is anything but white space in the string.
pub(super) fn is_visible(raw: &[u8]) -> bool {
    !lead(raw).is_empty()
}

/// Whether the string begins so; a writer may have escaped the `<`.
fn starts(raw: &[u8], with: &[u8]) -> bool {
    raw.starts_with(with)
        || raw
            .strip_prefix(br"\u003c")
            .or_else(|| raw.strip_prefix(br"\u003C"))
            .is_some_and(|rest| rest.starts_with(&with[1..]))
}
