//! What the text behind `/compact` asks for.

/// What the text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Not a cut: the text is for the summary.
    Summary,
    /// A cut.
    Prune,
    /// A cut down to so many tokens of context.
    Budget(u64),
    /// What a cut would do, down to so many tokens where they are named, and nothing else.
    Preview(Option<u64>),
    /// It looks like a cut and is none; the line says what to write.
    NearMiss(String),
}

/// Reads the text behind `/compact`.
///
/// A near miss is a first word within one edit of `prune` and at most three words in all; anything else is text for the
/// summary.
pub fn asked(instructions: Option<&str>) -> Asked {
    let words: Vec<String> = instructions
        .unwrap_or_default()
        .split_whitespace()
        .take(4)
        .map(str::to_lowercase)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["prune"] => Asked::Prune,
        ["prune", "preview"] => Asked::Preview(None),
        ["prune", "preview", size] if target(size).is_some() => Asked::Preview(target(size)),
        ["prune", size] if target(size).is_some() => target(size).map_or(Asked::Prune, Asked::Budget),
        ["prune", size] if tokens(size).is_some() => Asked::NearMiss(format!(
            "Not compacted: {size} tokens is less than any conversation. For thousands write /compact prune {size}k."
        )),
        [first, ..] if words.len() <= 3 && strsim::osa_distance(first, "prune") <= 1 => Asked::NearMiss(
            "Not compacted: to cut long tool output write /compact prune, /compact prune preview or /compact prune 120k; \
             for a summary begin with another word."
                .to_owned(),
        ),
        _ => Asked::Summary,
    }
}

/// A size that a conversation can be cut down to: a number of tokens from a thousand on.
pub fn target(word: &str) -> Option<u64> {
    tokens(word).filter(|tokens| *tokens >= 1_000)
}

/// The size as a person writes it: `120k`, `120500`.
pub fn size(tokens: u64) -> String {
    match tokens {
        tokens if tokens > 0 && tokens.is_multiple_of(1_000) => format!("{}k", tokens / 1_000),
        tokens => tokens.to_string(),
    }
}

/// A number of tokens as a person writes it: `120k`, `1.5m`, `120000`, `120,000`.
pub fn tokens(word: &str) -> Option<u64> {
    let (number, unit) = match word.strip_suffix('k') {
        Some(number) => (number, 1_000.0),
        None => match word.strip_suffix('m') {
            Some(number) => (number, 1_000_000.0),
            None => (word, 1.0),
        },
    };
    let digits: String = number
        .chars()
        .filter(|character| !matches!(character, ',' | '_'))
        .collect();
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits
            .chars()
            .all(|character| character.is_ascii_digit() || character == '.');
    let number: f64 = digits.parse().ok().filter(|_| plain)?;
    let tokens = number * unit;
    (tokens < 1e12).then_some(tokens as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        for (text, wanted) in [
            (None, Asked::Summary),
            (Some(""), Asked::Summary),
            (Some("keep the API names"), Asked::Summary),
            (Some("prune"), Asked::Prune),
            (Some("  Prune \n"), Asked::Prune),
            (Some("prune  preview"), Asked::Preview(None)),
            (Some("prune preview 120k"), Asked::Preview(Some(120_000))),
            (Some("prune 120k"), Asked::Budget(120_000)),
            (Some("prune 120000"), Asked::Budget(120_000)),
            (Some("prune 120,000"), Asked::Budget(120_000)),
            (Some("prune 1.5M"), Asked::Budget(1_500_000)),
            (Some("prune the old build logs"), Asked::Summary),
            (Some("pruning should stay in"), Asked::Summary),
            (Some("pines and oaks"), Asked::Summary),
        ] {
            assert_eq!(asked(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_size_reads_back_as_it_is_written() {
        for tokens in [1_000, 120_000, 120_500, 1_500_000] {
            assert_eq!(target(&size(tokens)), Some(tokens));
        }
        assert_eq!((size(120_000).as_str(), size(120_500).as_str()), ("120k", "120500"));
        assert_eq!(target("999"), None);
    }

    #[test]
    fn near_misses_are_explained() {
        for text in [
            "prune please",
            "prunes",
            "purne",
            "prun 120k",
            "prune 120q",
            "prune -5k",
            "prune 12",
            "prune 0k",
            "prune inf",
            "prune 1e9",
            "prune preview 12",
            "prune preview all",
        ] {
            assert!(matches!(asked(Some(text)), Asked::NearMiss(_)), "{text}");
        }
    }
}
