//! Literal search without regard to case, over all words of a branch, without parsing rows that cannot have a hit.

use aho_corasick::{AhoCorasick, MatchKind};

use super::conversation::Conversation;
use super::error::HistoryError;
use super::event::{Event, What, parts};
use super::table::NONE;

/// Rows are looked through by parts of the file of this size.
const PART: u64 = 1 << 18;

/// What a placeholder says that the row does not.
const OF_PLACEHOLDERS: &str = "bytes0123456789";

/// Literal texts, any of which is a hit.
#[derive(Debug)]
pub(super) struct Query {
    needles: Vec<String>,
    /// Says of the bytes of a row whether it may have a hit; none when every row may.
    filter: Option<AhoCorasick>,
}

/// Where a text has hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hits {
    /// How many, counted from the front without overlap.
    pub count: usize,
    /// Where the first ones begin, in code points.
    pub offsets: Vec<usize>,
    /// How long the first one is, in code points.
    pub length: usize,
}

/// How many offsets are named for one text.
const MAX_OFFSETS: usize = 10;

impl Query {
    /// A query of texts that are not empty.
    pub fn new(texts: &[String]) -> Self {
        let needles: Vec<String> = texts.iter().map(|text| fold(text)).collect();
        let mut patterns = Vec::new();
        let mut certain = true;
        for needle in &needles {
            let word = word(needle);
            certain &= word.len() >= 2;
            if OF_PLACEHOLDERS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit()) {
                patterns.push("base64");
            }
            patterns.push(word);
        }
        // A writer may have escaped what needs no escape.
        patterns.push(r"\u00");
        let build = || {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .build(&patterns)
                .ok()
        };
        let filter = if certain { build() } else { None };
        Self { needles, filter }
    }

    /// The hits in a text; none when there is none.
    pub fn hits(&self, text: &str) -> Option<Hits> {
        let folded = fold(text);
        let mut next: Vec<Option<usize>> = self.needles.iter().map(|needle| folded.find(needle)).collect();
        let mut hits = Hits {
            count: 0,
            offsets: Vec::new(),
            length: 0,
        };
        let (mut counted, mut chars) = (0, 0);
        while let Some((at, needle)) = first(&next, &self.needles) {
            if hits.offsets.len() < MAX_OFFSETS {
                chars += folded[counted..at].chars().count();
                counted = at;
                hits.offsets.push(chars);
            }
            if hits.count == 0 {
                hits.length = needle.chars().count();
            }
            hits.count += 1;
            let end = at + needle.len();
            for (next, needle) in next.iter_mut().zip(&self.needles) {
                if next.is_some_and(|next| next < end) {
                    *next = folded[end..].find(needle).map(|found| end + found);
                }
            }
        }
        (hits.count > 0).then_some(hits)
    }
}

/// The next hit: the nearest, of several the longest.
fn first<'n>(next: &[Option<usize>], needles: &'n [String]) -> Option<(usize, &'n str)> {
    let found = next
        .iter()
        .zip(needles)
        .filter_map(|(at, needle)| Some(((*at)?, needle.as_str())));
    found.min_by_key(|(at, needle)| (*at, std::cmp::Reverse(needle.len())))
}

/// The text in lower case, character by character: a character stays one, and no other becomes an ASCII one, so that
/// places in it are places in the text.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(fold_character).collect()
}

fn fold_character(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) if !single.is_ascii() => single,
        _ => character,
    }
}

/// The longest run of letters and digits: it stands in the row as it stands in the text.
fn word(needle: &str) -> &str {
    needle
        .split(|character: char| !character.is_ascii_alphanumeric())
        .max_by_key(|run| run.len())
        .unwrap_or_default()
}

/// Which rows of a conversation may have a hit, found out as they are asked for.
pub(super) struct Candidates<'a> {
    conversation: &'a Conversation,
    query: &'a Query,
    /// By row: not looked at, no, maybe.
    seen: Vec<Option<bool>>,
    buffer: Vec<u8>,
}

impl<'a> Candidates<'a> {
    /// All rows of the conversation, none looked at.
    pub fn new(conversation: &'a Conversation, query: &'a Query) -> Self {
        let rows = conversation.transcript.table.len() as usize;
        Self {
            conversation,
            query,
            seen: vec![None; if query.filter.is_some() { rows } else { 0 }],
            buffer: Vec::new(),
        }
    }

    /// Whether the words of this event may have a hit.
    pub fn may_hit(&mut self, event: &Event) -> Result<bool, HistoryError> {
        if self.query.filter.is_none() {
            return Ok(true);
        }
        let table = &self.conversation.transcript.table;
        match event.what {
            What::Row(row) => self.row(table.newest(row)),
            What::Message(message) => {
                for part in parts(table, &self.conversation.branch, message) {
                    if self.row(table.newest(part))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            // Words may stand across the two only where the rule between them is part of the query: no word is.
            What::Call(call, result) => Ok(self.row(table.block_row[call as usize])?
                || (result != NONE && self.row(table.block_row[result as usize])?)),
            What::Result(result) => self.row(table.block_row[result as usize]),
        }
    }

    fn row(&mut self, row: u32) -> Result<bool, HistoryError> {
        if let Some(known) = self.seen[row as usize] {
            return Ok(known);
        }
        self.part_of(row)?;
        Ok(self.seen[row as usize].unwrap_or(true))
    }

    /// Looks through all rows of the branch that begin in the same part of the file.
    fn part_of(&mut self, row: u32) -> Result<(), HistoryError> {
        let Some(filter) = &self.query.filter else {
            return Ok(());
        };
        let transcript = &self.conversation.transcript;
        let offsets = &transcript.table.offset;
        let lengths = &transcript.table.length;
        let start = offsets[row as usize] / PART * PART;
        let from = offsets.partition_point(|offset| *offset < start);
        let to = offsets.partition_point(|offset| *offset < start + PART);
        let end = (from..to)
            .map(|row| offsets[row] + u64::from(lengths[row]))
            .max()
            .unwrap_or(start);
        let first = offsets[from];
        self.buffer
            .resize(usize::try_from(end - first).unwrap_or(usize::MAX), 0);
        transcript.read_at(&mut self.buffer, first)?;
        for row in from..to {
            let at = usize::try_from(offsets[row] - first).unwrap_or(usize::MAX);
            let bytes = self.buffer.get(at..at + lengths[row] as usize).unwrap_or_default();
            self.seen[row] = Some(filter.is_match(bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(queries: &[&str], text: &str) -> Option<(usize, Vec<usize>)> {
        let queries: Vec<String> = queries.iter().map(|query| (*query).to_owned()).collect();
        Query::new(&queries).hits(text).map(|hits| (hits.count, hits.offsets))
    }

    #[test]
    fn hits_are_counted_in_characters_without_regard_to_case() {
        assert_eq!(hits(&["ÄB"], "xäb ÄB äB"), Some((3, vec![1, 4, 7])));
        assert_eq!(hits(&["aa"], "aaaaa"), Some((2, vec![0, 2])));
        assert_eq!(hits(&["b", "abc"], "zabc b"), Some((2, vec![1, 5])));
        assert_eq!(hits(&["q"], "nothing"), None);
    }

    #[test]
    fn a_character_stays_one() {
        assert_eq!(fold("İK\u{212a}ß"), "İk\u{212a}ß");
    }

    #[test]
    fn the_filter_looks_for_the_longest_word() {
        assert_eq!(word("fn main() { x_yz.longest_name }"), "longest");
        assert!(Query::new(&["->".to_owned()]).filter.is_none());
    }
}
