//! What a notes tool tells beside its result: the diff of a change, cut to fit, a home that could not be read, a size.

use schemars::JsonSchema;
use serde::Serialize;
use similar::{DiffOp, DiffTag};

use crate::outcome::room::cost;
use crate::outcome::text_window;

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
    // Most changes are small: what is alike at both ends is not compared any further.
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let from = same_start.saturating_sub(CONTEXT);
    let tail = same_end.min(CONTEXT);
    let old_part = old.get(from..old.len() - same_end + tail).unwrap_or_default();
    let new_part = new.get(from..new.len() - same_end + tail).unwrap_or_default();
    let ops = if old_part.len() + new_part.len() <= MAX_COMPARED_LINES {
        similar::capture_diff_slices(similar::Algorithm::Myers, old_part, new_part)
    } else {
        // One block out, one block in.
        let lead = same_start - from;
        let (old_len, new_len) = (old_part.len() - lead - tail, new_part.len() - lead - tail);
        vec![
            DiffOp::Equal {
                old_index: 0,
                new_index: 0,
                len: lead,
            },
            DiffOp::Replace {
                old_index: lead,
                old_len,
                new_index: lead,
                new_len,
            },
            DiffOp::Equal {
                old_index: lead + old_len,
                new_index: lead + new_len,
                len: tail,
            },
        ]
    };
    let mut text = String::new();
    for hunk in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        let range = |start: usize, end: usize| match end - start {
            1 => format!("{}", from + start + 1),
            0 => format!("{},0", from + start),
            count => format!("{},{count}", from + start + 1),
        };
        text.push_str(&format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        ));
        for op in &hunk {
            let old_lines = old_part.get(op.old_range()).unwrap_or_default();
            let new_lines = new_part.get(op.new_range()).unwrap_or_default();
            if op.tag() == DiffTag::Equal {
                push_lines(&mut text, ' ', old_lines);
            } else {
                push_lines(&mut text, '-', old_lines);
                push_lines(&mut text, '+', new_lines);
            }
        }
    }
    text
}

fn push_lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push('\n');
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_its_context_and_the_lines_numbers() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n6\n", "five\n6\n").replace("18\n", "");
        let expected =
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n";
        assert_eq!(unified(&before, &after), expected);
        assert_eq!(unified("", "a"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
        let (many, others) = ("x\n".repeat(3000), "y\n".repeat(3000));
        let block = unified(&format!("1\n{many}2\n"), &format!("1\n{others}2\n"));
        assert!(block.starts_with("@@ -1,3002 +1,3002 @@\n 1\n-x\n"));
        assert!(block.ends_with("+y\n 2\n"));
    }
}
