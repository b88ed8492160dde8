//! `notes_read`: a window on a note's body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Reply;
use super::near;
use crate::notes::address::Address;
use crate::notes::home::Homes;
use crate::notes::note::Key;
use crate::notes::text::{cut, title};
use crate::notes::{counts, store, time};
use crate::outcome::room::{Room, json_bytes, window};
use crate::outcome::{LimitedBy, Refusal, TextWindow, WindowError};

pub const DESCRIPTION: &str = "Read a note by its address, also one in the wastebasket or of another agent (`@agents/<name>/…`). \
    Use it for notes that the start of this window, notes_list or notes_search named. Long notes come in windows: go on at \
    `next_offset_chars`.";

const DEFAULT_LIMIT: u32 = 12_000;
const MAX_LIMIT: u32 = 50_000;
/// The most code points of a frontmatter value that is shown.
const MAX_VALUE_CHARS: usize = 120;

/// The parameters of `notes_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The note.
    pub address: String,
    /// Where to begin, in characters of the body; negative counts from the end (-2000: the last 2000).
    #[serde(default)]
    pub offset_chars: i64,
    /// How many characters at most, 1 to 50000; 12000 when left out.
    #[schemars(range(min = 1, max = 50_000))]
    pub limit_chars: Option<u32>,
}

/// What `notes_read` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The note's address.
    pub address: String,
    /// Its first heading or line.
    pub title: String,
    /// A hash of the content; hand it to `if_version` when you change the note.
    pub version: String,
    /// Who the content is from.
    pub origin: Option<String>,
    /// When the note was first written.
    pub created_at: Option<String>,
    /// When body or origin last changed; the file's time when the note does not say.
    pub updated_at: Option<String>,
    /// When it was last read, this reading included.
    pub last_accessed: Option<String>,
    /// How often it was read, this reading included.
    pub access_count: u64,
    /// Since when it is in the wastebasket; null when it is not.
    pub crumpled_at: Option<String>,
    /// The project of a session note.
    pub project: Option<String>,
    /// The file's size.
    pub bytes: u64,
    /// False when the file is not UTF-8: the text is a likeness with marks (U+FFFD), and the note cannot be edited.
    pub is_utf8: bool,
    /// The window on the body.
    pub body: TextWindow,
}

pub fn run(homes: &Homes, input: Input) -> Result<Reply<Output>, Refusal> {
    let address = Address::parse(homes, &input.address)?;
    let limit = input.limit_chars.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("limit_chars is 1 to {MAX_LIMIT}.");
        return Err(Refusal::new("invalid_arguments", message));
    }
    let location = store::locate(homes, &address)?;
    let Some(loaded) = store::load(&location)? else {
        return Err(near::not_found(homes, &address, &location));
    };
    counts::count(homes, &location);
    let counted = counts::of(homes, &location);
    let note = &loaded.note;
    let value = |key| note.get(key).map(|value| cut(value, MAX_VALUE_CHARS));
    let in_file: u64 = note
        .get(Key::AccessCount)
        .and_then(|count| count.parse().ok())
        .unwrap_or(0);
    let last = counted.last.max(note.instant(Key::LastAccessed));
    let of_file = loaded.modified.and_then(time::of_file).map(time::format);
    let mut output = Output {
        address: location.shown.clone(),
        title: title(note, address.stem()),
        version: note.version(),
        origin: value(Key::Origin),
        created_at: value(Key::CreatedAt),
        updated_at: value(Key::UpdatedAt).or(of_file),
        last_accessed: last.map(time::format),
        access_count: in_file.saturating_add(counted.count),
        crumpled_at: note.is_crumpled().then(|| value(Key::CrumpledAt)).flatten(),
        project: value(Key::Project),
        bytes: loaded.raw.len() as u64,
        is_utf8: loaded.is_utf8,
        body: TextWindow {
            text: String::new(),
            offset_chars: 0,
            total_chars: 0,
            next_offset_chars: None,
            limited_by: None,
        },
    };
    let head = head(&output);
    let mut room = Room::all();
    // The window's numbers stand in both renderings.
    room.take(json_bytes(&output) + 128, head.len() + 256);
    let total = note.body.chars().count();
    // More than there is, counted from the end, is all there is.
    let offset = input.offset_chars.max(-i64::try_from(total).unwrap_or(i64::MAX));
    output.body = window(&note.body, offset, limit as usize, room).map_err(|error| match error {
        WindowError::Offset { total, .. } => {
            let message = format!(
                "offset_chars {} is outside of `{}`, whose body has {total} characters. Use 0 to {total}, or a negative number.",
                input.offset_chars, location.shown
            );
            Refusal::new("invalid_offset", message).with_details(json!({ "total_chars": total }))
        }
        WindowError::NoRoom => Refusal::new("output_too_large", format!("`{}` cannot be shown: {error}.", location.shown)),
    })?;
    let text = format!("{head}\n{}\n\n{}", position(&output.body), output.body.text);
    Ok(Reply { data: output, text })
}

fn head(output: &Output) -> String {
    let mut text = format!("`{}` · version {}", output.address, output.version);
    for (label, value) in [
        ("origin", &output.origin),
        ("created", &output.created_at),
        ("updated", &output.updated_at),
        ("project", &output.project),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(" · {label} {value}"));
        }
    }
    text.push_str(&format!(" · read {}×", output.access_count));
    if let Some(since) = &output.crumpled_at {
        text.push_str(&format!("\nIn the wastebasket since {since}."));
    }
    if !output.is_utf8 {
        text.push_str("\nThis file is not UTF-8: what cannot be shown stands as \u{fffd}, and it cannot be edited.");
    }
    text
}

fn position(window: &TextWindow) -> String {
    let end = window.next_offset_chars.unwrap_or(window.total_chars);
    let mut text = format!("Characters {} to {end} of {}.", window.offset_chars, window.total_chars);
    if let Some(next) = window.next_offset_chars {
        let why = match window.limited_by {
            Some(LimitedBy::Bytes) => " (the answer is full)",
            _ => "",
        };
        text.push_str(&format!(" There is more{why}: go on with offset_chars {next}."));
    }
    text
}
