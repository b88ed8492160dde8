//! Claude Code: whether it is there, new enough, and not kept from what notesoup needs.

use std::env;

use super::{Finding, Part, Report};
use crate::package::client::{Client, Version};
use crate::paths::tilde;

const PART: Part = Part::Client;

/// Variables that change what notesoup can do, and how.
const VARIABLES: &[(&str, &str)] = &[
    (
        "DISABLE_COMPACT",
        "no window is reset and /fresh-window cannot run; notes and history work",
    ),
    (
        "DISABLE_AUTO_COMPACT",
        "the reset point is the window less the output reserve",
    ),
    ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "the reset point follows it"),
    ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "the reset point follows it"),
];

pub(super) fn examine(report: Report<'_>) -> Option<Client> {
    let client = match Client::find() {
        Ok(client) => client,
        Err(err) => {
            report(Finding::wrong(PART, err.to_string(), err.hint()));
            return None;
        }
    };
    match client.version() {
        Ok(version) if version < Version::FIRST_WITH_MODS => report(Finding::wrong(
            PART,
            format!(
                "Claude Code {version} has no mods yet; they came with {}",
                Version::FIRST_WITH_MODS
            ),
            "claude update",
        )),
        Ok(version) => report(Finding::well(
            PART,
            format!("Claude Code {version} at {}", tilde(client.path())),
        )),
        Err(err) => {
            report(Finding::wrong(PART, err.to_string(), err.hint()));
            return None;
        }
    }
    for (name, effect) in VARIABLES {
        if let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) {
            report(Finding::note(
                PART,
                format!("{name}={} is set in this shell: {effect}", value.to_string_lossy()),
            ));
        }
    }
    Some(client)
}
