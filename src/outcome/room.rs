//! What fits into an answer: both renderings stay within [`MAX_BYTES`](super::MAX_BYTES), and what does not fit is
//! counted.

use serde::Serialize;

use super::{MAX_BYTES, TextWindow, WindowError, text_window};

/// Room kept for the envelope around `data`.
const ENVELOPE: usize = 64;

/// The bytes of a character in whichever rendering it takes more.
pub const fn cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

/// The bytes that a value takes as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 4, |text| text.len())
}

/// The room that is left in both renderings.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    json: usize,
    text: usize,
}

impl Room {
    /// All of it.
    pub const fn all() -> Self {
        Self {
            json: MAX_BYTES - ENVELOPE,
            text: MAX_BYTES - ENVELOPE,
        }
    }

    /// Takes room for one more piece if both renderings have it.
    pub fn take(&mut self, json: usize, text: usize) -> bool {
        match (self.json.checked_sub(json), self.text.checked_sub(text)) {
            (Some(json), Some(text)) => {
                *self = Self { json, text };
                true
            }
            _ => false,
        }
    }

    /// What is left in the fuller one.
    pub fn left(&self) -> usize {
        self.json.min(self.text)
    }
}

/// A window that fits the room.
///
/// # Errors
/// As [`text_window`].
pub fn window(text: &str, offset: i64, limit: usize, room: Room) -> Result<TextWindow, WindowError> {
    text_window(text, offset, limit, room.left(), cost)
}
