//! What a command that works on notes or history prints: JSON, or why it refuses.

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::outcome::{self, Refusal};

/// Tells a refusal: to a person on standard error, to a script on standard output.
pub(super) fn refuse(refusal: Refusal, json: bool) -> ExitCode {
    if json {
        print_json(&outcome::to_json(&Err(refusal)));
    } else {
        let (red, dim) = (AnsiColor::Red.on_default().bold(), Style::new().dimmed());
        let _ = writeln!(
            anstream::stderr(),
            "{red}error{red:#}: {} {dim}({}){dim:#}",
            for_a_person(&refusal.message),
            refusal.code
        );
    }
    ExitCode::FAILURE
}

/// The words that a refusal has for the model, and those for a person at the command line.
const WORDS: &[(&str, &str)] = &[
    ("`notes_list`", "`notesoup notes list`"),
    ("`notes_write`", "`notesoup notes write`"),
    ("If it stays so, tell the person; ", ""),
    (": tell the person", ""),
    (
        "belongs to a conversation, and none is known here",
        "belongs to a conversation, and none is named: --session ID",
    ),
];

fn for_a_person(message: &str) -> String {
    WORDS.iter().fold(message.to_owned(), |message, (theirs, ours)| {
        message.replace(theirs, ours)
    })
}

/// A reader that has gone away is no error.
pub(super) fn print_json(value: &Value) {
    // In one piece: standard output would write line by line.
    let text = format!("{value:#}\n");
    let _ = super::out::stdout().write_all(text.as_bytes());
}
