//! What fits into an answer: both renderings stay within [`MAX_BYTES`], and what does not fit is counted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::outcome::{MAX_BYTES, TextWindow, WindowError, text_window};

/// Room kept for the envelope around `data`.
const ENVELOPE: usize = 64;

/// The bytes of a character in whichever rendering it takes more.
pub fn cost(character: char) -> usize {
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
    pub fn all() -> Self {
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
pub fn window(text: &str, offset: i64, limit: usize, room: Room) -> Result<TextWindow, WindowError> {
    text_window(text, offset, limit, room.left(), cost)
}

/// A unified diff, cut to fit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diff {
    /// The first part of the diff, in whole lines where possible.
    pub text: String,
    /// How many characters of the diff were left out.
    pub omitted_chars: usize,
}

impl Diff {
    /// The diff of two bodies.
    pub fn of(before: &str, after: &str, room: usize) -> Self {
        let full = unified(before, after);
        let Ok(window) = text_window(&full, 0, usize::MAX, room, cost) else {
            return Self {
                text: String::new(),
                omitted_chars: full.chars().count(),
            };
        };
        let mut text = window.text;
        if window.next_offset_chars.is_some()
            && let Some(end) = text.rfind('\n')
            && end > text.len() / 2
        {
            text.truncate(end + 1);
        }
        Self {
            omitted_chars: window.total_chars - text.chars().count(),
            text,
        }
    }
}

/// Above this many changed lines a line-by-line comparison takes too long.
const MAX_COMPARED_LINES: usize = 4000;
const CONTEXT: usize = 3;

fn unified(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let changed = old.len() + new.len() - 2 * (same_start + same_end);
    if changed <= MAX_COMPARED_LINES {
        let diff = similar::TextDiff::from_lines(before, after);
        return diff
            .unified_diff()
            .context_radius(CONTEXT)
            .missing_newline_hint(false)
            .to_string();
    }
    // One block out, one block in.
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let from = same_start.saturating_sub(CONTEXT);
    let to = (old.len() - same_end + CONTEXT).min(old.len());
    let tail = to - old_end;
    let mut text = format!(
        "@@ -{},{} +{},{} @@\n",
        from + 1,
        to - from,
        from + 1,
        new_end + tail - from
    );
    let mut push = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push('\n');
            }
        }
    };
    push(' ', old.get(from..same_start));
    push('-', old.get(same_start..old_end));
    push('+', new.get(same_start..new_end));
    push(' ', old.get(old_end..to));
    text
}

/// A home that could not be read for a query; the rest was answered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Unavailable {
    /// What its addresses begin with; `(this conversation)` for the session.
    pub home: String,
    /// Why.
    pub reason: String,
}

/// A size for a person: `812 B`, `3.4 kB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let tenths = bytes.div_ceil(100);
    if tenths < 10_000 {
        format!("{}.{} kB", tenths / 10, tenths % 10)
    } else {
        format!("{}.{} MB", tenths / 10_000, tenths / 1000 % 10)
    }
}
