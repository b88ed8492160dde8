//! Tokens for code points, calibrated on what the session's own requests cost.

use super::rows::{Branch, UsagePoint};

/// Code points a token has where nothing is known; an estimate made with it is marked as one.
const CHARS_PER_TOKEN: f64 = 3.5;
/// Less new text than this between the first and the last request says nothing about tokens per code point.
const LEAST_CHARS: usize = 2_000;
/// Tokens per code point that text can have: from long runs of blanks to scripts with several tokens a character.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.05..=3.0;

/// How code points become tokens in this session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Tokens for each code point.
    pub tokens_per_char: f64,
    /// Tokens before the cut: as the client says, else as computed.
    pub before: u64,
    /// Tokens that no text of the conversation explains: system prompt, tools, instructions, media. They stay as they
    /// are.
    pub fixed: u64,
    /// False: there was no usage to go by for the ratio, and the figures are an estimate.
    pub measured: bool,
}

impl Calibration {
    /// Calibrates on the branch.
    ///
    /// `tokens` is the context's fill as the client gives it, where it does; `chars` the code points that the
    /// conversation has now.
    pub fn new(branch: &Branch, tokens: Option<u64>, chars: usize) -> Self {
        let slope = slope(&branch.usage).or_else(|| slope(&branch.older));
        let ratio = slope.unwrap_or(1.0 / CHARS_PER_TOKEN);
        let computed = branch.usage.last().map(|last| {
            let newer = branch.chars.saturating_sub(last.chars);
            last.tokens.saturating_add(scale(newer, ratio))
        });
        let told = tokens.filter(|tokens| *tokens > 0).or(computed);
        // A conversation is never without tokens.
        let before = told.unwrap_or_else(|| scale(chars, ratio)).max(u64::from(chars > 0));
        // Its text never costs more than the whole; where it would, the ratio was wrong.
        let is_plausible = scale(chars, ratio) <= before;
        let tokens_per_char = if is_plausible {
            ratio
        } else {
            before as f64 / chars as f64
        };
        Self {
            tokens_per_char,
            before,
            fixed: before.saturating_sub(scale(chars, tokens_per_char)),
            measured: slope.is_some() && is_plausible,
        }
    }

    /// Tokens of so many code points.
    pub fn tokens(&self, chars: usize) -> u64 {
        scale(chars, self.tokens_per_char)
    }

    /// Tokens after a cut that saves so many code points.
    pub fn after(&self, saved_chars: usize) -> u64 {
        self.before
            .saturating_sub(self.tokens(saved_chars))
            .max(self.fixed)
            .max(u64::from(self.before > 0))
    }

    /// Code points that have to go for the context to come down to `target` tokens.
    pub fn chars_to(&self, target: u64) -> usize {
        let tokens = self.before.saturating_sub(target);
        if tokens == 0 {
            return 0;
        }
        // Positive and far below 2^53.
        (tokens as f64 / self.tokens_per_char).ceil() as usize
    }
}

fn scale(chars: usize, tokens_per_char: f64) -> u64 {
    (chars as f64 * tokens_per_char).round() as u64
}

/// Tokens per code point over all these requests; `None` where they are too few, or not plausible.
///
/// Only growth from one request to the next counts, and only where no image or document came between, since those cost
/// tokens that no text explains.
pub fn slope(points: &[UsagePoint]) -> Option<f64> {
    let (mut tokens, mut chars) = (0_u64, 0_usize);
    for pair in points.windows(2) {
        let [older, newer] = pair else { continue };
        let (Some(more_tokens), Some(more_chars)) = (
            newer.tokens.checked_sub(older.tokens),
            newer.chars.checked_sub(older.chars),
        ) else {
            continue;
        };
        if newer.media != older.media {
            continue;
        }
        // A jump that text cannot explain is something else: a reminder, a changed set of tools.
        if more_chars > 0 && more_tokens as f64 / more_chars as f64 > *PLAUSIBLE.end() {
            continue;
        }
        tokens = tokens.saturating_add(more_tokens);
        chars += more_chars;
    }
    if chars < LEAST_CHARS {
        return None;
    }
    let slope = tokens as f64 / chars as f64;
    PLAUSIBLE.contains(&slope).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(points: &[(u64, usize)], chars: usize) -> Branch {
        let mut branch = Branch::default();
        branch.chars = chars;
        branch.usage.extend(points.iter().map(|(tokens, chars)| UsagePoint {
            tokens: *tokens,
            chars: *chars,
            media: 0,
        }));
        branch
    }

    #[test]
    fn the_ratio_is_that_of_the_session_and_the_fixed_part_stays() {
        let calibration = Calibration::new(
            &branch(&[(12_000, 100), (13_000, 4_100), (14_000, 8_100)], 8_500),
            None,
            8_500,
        );
        assert!(calibration.measured);
        assert_eq!(calibration.tokens_per_char, 0.25);
        assert_eq!(calibration.before, 14_100);
        assert_eq!(calibration.fixed, 14_100 - 2_125);
        assert_eq!(calibration.after(4_000), 13_100);
        assert_eq!(calibration.after(1_000_000), calibration.fixed);
    }

    #[test]
    fn without_usage_it_is_an_estimate_and_never_zero() {
        let calibration = Calibration::new(&Branch::default(), None, 3_500);
        assert!(!calibration.measured);
        assert_eq!(calibration.before, 1_000);
        assert_eq!(Calibration::new(&Branch::default(), Some(0), 1).before, 1);
        assert_eq!(Calibration::new(&Branch::default(), None, 0).before, 0);
    }

    #[test]
    fn text_that_would_cost_more_than_the_whole_is_scaled_down() {
        let calibration = Calibration::new(&branch(&[(14_000, 0)], 0), None, 1_000_000);
        assert_eq!(
            (calibration.before, calibration.fixed, calibration.measured),
            (14_000, 0, false)
        );
        assert_eq!(calibration.after(500_000), 7_000);
    }

    #[test]
    fn rubbish_figures_are_no_fault() {
        for points in [
            vec![(u64::MAX, 0), (0, 10_000), (u64::MAX, 20_000)],
            vec![(5, 10_000), (5, 20_000)],
            vec![(0, 0), (u64::MAX, 5_000)],
        ] {
            let calibration = Calibration::new(&branch(&points, 30_000), Some(u64::MAX), 30_000);
            assert!(!calibration.measured);
            calibration.after(usize::MAX);
            calibration.chars_to(0);
        }
    }
}
