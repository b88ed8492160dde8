//! Standard output of the commands. A reader that has seen enough is no fault; a disk that is full is one, and the
//! exit code says so.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Why standard output could not be written, the first time.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// A writer that remembers for [`settled`] what went wrong, so that those who print need not look.
pub(super) struct Out<W>(W);

/// For text: without colours where nobody would see them.
pub(super) fn stdout() -> Out<anstream::Stdout> {
    Out(anstream::stdout())
}

/// For bytes that are to arrive as they are.
pub(super) fn raw() -> Out<io::StdoutLock<'static>> {
    Out(io::stdout().lock())
}

/// The exit code, once all is written: a failure when something of it was lost.
pub(super) fn settled(code: ExitCode) -> ExitCode {
    let _ = raw().flush();
    match FAILED.get() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            super::fail(&format!("standard output cannot be written: {error}"))
        }
        _ => code,
    }
}

fn noted<T>(done: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &done {
        // The error itself goes to the caller, who may stop there.
        let _ = FAILED.set(
            error
                .raw_os_error()
                .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error),
        );
    }
    done
}

impl<W: Write> Write for Out<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        noted(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        noted(self.0.flush())
    }
}
