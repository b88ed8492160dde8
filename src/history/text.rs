//! An event in full: its words as they are shown, searched and counted.

use super::conversation::Conversation;
use super::error::HistoryError;
use super::event::{Event, What, parts};
use super::row::{Block, Kind, Row};
use super::scan::{Broken, Cursor, Shape};
use super::table::NONE;

/// What stands between the arguments of a call and its result.
const RULE: &str = "\n---\n";

/// An event's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// All of them.
    pub text: String,
    /// When it was written.
    pub created_at: Option<String>,
    /// The call's id.
    pub tool_use_id: Option<String>,
    /// Where the result of a call begins, in bytes of `text`.
    pub result_at: Option<usize>,
}

impl Conversation {
    /// The words of an event.
    pub(super) fn words(&self, event: &Event) -> Result<Words, HistoryError> {
        match event.what {
            What::Row(row) => {
                let row = self.transcript.version(self.transcript.table.newest(row))?;
                Ok(Words {
                    text: said(&row),
                    created_at: row.timestamp,
                    ..Words::default()
                })
            }
            What::Message(message) => self.message(message),
            What::Call(call, result) => self.call(call, result),
            What::Result(result) => {
                let (block, created_at) = self.block(result)?;
                let mut words = Words {
                    created_at,
                    result_at: Some(0),
                    ..Words::default()
                };
                if let Block::ToolResult { tool_use_id, text, .. } = block {
                    (words.tool_use_id, words.text) = (Some(tool_use_id), text);
                }
                Ok(words)
            }
        }
    }

    fn message(&self, message: u32) -> Result<Words, HistoryError> {
        let table = &self.transcript.table;
        let mut words = Words::default();
        for part in parts(table, &self.branch, message) {
            let row = self.transcript.version(table.newest(part))?;
            let text = said(&row);
            words.created_at = words.created_at.or(row.timestamp);
            if !self.copies.is_copy(part) && !text.is_empty() {
                if !words.text.is_empty() {
                    words.text.push_str("\n\n");
                }
                words.text.push_str(&text);
            }
        }
        Ok(words)
    }

    fn call(&self, call: u32, result: u32) -> Result<Words, HistoryError> {
        let (block, created_at) = self.block(call)?;
        let mut words = Words {
            created_at,
            ..Words::default()
        };
        if let Block::ToolUse { id, input, .. } = block {
            words.tool_use_id = Some(id);
            words.text = arguments(&input);
        }
        if result == NONE {
            return Ok(words);
        }
        if let (Block::ToolResult { text, .. }, _) = self.block(result)? {
            words.text.push_str(RULE);
            words.result_at = Some(words.text.len());
            words.text.push_str(&text);
        }
        Ok(words)
    }

    /// A call or a result, and when its row was written.
    fn block(&self, block: u32) -> Result<(Block, Option<String>), HistoryError> {
        let table = &self.transcript.table;
        let row = table.block_row[block as usize];
        let place = block - table.blocks[row as usize];
        let read = self.transcript.version(row)?;
        let found = read
            .content
            .into_iter()
            .filter(|block| matches!(block, Block::ToolUse { .. } | Block::ToolResult { .. }))
            .nth(place as usize);
        Ok((found.unwrap_or(Block::Thinking), read.timestamp))
    }
}

/// What a row says: its texts, or what the model was shown of an attachment.
pub(super) fn said(row: &Row) -> String {
    if row.kind != Kind::Attachment {
        let shown: Vec<_> = row.content.iter().filter_map(Block::shown).collect();
        return shown.join("\n\n");
    }
    let Some(attachment) = &row.attachment else {
        return String::new();
    };
    if attachment.rendered.is_empty() {
        return attachment.prompt.clone().unwrap_or_default();
    }
    attachment.rendered.join("\n")
}

/// The arguments of a call, one a line, strings as they are.
pub(super) fn arguments(input: &str) -> String {
    let mut lines = Vec::new();
    let mut read = |cursor: &mut Cursor<'_>| -> Result<(), Broken> {
        if cursor.shape()? != Shape::Object {
            return Err(Broken);
        }
        cursor.object(|cursor, name| {
            let name = String::from_utf8_lossy(name).into_owned();
            let value = match cursor.shape()? {
                Shape::String => cursor.string()?.decode().into_owned(),
                _ => String::from_utf8_lossy(cursor.value()?).into_owned(),
            };
            lines.push(format!("{name}: {value}"));
            Ok(())
        })
    };
    match read(&mut Cursor::new(input.trim_start().as_bytes())) {
        Ok(()) => lines.join("\n"),
        Err(Broken) => input.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_one_a_line_as_they_were_given() {
        let input = r#"{"command":"printf \"a\\n\"\nls","timeout":5,"env":{"A":"b"}}"#;
        assert_eq!(
            arguments(input),
            "command: printf \"a\\n\"\nls\ntimeout: 5\nenv: {\"A\":\"b\"}"
        );
        assert_eq!(arguments("{}"), "");
        assert_eq!(arguments("[1]"), "[1]");
    }
}
