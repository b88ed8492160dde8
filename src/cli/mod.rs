//! The command line. `hook` and `plan` are taken before the parser is built, since the client starts them again and
//! again.

mod hook;
mod log;

use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    match hook::run_if_asked() {
        Some(code) => code,
        None => ExitCode::FAILURE,
    }
}
