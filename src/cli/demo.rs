//! `notesoup demo`: the main job, shown on a made-up conversation.

use std::process::ExitCode;

use crate::demo;

pub(super) fn run() -> ExitCode {
    // A reader that has seen enough closes the pipe; that is no fault.
    match demo::play(&mut anstream::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => super::fail(&format!("the demo cannot go on: {error}")),
    }
}
