//! The `notesoup` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    notesoup::cli::main()
}
