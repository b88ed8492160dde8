//! What a note is called: a path in a home, written `plans/a.md`, `@project/plans/a.md` and so on.

use crate::notes::home::{Home, Homes};
use crate::outcome::Refusal;

/// The most bytes that the path of an address may have, `.md` included.
pub const MAX_PATH_BYTES: usize = 512;

/// A note's address: its home and its path there. The path is legal by construction and ends in `.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    home: Home,
    path: String,
}

impl Address {
    /// Reads an address as `homes` understands it.
    ///
    /// # Errors
    /// `invalid_address` or `too_large`, with the rule that was broken.
    pub fn parse(homes: &Homes, text: &str) -> Result<Self, Refusal> {
        let Some(rest) = text.strip_prefix('@') else {
            return Self::at(Home::Session, text, text);
        };
        let (head, path) = rest.split_once('/').ok_or_else(|| no_head(text))?;
        let home = match head {
            "project" => Home::Project,
            "human" => Home::Human,
            "self" => Home::Agent(homes.agent().to_owned()),
            "model" => Home::Model(homes.model().to_owned()),
            "agents" | "models" => {
                let (slug, path) = path.split_once('/').ok_or_else(|| no_head(text))?;
                check_component(slug).map_err(|why| invalid(text, why))?;
                let home = if head == "agents" {
                    Home::Agent(slug.to_owned())
                } else {
                    Home::Model(slug.to_owned())
                };
                return Self::at(home, path, text);
            }
            _ => return Err(no_head(text)),
        };
        Self::at(home, path, text)
    }

    /// The address of a file found on disk, or `None` when no address can name it.
    pub fn of_file(home: &Home, path: &str) -> Option<Self> {
        let legal = path.ends_with(".md")
            && path.len() <= MAX_PATH_BYTES
            && path.split('/').all(|component| check_component(component).is_ok())
            // A bare path that begins with `@` would be read as a head.
            && (*home != Home::Session || !path.starts_with('@'));
        legal.then(|| Self {
            home: home.clone(),
            path: path.to_owned(),
        })
    }

    fn at(home: Home, path: &str, text: &str) -> Result<Self, Refusal> {
        for component in path.split('/') {
            check_component(component).map_err(|why| invalid(text, why))?;
        }
        let mut path = path.to_owned();
        if !path.ends_with(".md") {
            path.push_str(".md");
        }
        if path.len() > MAX_PATH_BYTES {
            return Err(Refusal::new(
                "too_large",
                format!(
                    "The path of this address has {} bytes; at most {MAX_PATH_BYTES} are possible. Choose a shorter one.",
                    path.len()
                ),
            ));
        }
        Ok(Self { home, path })
    }

    /// The home the note is in.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The path in the home, with `/` between components and `.md` at the end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The last component without `.md`.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.strip_suffix(".md").unwrap_or(name)
    }
}

fn check_component(component: &str) -> Result<(), &'static str> {
    match component {
        "" => Err("it has an empty part (a leading, trailing or double `/`)"),
        "." | ".." => Err("`.` and `..` are not allowed"),
        _ if component.contains('\\') => Err("a backslash is not allowed"),
        _ if component.chars().any(char::is_control) => Err("control characters are not allowed"),
        _ => Ok(()),
    }
}

fn invalid(text: &str, why: &str) -> Refusal {
    Refusal::new(
        "invalid_address",
        format!(
            "{} is not an address: {why}. Write e.g. `plans/next.md` (this conversation) or `@project/decisions.md`.",
            quoted(text)
        ),
    )
}

fn no_head(text: &str) -> Refusal {
    Refusal::new(
        "invalid_address",
        format!(
            "{} names no home. After `@` comes `project/`, `human/`, `self/`, `model/`, `agents/<name>/` or \
             `models/<name>/`, then the path of the note; a path without `@` is a note of this conversation.",
            quoted(text)
        ),
    )
}

/// The text as a refusal may show it: escaped, and not longer than a line.
pub fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(120).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(120).is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// A name as a folder: lower case, every run outside `[a-z0-9]` one `-`, none at the ends; `root` when nothing is left.
pub fn slugify(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() { "root".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::Identity;

    fn homes() -> Homes {
        Homes::new(Identity {
            root: "/notes".into(),
            session_id: "s1".into(),
            cwd: "/".into(),
            model: Some("Claude Opus 4.1".into()),
            ..Identity::default()
        })
    }

    #[test]
    fn every_head_leads_to_its_home() {
        let homes = homes();
        for (text, rendered) in [
            ("a", "a.md"),
            ("plans/a.md", "plans/a.md"),
            ("@project/a", "@project/a.md"),
            ("@human/a", "@human/a.md"),
            ("@self/a", "@self/a.md"),
            ("@agents/claude/a", "@self/a.md"),
            ("@agents/pi/b/a", "@agents/pi/b/a.md"),
            ("@model/a", "@model/a.md"),
            ("@models/claude-opus-4-1/a", "@model/a.md"),
            ("@models/other/a", "@models/other/a.md"),
        ] {
            let address = Address::parse(&homes, text).unwrap();
            assert_eq!(homes.render(&address), rendered);
        }
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        let homes = homes();
        for text in [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            "../a",
            "a/../b",
            "./a",
            "a\\b",
            "a\nb",
            "a\0",
            "@",
            "@self",
            "@self/",
            "@other/a",
            "@agents/a",
            "@agents//a",
            "@agents/../a/b",
            "@project/../x",
            "@Project/a",
            "@/a",
            "\u{85}",
        ] {
            let refusal = Address::parse(&homes, text).unwrap_err();
            assert_eq!(refusal.code, "invalid_address", "{text:?}");
        }
        assert_eq!(Address::parse(&homes, &"a".repeat(510)).unwrap_err().code, "too_large");
    }

    #[test]
    fn slugs() {
        for (name, slug) in [
            ("Claude Opus 4.1", "claude-opus-4-1"),
            ("--A__b--", "a-b"),
            ("日本", "root"),
            ("", "root"),
        ] {
            assert_eq!(slugify(name), slug);
        }
    }
}
