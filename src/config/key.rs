//! Dotted keys, as TOML writes them: a part that is not a bare word stands in quotes, so that no name can be taken for
//! a path.

use std::borrow::Cow;

/// `prefix.name`, with `name` in quotes where it needs them.
pub fn join(prefix: &str, name: &str) -> String {
    let name = quoted(name);
    if prefix.is_empty() {
        name.into_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// The parts of a dotted key.
pub fn split(key: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = key.chars();
    let mut is_quoted = false;
    while let Some(char) = chars.next() {
        match char {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => part.extend(chars.next()),
            '.' if !is_quoted => parts.push(std::mem::take(&mut part)),
            other => part.push(other),
        }
    }
    parts.push(part);
    parts
}

/// The key without its last part, or `None` when it has one part only.
pub fn parent(key: &str) -> Option<&str> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    let mut last = None;
    for (at, byte) in key.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'.' if !is_quoted => last = Some(at),
            _ => {}
        }
    }
    last.map(|at| &key[..at])
}

fn quoted(name: &str) -> Cow<'_, str> {
    let is_bare = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for char in name.chars() {
        if matches!(char, '"' | '\\') {
            text.push('\\');
        }
        text.push(char);
    }
    text.push('"');
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_dot_is_one_part() {
        for parts in [
            &["window", "reset_margin_tokens"][..],
            &["hooks", "a.b", "run"],
            &["hooks", "", "run"],
            &["x", "quote\"d \\ back"],
            &["ü"],
        ] {
            let key = parts.iter().fold(String::new(), |key, part| {
                if key.is_empty() && part.is_empty() {
                    "\"\"".to_owned()
                } else {
                    join(&key, part)
                }
            });
            assert_eq!(split(&key), parts, "{key}");
            let expected = (parts.len() > 1).then_some(parts.len() - 1);
            assert_eq!(parent(&key).map(|key| split(key).len()), expected, "{key}");
        }
    }
}
