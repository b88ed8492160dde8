//! The literal search: any of several texts, whatever the case of their letters, on lines.
//!
//! A text is found by its rarest few bytes in every case they can have (a vectorised scan), and compared around that
//! place.

use aho_corasick::packed::{self, MatchKind, Searcher};
use aho_corasick::{AhoCorasick, Span};

use crate::notes::address::quoted;
use crate::outcome::Refusal;

/// The most texts in one query.
const MAX_TEXTS: usize = 16;
/// The most bytes of one text.
const MAX_TEXT_BYTES: usize = 512;
/// How many bytes a needle should have for the scan to stop seldom.
const NEEDLE_BYTES: usize = 3;
/// The most needles (the cases of one text's rarest bytes).
const MAX_CASES: usize = 16;

/// A compiled query.
#[derive(Debug, Clone)]
pub struct Query {
    texts: Vec<Text>,
    scan: Scan,
}

#[derive(Debug, Clone)]
enum Scan {
    Packed(Searcher),
    Automaton(AhoCorasick),
}

#[derive(Debug, Clone)]
struct Text {
    folded: Vec<char>,
    /// Which character the needle begins with.
    needle_at: usize,
}

impl Query {
    /// Compiles the texts, of which any may be found.
    ///
    /// # Errors
    /// `invalid_query`, with the rule that was broken.
    pub fn new(texts: &[String]) -> Result<Self, Refusal> {
        let refuse = |message: String| Err(Refusal::new("invalid_query", message));
        if texts.is_empty() {
            return refuse("The query is empty: give the text to search for, or a list of texts.".to_owned());
        }
        if texts.len() > MAX_TEXTS {
            return refuse(format!(
                "The query has {} texts; at most {MAX_TEXTS} are possible.",
                texts.len()
            ));
        }
        let mut needles = Vec::new();
        let mut compiled = Vec::new();
        for text in texts {
            let shown = quoted(text);
            if text.trim().is_empty() {
                return refuse("A text to search for is empty: give at least one character.".to_owned());
            }
            if text.contains(['\n', '\r']) {
                return refuse(format!(
                    "{shown} has a line end, but the search goes line by line. Give several texts."
                ));
            }
            if text.len() > MAX_TEXT_BYTES {
                return refuse(format!(
                    "{shown} has {} bytes; at most {MAX_TEXT_BYTES} are possible.",
                    text.len()
                ));
            }
            let folded: Vec<char> = text.chars().map(fold).collect();
            let (needle_at, cases) = rarest(&folded);
            needles.extend(cases);
            compiled.push(Text { folded, needle_at });
        }
        let mut builder = packed::Config::new().match_kind(MatchKind::LeftmostFirst).builder();
        builder.extend(&needles);
        let scan = match builder.build() {
            Some(searcher) => Scan::Packed(searcher),
            None => match AhoCorasick::new(&needles) {
                Ok(automaton) => Scan::Automaton(automaton),
                Err(error) => return refuse(format!("This query cannot be searched for: {error}.")),
            },
        };
        Ok(Self { texts: compiled, scan })
    }

    /// The byte range of the first hit that begins at or behind `from` in `text`.
    pub fn find_at(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut at = from;
        let mut best: Option<(usize, usize)> = None;
        // A hit begins before its needle, so the search goes on until no earlier one can come.
        let longest_lead = self.texts.iter().map(|text| text.needle_at).max().unwrap_or(0) * 4;
        while at < bytes.len() {
            let Some(place) = self.scan_from(bytes, at) else { break };
            if best.is_some_and(|(start, _)| place > start + longest_lead) {
                break;
            }
            let hit = self
                .texts
                .iter()
                .filter_map(|wanted| wanted.around(text, place))
                .filter(|hit| hit.0 >= from)
                .min();
            best = match (best, hit) {
                (Some(old), Some(new)) => Some(old.min(new)),
                (old, new) => old.or(new),
            };
            at = place + 1;
        }
        best
    }

    /// Whether the bytes, if they are UTF-8, may have a hit: a look without decoding.
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        self.scan_from(bytes, 0).is_some()
    }

    fn scan_from(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match &self.scan {
            Scan::Packed(searcher) => {
                let span = Span {
                    start: at,
                    end: bytes.len(),
                };
                searcher.find_in(bytes, span).map(|found| found.start())
            }
            Scan::Automaton(automaton) => {
                let input = aho_corasick::Input::new(bytes).range(at..);
                automaton.find(input).map(|found| found.start())
            }
        }
    }
}

impl Text {
    /// The hit whose needle begins at byte `place`, if there is one.
    fn around(&self, text: &str, place: usize) -> Option<(usize, usize)> {
        let (lead, rest) = self.folded.split_at_checked(self.needle_at)?;
        let before = text.get(..place)?;
        let behind = text.get(place..)?;
        let mut start = place;
        let mut backwards = before.chars().rev();
        for wanted in lead.iter().rev() {
            let found = backwards.next().filter(|found| fold(*found) == *wanted)?;
            start -= found.len_utf8();
        }
        let mut end = place;
        let mut forwards = behind.chars();
        for wanted in rest {
            let found = forwards.next().filter(|found| fold(*found) == *wanted)?;
            end += found.len_utf8();
        }
        Some((start, end))
    }
}

/// Letters whose lower case is not what their partner's upper case is.
const ODD_CASES: [(char, char); 9] = [
    ('ς', 'σ'),
    ('\u{212b}', 'å'),
    ('\u{2126}', 'ω'),
    ('\u{3f4}', 'θ'),
    ('\u{1e9e}', 'ß'),
    ('ǅ', 'ǆ'),
    ('ǈ', 'ǉ'),
    ('ǋ', 'ǌ'),
    ('ǲ', 'ǳ'),
];

/// A character without its case: ASCII letters among themselves, others when upper and lower case lead to each other.
fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    if let Some((_, folded)) = ODD_CASES.iter().find(|(odd, _)| *odd == character) {
        return *folded;
    }
    match single(character.to_lowercase()) {
        Some(lower) if single(lower.to_uppercase()) == Some(character) => lower,
        _ => character,
    }
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next();
    first.filter(|_| characters.next().is_none())
}

/// All characters that fold to this folded one.
fn cases(folded: char) -> Vec<char> {
    let odd = ODD_CASES.iter().filter(|(_, to)| *to == folded).map(|(odd, _)| *odd);
    let mut cases: Vec<char> = [folded]
        .into_iter()
        .chain(single(folded.to_uppercase()))
        .chain(odd)
        .collect();
    cases.retain(|case| fold(*case) == folded);
    cases.sort_unstable();
    cases.dedup();
    cases
}

/// Where the rarest needle of a text begins, and all cases it can have.
fn rarest(folded: &[char]) -> (usize, Vec<String>) {
    let mut best: Option<(u32, usize, Vec<String>)> = None;
    for start in 0..folded.len() {
        let mut needles = vec![String::new()];
        let mut commonness = 0;
        for character in folded.iter().skip(start) {
            let cases = cases(*character);
            if needles.len() * cases.len() > MAX_CASES || needles.iter().all(|needle| needle.len() >= NEEDLE_BYTES) {
                break;
            }
            needles = needles
                .iter()
                .flat_map(|needle| cases.iter().map(move |case| format!("{needle}{case}")))
                .collect();
            commonness += frequency(*character);
        }
        let length = needles.iter().map(String::len).min().unwrap_or(0);
        // A byte that is missing is as bad as a very common one.
        let score = commonness + 200 * u32::try_from(NEEDLE_BYTES.saturating_sub(length)).unwrap_or(0);
        if length > 0 && best.as_ref().is_none_or(|(least, ..)| score < *least) {
            best = Some((score, start, needles));
        }
    }
    best.map_or((0, Vec::new()), |(_, start, needles)| (start, needles))
}

/// How common a character is in prose and code, roughly, 0 to 100.
fn frequency(character: char) -> u32 {
    const COMMON: &str = " etaoinsrhldcumfpgwybvk.,-_/'\"()0:1";
    match COMMON.chars().position(|common| common == character) {
        Some(rank) => 100 - 2 * u32::try_from(rank).unwrap_or(50),
        None if character.is_ascii() => 10,
        None => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(texts: &[&str]) -> Query {
        Query::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn every_character_that_folds_to_another_is_among_its_cases() {
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            if folded != character {
                assert!(cases(folded).contains(&character), "{character:?} folds to {folded:?}");
                assert_eq!(fold(folded), folded, "{character:?}");
            }
        }
    }

    #[test]
    fn finds_the_first_hit_in_any_case() {
        for (texts, text, expected) in [
            (&["needle"][..], "a NEEDLE here", Some("NEEDLE")),
            (&["aab"], "aaab", Some("aab")),
            (&["привет"], "— ПРИВЕТ!", Some("ПРИВЕТ")),
            (&["σς"], "ΣΣ", Some("ΣΣ")),
            (&["日本"], "x日本語", Some("日本")),
            (&["é"], "É", Some("É")),
            (&["a"], "bcA", Some("A")),
            (&["zz", "b"], "abzz", Some("b")),
            (&["xay", "ay"], "..ayxay", Some("ay")),
            (&["needle"], "needl", None),
            (&["k"], "\u{212a}", None),
        ] {
            let found = query(texts).find_at(text, 0).map(|(start, end)| &text[start..end]);
            assert_eq!(found, expected, "{texts:?} in {text:?}");
        }
    }
}
