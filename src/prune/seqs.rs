//! The addresses in history that the notes of a cut name.

use std::cell::OnceCell;
use std::path::PathBuf;

use crate::history::Transcript;

/// Addresses of a transcript's calls.
///
/// The transcript is read when the first address is asked for: a cut that cuts nothing does not pay for it.
#[derive(Debug)]
pub struct Seqs {
    path: Option<PathBuf>,
    state_dir: Option<PathBuf>,
    transcript: OnceCell<Option<Transcript>>,
}

impl Seqs {
    /// Addresses in this transcript; without one, none is known. With the folder of its index, only what is new is read.
    pub fn new(path: Option<PathBuf>, state_dir: Option<PathBuf>) -> Self {
        Self {
            path,
            state_dir,
            transcript: OnceCell::new(),
        }
    }

    /// The address of the call with this id. A transcript that history cannot read has none; the id finds the call all
    /// the same once it can.
    pub fn of(&self, tool_use_id: &str) -> Option<u64> {
        let read = || {
            let path = self.path.as_deref()?;
            Transcript::open(path, self.state_dir.as_deref())
                .inspect_err(|error| tracing::warn!(%error, "cut without addresses"))
                .ok()
        };
        self.transcript.get_or_init(read).as_ref()?.seq_of_call(tool_use_id)
    }
}
