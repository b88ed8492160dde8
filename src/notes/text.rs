//! Small views on a note's text.

use crate::notes::note::Note;

/// The most code points of a title.
pub const MAX_TITLE_CHARS: usize = 120;

/// A note's title: its first heading line, else the frontmatter's `title`, else its first line, else `stem`.
pub fn title(note: &Note, stem: &str) -> String {
    let first = note.body.lines().map(str::trim).find(|line| !line.is_empty());
    let heading = first.and_then(|line| {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        ((1..=6).contains(&level) && text.starts_with([' ', '\t'])).then(|| text.trim())
    });
    let chosen = heading.or_else(|| note.foreign("title")).or(first);
    cut(chosen.filter(|text| !text.is_empty()).unwrap_or(stem), MAX_TITLE_CHARS)
}

/// A line bounded to `max` code points, control characters shown as spaces; `…` at the end when it was cut.
pub fn cut(line: &str, max: usize) -> String {
    let mut characters = line.chars();
    let shown = characters.by_ref().take(max);
    let mut text: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    if characters.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}
