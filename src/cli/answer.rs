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
            refusal.message,
            refusal.code
        );
    }
    ExitCode::FAILURE
}

/// A reader that has gone away is no error.
pub(super) fn print_json(value: &Value) {
    // In one piece: standard output would write line by line.
    let text = format!("{value:#}\n");
    let _ = super::out::stdout().write_all(text.as_bytes());
}
