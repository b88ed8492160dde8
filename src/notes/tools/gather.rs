//! The notes that a query is about, from every home that can be read.

use schemars::JsonSchema;
use serde::Serialize;

use super::bounds::Unavailable;
use crate::notes::home::{Home, Homes};
use crate::notes::pattern::Scope;
use crate::notes::scan::{self, Found};

/// What stands in the homes but is no note.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Symbolic links, which are not followed.
    pub links: usize,
    /// Files that end in `.md` but that no address can name.
    pub unnameable: usize,
    /// Notes that could not be read.
    pub unreadable: usize,
}

impl Skipped {
    /// A line for people and models; nothing when nothing was skipped.
    pub fn sentence(&self) -> Option<String> {
        let parts: Vec<String> = [
            (self.links, "symbolic link", "symbolic links"),
            (self.unnameable, "file no address can name", "files no address can name"),
            (
                self.unreadable,
                "note that could not be read",
                "notes that could not be read",
            ),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more }))
        .collect();
        (!parts.is_empty()).then(|| format!("Passed over: {}.", parts.join(", ")))
    }
}

/// What was found without opening a file.
#[derive(Debug, Default)]
pub struct Gathered {
    pub found: Vec<Found>,
    pub skipped: Skipped,
    pub unavailable: Vec<Unavailable>,
}

/// Walks the homes that the scope may be about.
pub fn gather(homes: &Homes, scope: &Scope) -> Gathered {
    let mut gathered = Gathered::default();
    let (all, others) = homes.all();
    for (home, reason) in others {
        gathered.unavailable.push(Unavailable { home, reason });
    }
    for home in all {
        if !scope.may_contain(homes, &home) || home == Home::Session && !homes.has_session() {
            continue;
        }
        let name = match homes.prefix(&home) {
            prefix if prefix.is_empty() => "(this conversation)".to_owned(),
            prefix => prefix,
        };
        let walked = homes
            .folder(&home)
            .and_then(|folder| scan::walk(&home, &folder).map_err(|error| error.to_string()));
        match walked {
            Ok(walk) => {
                gathered.skipped.links += walk.links;
                gathered.skipped.unnameable += walk.unnameable;
                gathered.found.extend(
                    walk.found
                        .into_iter()
                        .filter(|found| scope.contains(homes, &found.address)),
                );
                if let Some((folder, reason)) = walk.unreadable.first() {
                    let reason = format!(
                        "{} of its folders cannot be read, {}: {reason}",
                        walk.unreadable.len(),
                        folder.display()
                    );
                    gathered.unavailable.push(Unavailable { home: name, reason });
                }
            }
            Err(reason) => gathered.unavailable.push(Unavailable { home: name, reason }),
        }
    }
    for unavailable in &mut gathered.unavailable {
        unavailable.reason = crate::notes::text::cut(&unavailable.reason, 300);
    }
    gathered
}

/// The most homes that an answer names as unavailable.
const MAX_NAMED: usize = 8;

/// Bounds the list of unavailable homes; a last entry counts those left out.
pub fn name_unavailable(mut unavailable: Vec<Unavailable>) -> Vec<Unavailable> {
    if unavailable.len() > MAX_NAMED {
        let more = unavailable.len() - MAX_NAMED;
        unavailable.truncate(MAX_NAMED);
        unavailable.push(Unavailable {
            home: "…".to_owned(),
            reason: format!("{more} more homes"),
        });
    }
    unavailable
}

/// The lines at the end of a text rendering that count what is not in it.
pub fn footer(more: usize, what: &str, crumpled: usize, skipped: &Skipped, unavailable: &[Unavailable]) -> String {
    let mut text = String::new();
    if more > 0 {
        text.push_str(&format!("\n{more} more {what}: narrow the pattern or raise the limit."));
    }
    if crumpled > 0 {
        text.push_str(&format!(
            "\n{crumpled} more in the wastebasket (wastebasket: true shows them)."
        ));
    }
    if let Some(sentence) = skipped.sentence() {
        text.push_str(&format!("\n{sentence}"));
    }
    for home in unavailable {
        text.push_str(&format!("\nNot available: {}: {}.", home.home, home.reason));
    }
    text
}
