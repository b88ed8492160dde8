//! The boot: what a fresh window begins with, rendered once from one closed snapshot.

mod budget;
mod render;
mod snapshot;

pub use render::render;
pub use snapshot::{Checkpoint, NoteLine, Shelf, Snapshot, Wipe};

/// How the boot begins: nothing else of ours contains this, so that a boot is found again in a transcript.
pub const OPENING: &str = "<notesoup window=\"";

/// How the boot ends.
pub const CLOSING: &str = "</notesoup>";
