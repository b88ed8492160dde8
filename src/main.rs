//! The `notesoup` program: see the library's `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    notesoup::cli::main()
}
