//! A window on a long text, counted in code points; joined windows rebuild the source.

use schemars::JsonSchema;
use serde::Serialize;

/// What ended a window before the text did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    /// The number of code points asked for.
    Limit,
    /// The room an answer has, in bytes.
    Bytes,
}

/// A part of a text. All offsets and lengths are code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextWindow {
    /// The part itself.
    pub text: String,
    /// Where the part begins in the source.
    pub offset_chars: usize,
    /// How long the source is.
    pub total_chars: usize,
    /// Where the next window begins; null at the end of the source.
    pub next_offset_chars: Option<usize>,
    /// What ended the window; null at the end of the source.
    pub limited_by: Option<LimitedBy>,
}

/// Why no window can be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The offset lies behind the end (or before the start) of the text.
    #[error("offset {offset} is outside the text, which has {total} characters")]
    Offset {
        /// The offset that was asked for.
        offset: i64,
        /// The length of the text in code points.
        total: usize,
    },
    /// Not one character fits the room, so reading on would never end.
    #[error("there is no room for a single character of the text")]
    NoRoom,
}

/// Cuts a window out of `text`.
///
/// `offset` counts code points, from the end when negative; `limit` is the most code points, `max_bytes` the most
/// bytes that `cost` may add up to, where `cost` gives what a character takes in the rendering at hand (e.g. its
/// escaped length in JSON).
///
/// # Errors
/// When the offset is outside the text, or when not one character fits.
pub fn text_window(
    text: &str,
    offset: i64,
    limit: usize,
    max_bytes: usize,
    cost: impl Fn(char) -> usize,
) -> Result<TextWindow, WindowError> {
    let total = text.chars().count();
    let outside = || WindowError::Offset { offset, total };
    let start = if offset < 0 {
        let back = usize::try_from(offset.unsigned_abs()).map_err(|_| outside())?;
        total.checked_sub(back).ok_or_else(outside)?
    } else {
        usize::try_from(offset)
            .ok()
            .filter(|start| *start <= total)
            .ok_or_else(outside)?
    };
    let mut part = String::new();
    let (mut taken, mut bytes) = (0, 0);
    let mut limited_by = None;
    for character in text.chars().skip(start) {
        if taken == limit {
            limited_by = Some(LimitedBy::Limit);
            break;
        }
        bytes += cost(character);
        if bytes > max_bytes {
            limited_by = Some(LimitedBy::Bytes);
            break;
        }
        part.push(character);
        taken += 1;
    }
    if taken == 0 && start < total {
        return Err(WindowError::NoRoom);
    }
    Ok(TextWindow {
        text: part,
        offset_chars: start,
        total_chars: total,
        next_offset_chars: limited_by.map(|_| start + taken),
        limited_by,
    })
}
