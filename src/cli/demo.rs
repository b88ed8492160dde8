//! `notesoup demo`: the main job, shown on a made-up conversation.

use std::process::ExitCode;

use crate::demo;

/// The width of lines that go into a file or a pipe.
const PLAIN_WIDTH: usize = 100;

pub(super) fn run() -> ExitCode {
    // A reader that has seen enough closes the pipe; that is no fault.
    match demo::play(&mut super::out::stdout(), super::table::width().unwrap_or(PLAIN_WIDTH)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => super::fail(&format!("the demo cannot go on: {error}")),
    }
}
