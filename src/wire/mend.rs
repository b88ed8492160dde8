//! Half a surrogate pair in a request. The client's strings may hold one, where an emoji was cut in two, and its JSON
//! writes it as an escape that no text can hold: the whole event would be refused for it.

use memchr::memchr_iter;

/// Puts U+FFFD in the place of every escape that is half a pair. Nothing moves, and everything else stays as it is.
pub fn mend(json: &mut [u8]) {
    // The client writes whole pairs as plain characters, so most requests have no such escape at all.
    let suspects: Vec<usize> = memchr_iter(b'\\', json)
        .filter(|at| matches!(json.get(at + 1..at + 3), Some(b"ud" | b"uD")))
        .collect();
    let mut done = 0;
    for at in suspects {
        if at < done || is_escaped(json, at) {
            continue;
        }
        let is_pair =
            matches!(half(json, at), Some(Half::First)) && matches!(half(json, at + ESCAPE), Some(Half::Second));
        if is_pair {
            done = at + 2 * ESCAPE;
        } else if half(json, at).is_some() {
            json[at..at + ESCAPE].copy_from_slice(br"\ufffd");
        }
    }
}

/// How long an escape is.
const ESCAPE: usize = 6;

enum Half {
    First,
    Second,
}

/// Whether a backslash is itself escaped, by an odd number of others before it.
fn is_escaped(json: &[u8], at: usize) -> bool {
    json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The half of a pair whose escape stands here.
fn half(json: &[u8], at: usize) -> Option<Half> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xD800..=0xDBFF => Some(Half::First),
        0xDC00..=0xDFFF => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mend;

    fn mended(json: &str) -> String {
        let mut bytes = json.as_bytes().to_vec();
        mend(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_half_becomes_a_mark_and_all_else_stays() {
        for (given, wanted) in [
            (r#""cut \ud83d""#, r#""cut \ufffd""#),
            (
                r#""\uDE00 cut \uD83D\ud83d\ude00""#,
                r#""\ufffd cut \ufffd\ud83d\ude00""#,
            ),
            (r#""\ud83d\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            (r#""a path: \\ud83d and \\\ud83d""#, r#""a path: \\ud83d and \\\ufffd""#),
            (r#""\ud7ff \ud83 \ud83d"#, r#""\ud7ff \ud83 \ufffd"#),
            (r"\ud8", r"\ud8"),
        ] {
            assert_eq!(mended(given), wanted, "{given}");
        }
    }
}
