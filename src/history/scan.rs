//! A cursor over the bytes of one JSON value that skips what nobody asked for.
//!
//! It checks framing, not grammar: names of a top-level object, and that strings and brackets end. A number or a word
//! is any run of bytes that mean nothing to the framing. What is shown later is parsed in full.

use std::borrow::Cow;

use memchr::memchr2;

/// The bytes do not frame a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

/// A string as it stands between its quotes, with its escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawStr<'a> {
    /// The bytes between the quotes.
    pub raw: &'a [u8],
    /// Whether there is a backslash in it.
    pub escaped: bool,
}

impl<'a> RawStr<'a> {
    /// The string as text. What no text can hold (half a surrogate pair, bytes that are not UTF-8) stands as U+FFFD, and
    /// an escape that is none stands as it is: half a word is better than none.
    pub fn decode(&self) -> Cow<'a, str> {
        if !self.escaped {
            return String::from_utf8_lossy(self.raw);
        }
        let mut text = String::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            text.push_str(&String::from_utf8_lossy(&rest[..at]));
            let (character, length) = escape(&rest[at..]);
            text.push(character);
            rest = &rest[at + length..];
        }
        text.push_str(&String::from_utf8_lossy(rest));
        Cow::Owned(text)
    }
}

/// The character that the escape at the front means, and the escape's length.
fn escape(raw: &[u8]) -> (char, usize) {
    let plain = match raw.get(1) {
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'"') => '"',
        Some(b'/') => '/',
        Some(b'\\') => '\\',
        Some(b'u') => return unicode_escape(raw),
        _ => return ('\\', 1),
    };
    (plain, 2)
}

fn unicode_escape(raw: &[u8]) -> (char, usize) {
    let Some(unit) = hex(raw, 0) else {
        return ('\\', 1);
    };
    if !(0xd800..0xdc00).contains(&unit) {
        return (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6);
    }
    match hex(raw, 6) {
        Some(low) if (0xdc00..0xe000).contains(&low) => {
            let point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The number of a `\uXXXX` that stands at `at`.
fn hex(raw: &[u8], at: usize) -> Option<u32> {
    let digits = raw.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits
        .iter()
        .try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}

/// What kind of value stands at the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A number, `true`, `false` or `null`.
    Word,
}

/// Walks over the bytes from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the front of these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes lie behind the cursor's back.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The bytes from the cursor on.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The byte at the cursor; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Whether nothing is left.
    pub const fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Passes a byte order mark.
    pub fn skip_mark(&mut self) {
        if self.rest().starts_with(b"\xef\xbb\xbf") {
            self.at += 3;
        }
    }

    /// Passes white space.
    pub fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Passes this byte, and white space before and behind it.
    pub fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        self.space();
        if self.peek() != byte || self.at_end() {
            return Err(Broken);
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Passes this byte if it is there, and white space behind it.
    pub fn take(&mut self, byte: u8) -> bool {
        if self.peek() != byte || self.at_end() {
            return false;
        }
        self.at += 1;
        self.space();
        true
    }

    /// The kind of value at the cursor.
    pub fn shape(&self) -> Result<Shape, Broken> {
        match self.peek() {
            b'{' => Ok(Shape::Object),
            b'[' => Ok(Shape::Array),
            b'"' => Ok(Shape::String),
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Ok(Shape::Word),
            _ => Err(Broken),
        }
    }

    /// Passes a string and gives it.
    pub fn string(&mut self) -> Result<RawStr<'a>, Broken> {
        if self.peek() != b'"' {
            return Err(Broken);
        }
        let start = self.at + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            let found = special(self.bytes, at).ok_or(Broken)?;
            if self.bytes[found] == b'"' {
                self.at = found + 1;
                return Ok(RawStr {
                    raw: &self.bytes[start..found],
                    escaped,
                });
            }
            escaped = true;
            at = found + 2;
        }
    }

    /// Passes a number or a word and gives it.
    pub fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while !matches!(
            self.peek(),
            0 | b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n'
        ) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    /// Passes a value of any kind.
    pub fn skip(&mut self) -> Result<(), Broken> {
        match self.shape()? {
            Shape::String => self.string().map(|_| ()),
            Shape::Word => {
                self.word();
                Ok(())
            }
            Shape::Object | Shape::Array => self.skip_nested(),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Broken> {
        let mut depth = 0u32;
        loop {
            match self.bytes.get(self.at) {
                None => return Err(Broken),
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Passes a value of any kind and gives its bytes.
    pub fn value(&mut self) -> Result<&'a [u8], Broken> {
        let start = self.at;
        self.skip()?;
        Ok(&self.bytes[start..self.at])
    }

    /// Passes an object; `entry` is called at each value with its name and must pass the value.
    pub fn object(&mut self, mut entry: impl FnMut(&mut Self, &[u8]) -> Result<(), Broken>) -> Result<(), Broken> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            if name.escaped {
                entry(self, name.decode().as_bytes())?;
            } else {
                entry(self, name.raw)?;
            }
            self.space();
            if self.take(b',') {
                continue;
            }
            if self.peek() != b'}' {
                return Err(Broken);
            }
            self.at += 1;
            return Ok(());
        }
    }

    /// Passes an array; `entry` is called at each value and must pass it.
    pub fn array(&mut self, mut entry: impl FnMut(&mut Self) -> Result<(), Broken>) -> Result<(), Broken> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            entry(self)?;
            self.space();
            if self.take(b',') {
                continue;
            }
            if self.peek() != b']' {
                return Err(Broken);
            }
            self.at += 1;
            return Ok(());
        }
    }
}

/// The next quote or backslash from `at` on.
///
/// Most strings are names and ids of a few bytes, which are looked at eight at a time, without a call.
#[inline]
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    const SHORT: usize = 5;
    // The lowest marked byte is right; those above it may not be.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    for _ in 0..SHORT {
        let Some(word) = bytes.get(at..at + 8).and_then(|word| word.try_into().ok()) else {
            break;
        };
        let word = u64::from_le_bytes(word);
        let found = zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64));
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    Some(at + memchr2(b'"', b'\\', bytes.get(at..)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_string_is_found_wherever_it_lies() {
        for length in 0..120 {
            for (end, other) in [(b'"', b'!'), (b'\\', b']'), (b'"', 0xa2)] {
                let mut bytes = vec![other; length];
                assert_eq!(special(&bytes, 0), None);
                bytes.push(end);
                bytes.extend_from_slice(b"x\"\\ and more");
                assert_eq!(special(&bytes, 0), Some(length));
            }
        }
    }

    fn skipped(text: &str) -> Option<usize> {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().ok().map(|()| cursor.position())
    }

    #[test]
    fn a_value_ends_where_its_brackets_and_quotes_do() {
        assert_eq!(skipped(r#"{"a":[1,{"b":"}]\""}],"c":null} rest"#), Some(31));
        assert_eq!(skipped(r#""a\\" rest"#), Some(5));
        assert_eq!(skipped("true,"), Some(4));
        for broken in ["", r#"{"a":1"#, r#"["#, r#""a\""#, r#""a\"#, "}", ","] {
            assert_eq!(skipped(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_string_is_decoded_whatever_it_holds() {
        let decoded = |raw: &[u8]| RawStr { raw, escaped: true }.decode().into_owned();
        assert_eq!(decoded(br#"a\n\"\\ \u00e4\ud83d\ude00\/"#), "a\n\"\\ ä😀/");
        assert_eq!(decoded(br"\ud83d x \ude00 \ud83d"), "\u{fffd} x \u{fffd} \u{fffd}");
        assert_eq!(decoded(br"\q \u12 \u"), r"\q \u12 \u");
        assert_eq!(decoded(b"\\n\xff"), "\n\u{fffd}");
    }

    #[test]
    fn an_escaped_name_is_the_name_it_means() {
        let mut names = Vec::new();
        let mut cursor = Cursor::new(br#"{"\u0061b":1, "c" : [ ] }"#);
        let walked = cursor.object(|cursor, name| {
            names.push(String::from_utf8_lossy(name).into_owned());
            cursor.skip()
        });
        assert_eq!((walked, names), (Ok(()), vec!["ab".to_owned(), "c".to_owned()]));
    }
}
