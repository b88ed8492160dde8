//! Cutting one text: its head, a tail where one is wanted, and a note that says how to get the rest back.

use super::options::Keep;

/// How the note begins; a text that ends in a note was cut before.
const NOTE_OPEN: &str = "[notesoup cut ";
/// Longer names of files and commands are shortened in the note.
const TARGET_CHARS: usize = 80;

/// What the note says beside the numbers.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The file, command or query it was called with.
    pub target: &'a str,
    /// What was cut, where it is not the output: the name of an argument.
    pub field: Option<&'a str>,
    /// Why it is out of date, where it is.
    pub stale: Option<&'a str>,
    /// The call's id.
    pub id: &'a str,
    /// The call's address in history, where it is known.
    pub seq: Option<u64>,
    /// How to get it by running something again; never for what changes things.
    pub again: Option<&'a str>,
}

/// A cut text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// What takes the text's place.
    pub text: String,
    /// Its code points.
    pub chars: usize,
}

/// Whether the text ends in a note of a cut.
pub fn is_cut(text: &str) -> bool {
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    last.starts_with(NOTE_OPEN) && last.ends_with(']')
}

/// Cuts `text`, which has `total` code points, to its head and tail and the note.
///
/// `None` when it is short enough to stay, or when the note would take what the cut gives.
pub fn cut(text: &str, total: usize, keep: Keep, note: &Note<'_>) -> Option<Cut> {
    if total <= keep.threshold() {
        return None;
    }
    let head = head(text, keep.head);
    let tail = tail(text, keep.tail);
    let gone = total - head.chars().count() - tail.chars().count();
    let mut new = String::with_capacity(head.len() + tail.len() + 256);
    for part in [head, if tail.is_empty() { "" } else { "[…]" }, tail] {
        if !part.is_empty() {
            new.push_str(part);
            if !part.ends_with('\n') {
                new.push('\n');
            }
        }
    }
    note.write(&mut new, gone, total);
    let chars = new.chars().count();
    (chars < total).then_some(Cut { text: new, chars })
}

impl Note<'_> {
    fn write(&self, out: &mut String, gone: usize, total: usize) {
        out.push_str(NOTE_OPEN);
        out.push_str(self.tool);
        if !self.target.is_empty() {
            out.push(' ');
            out.push_str(&one_line(self.target, TARGET_CHARS));
        }
        if let Some(field) = self.field {
            out.push_str(", its ");
            out.push_str(field);
        }
        out.push_str(&format!(
            ": {} of {} characters left out",
            grouped(gone),
            grouped(total)
        ));
        if let Some(stale) = self.stale {
            out.push_str(", ");
            out.push_str(stale);
        }
        out.push_str(&format!(
            ". To get them back, word for word: history_read with tool_use_id \"{}\"",
            self.id
        ));
        if let Some(seq) = self.seq {
            out.push_str(&format!(" or seq {seq}"));
        }
        if let Some(again) = self.again {
            out.push_str("; only if that fails, ");
            out.push_str(again);
        }
        out.push_str(".]");
    }
}

/// The first `chars` code points, up to a line end where one lies in the last fifth of them.
fn head(text: &str, chars: usize) -> &str {
    let end = nth(text, chars);
    let head = &text[..end];
    let least = nth(head, chars - chars / 5);
    match head.rfind('\n') {
        // A line that ends exactly at the limit is whole, its end included.
        _ if text[end..].starts_with('\n') => &text[..=end],
        Some(newline) if newline >= least => &head[..=newline],
        _ => head,
    }
}

/// The last `chars` code points, from a line's beginning where one lies in the first fifth of them.
fn tail(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    let start = text.char_indices().rev().nth(chars - 1).map_or(0, |(index, _)| index);
    let tail = &text[start..];
    match tail.find('\n') {
        Some(newline) if newline < nth(tail, chars / 5) => &tail[newline + 1..],
        _ => tail,
    }
}

/// The byte at which the code point with this index begins; the end when there are fewer.
pub fn nth(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(index, _)| index)
}

/// A text on one line, its runs of white space single spaces, at most `chars` code points.
pub fn one_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            // Control characters would draw on the terminal.
            line.push(if character.is_control() { '\u{FFFD}' } else { character });
            count += 1;
            if count > chars {
                let end = nth(&line, chars.saturating_sub(1));
                line.truncate(end);
                line.push('…');
                return line;
            }
        }
    }
    line
}

/// A number with commas between thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: Note<'_> = Note {
        tool: "Bash",
        target: "cargo test\n  --all",
        field: None,
        stale: None,
        id: "toolu_1",
        seq: Some(12),
        again: None,
    };

    fn kept(text: &str, head: usize, tail: usize) -> Option<String> {
        let cut = cut(text, text.chars().count(), Keep { head, tail }, &NOTE)?;
        assert_eq!(cut.chars, cut.text.chars().count());
        assert!(is_cut(&cut.text), "{}", cut.text);
        let note = cut.text.rfind(NOTE_OPEN).unwrap();
        Some(cut.text[..note].to_owned())
    }

    #[test]
    fn a_text_of_head_and_slack_stays() {
        assert_eq!(kept(&"x".repeat(500), 300, 0), None);
        assert_eq!(
            kept(&"x".repeat(600), 300, 0).unwrap(),
            format!("{}\n", "x".repeat(300))
        );
    }

    #[test]
    fn a_cut_goes_back_to_a_line_end_in_the_last_fifth_only() {
        let near = format!("{}\n{}", "a".repeat(80), "b".repeat(900));
        assert_eq!(kept(&near, 100, 0).unwrap(), format!("{}\n", "a".repeat(80)));
        let far = format!("{}\n{}", "a".repeat(79), "b".repeat(900));
        assert_eq!(
            kept(&far, 100, 0).unwrap(),
            format!("{}\n{}\n", "a".repeat(79), "b".repeat(20))
        );
    }

    #[test]
    fn a_line_that_ends_at_the_limit_is_whole() {
        let text = format!("{}\n{}\n{}", "a".repeat(89), "b".repeat(10), "c".repeat(900));
        assert_eq!(
            kept(&text, 100, 0).unwrap(),
            format!("{}\n{}\n", "a".repeat(89), "b".repeat(10))
        );
    }

    #[test]
    fn a_tail_stays_where_it_is_wanted() {
        let text = format!("{}{}", "a".repeat(2000), "z".repeat(50));
        assert_eq!(
            kept(&text, 10, 50).unwrap(),
            format!("{}\n[…]\n{}\n", "a".repeat(10), "z".repeat(50))
        );
    }

    #[test]
    fn characters_are_never_split() {
        let text = "🦀é".repeat(600);
        assert_eq!(kept(&text, 3, 0).unwrap(), "🦀é🦀\n");
    }

    #[test]
    fn nothing_stays_but_the_note() {
        assert_eq!(kept(&"x".repeat(1000), 0, 0).unwrap(), "");
    }

    #[test]
    fn a_cut_that_would_not_be_shorter_is_none() {
        let long_id = "x".repeat(400);
        let note = Note { id: &long_id, ..NOTE };
        assert_eq!(cut(&"y".repeat(501), 501, Keep { head: 300, tail: 0 }, &note), None);
    }

    #[test]
    fn the_note_is_one_line_that_says_how_to_get_it_back() {
        let cut = cut(&"x".repeat(12_000), 12_000, Keep { head: 0, tail: 0 }, &NOTE).unwrap();
        assert_eq!(
            cut.text,
            "[notesoup cut Bash cargo test --all: 12,000 of 12,000 characters left out. To get them back, word for word: \
             history_read with tool_use_id \"toolu_1\" or seq 12.]"
        );
    }
}
