//! Patterns over whole addresses: `*` within a part, `?` one character, `**` across parts.

use crate::notes::address::{Address, quoted};
use crate::notes::home::{Home, Homes};
use crate::outcome::Refusal;

/// The most bytes of a pattern.
const MAX_BYTES: usize = 1024;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What every match begins with.
    literal: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// One character, not `/`.
    One,
    /// Any characters but `/`.
    Within,
    /// Any characters.
    Across,
    /// The next token or nothing.
    Maybe,
    /// Any characters up to a `/`.
    UntilSlash,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// `invalid_pattern`, with the rule that was broken.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse = |why: &str| {
            let shown = quoted(text);
            let message = format!(
                "{shown} is not a pattern: {why}. Write e.g. `plans/*` (this conversation), `@project/**` or `**/decisions.md`."
            );
            Err(Refusal::new("invalid_pattern", message))
        };
        if text.len() > MAX_BYTES {
            return refuse("it is too long");
        }
        if text.contains('\\') {
            return refuse("a backslash is in no address");
        }
        if text.chars().any(char::is_control) {
            return refuse("control characters are in no address");
        }
        if text.starts_with('/') {
            return refuse("no address begins with `/`");
        }
        if text.split('/').any(|part| matches!(part, "." | "..")) {
            return refuse("`.` and `..` are in no address");
        }
        if text.ends_with('/') {
            return refuse("no address ends with `/` (for all notes below it, end it with `/**`)");
        }
        if let Some(head) = text.strip_prefix('@') {
            let (head, rest) = head.split_once('/').unwrap_or((head, ""));
            let known = ["project", "human", "self", "model", "agents", "models"].contains(&head);
            if !known && !head.contains(['*', '?']) {
                return refuse("after `@` comes `project`, `human`, `self`, `model`, `agents` or `models`");
            }
            if known && rest.is_empty() {
                return refuse("it names a home but no note in it (for all of them, end it with `/**`)");
            }
        }
        Ok(Self {
            literal: text.chars().take_while(|c| !matches!(c, '*' | '?')).collect(),
            tokens: tokens(text),
        })
    }

    /// Whether the whole address matches. Linear in the address for any pattern.
    pub fn matches(&self, address: &str) -> bool {
        if !address.starts_with(&self.literal) {
            return false;
        }
        // Which tokens may come next, after each character.
        let mut states = vec![false; self.tokens.len() + 1];
        reach(&mut states, 0);
        self.skip_empty(&mut states);
        let mut next = states.clone();
        for character in address.chars() {
            next.fill(false);
            for (index, token) in self.tokens.iter().enumerate() {
                if !states.get(index).copied().unwrap_or(false) {
                    continue;
                }
                let (stay, advance) = match token {
                    Token::Literal(literal) => (false, *literal == character),
                    Token::One => (false, character != '/'),
                    Token::Within => (character != '/', false),
                    Token::Across => (true, false),
                    Token::Maybe => (false, false),
                    Token::UntilSlash => (true, character == '/'),
                };
                if stay {
                    reach(&mut next, index);
                }
                if advance {
                    reach(&mut next, index + 1);
                }
            }
            self.skip_empty(&mut next);
            std::mem::swap(&mut states, &mut next);
        }
        states.last().copied().unwrap_or(false)
    }

    /// A token that may match nothing lets the one behind it begin as well.
    fn skip_empty(&self, states: &mut [bool]) {
        for (index, token) in self.tokens.iter().enumerate() {
            if !states.get(index).copied().unwrap_or(false) {
                continue;
            }
            match token {
                Token::Within | Token::Across => reach(states, index + 1),
                Token::Maybe => {
                    reach(states, index + 1);
                    reach(states, index + 2);
                }
                Token::Literal(_) | Token::One | Token::UntilSlash => {}
            }
        }
    }
}

fn reach(states: &mut [bool], index: usize) {
    if let Some(state) = states.get_mut(index) {
        *state = true;
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut starts_part = true;
    while let Some(character) = rest.chars().next() {
        let stars = rest.len() - rest.trim_start_matches('*').len();
        let taken = match (character, stars) {
            ('*', 1) => {
                tokens.push(Token::Within);
                1
            }
            ('*', _) if starts_part && rest.as_bytes().get(stars) == Some(&b'/') => {
                tokens.extend([Token::Maybe, Token::UntilSlash]);
                stars + 1
            }
            ('*', _) => {
                tokens.push(Token::Across);
                stars
            }
            ('?', _) => {
                tokens.push(Token::One);
                1
            }
            _ => {
                tokens.push(Token::Literal(character));
                character.len_utf8()
            }
        };
        starts_part = rest.as_bytes().get(taken - 1) == Some(&b'/');
        rest = rest.get(taken..).unwrap_or_default();
    }
    tokens
}

/// Which addresses a query is about.
#[derive(Debug, Clone)]
pub struct Scope {
    pattern: Option<Pattern>,
}

impl Scope {
    /// All addresses, or those that a pattern matches.
    ///
    /// # Errors
    /// `invalid_pattern`.
    pub fn new(pattern: Option<&str>) -> Result<Self, Refusal> {
        Ok(Self {
            pattern: pattern.map(Pattern::parse).transpose()?,
        })
    }

    /// Whether the address is in the scope; an own agent's or model's note may be named either way.
    pub fn contains(&self, homes: &Homes, address: &Address) -> bool {
        let Some(pattern) = &self.pattern else {
            return true;
        };
        pattern.matches(&homes.render(address))
            || homes
                .explicit_prefix(address.home())
                .is_some_and(|prefix| pattern.matches(&(prefix + address.path())))
    }

    /// Whether anything in the home could be in the scope: a first look that spares walks.
    pub fn may_contain(&self, homes: &Homes, home: &Home) -> bool {
        let Some(pattern) = &self.pattern else {
            return true;
        };
        let could = |prefix: &str| prefix.starts_with(&pattern.literal) || pattern.literal.starts_with(prefix);
        could(&homes.prefix(home)) || homes.explicit_prefix(home).is_some_and(|prefix| could(&prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, address, expected) in [
            ("*", "a.md", true),
            ("*", "a/b.md", false),
            ("**", "@project/a/b.md", true),
            ("@project/*", "@project/a.md", true),
            ("@project/*", "@project/a/b.md", false),
            ("@project/**", "@project/a/b.md", true),
            ("**/b.md", "b.md", true),
            ("**/b.md", "@project/a/b.md", true),
            ("**/b.md", "@project/ab.md", false),
            ("a/**/b.md", "a/b.md", true),
            ("a/**/b.md", "a/x/y/b.md", true),
            ("a/**/b.md", "ax/b.md", false),
            ("a**b.md", "a/x/b.md", true),
            ("?.md", "é.md", true),
            ("?.md", "/.md", false),
            ("@*/a.md", "@human/a.md", true),
            ("[a].md", "a.md", false),
        ] {
            assert_eq!(
                Pattern::parse(pattern).unwrap().matches(address),
                expected,
                "{pattern} on {address}"
            );
        }
    }

    #[test]
    fn what_can_match_no_address_is_refused() {
        for pattern in ["/a", "a\\b", "a\nb", "@", "@projcet/*", "@project", "@project/", "../*"] {
            assert_eq!(
                Pattern::parse(pattern).unwrap_err().code,
                "invalid_pattern",
                "{pattern:?}"
            );
        }
    }
}
