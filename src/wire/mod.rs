//! The wire between the courier (the plugin's module inside Claude Code) and the helper: one JSON request on stdin,
//! one JSON reply on stdout.
//!
//! The courier carries facts down and effects up; it decides nothing. Versioned by `v`; the types here are published
//! as JSON Schemas in `schemas/`.

mod error;
mod mend;
mod plan;
mod reply;
mod request;

pub use error::{ErrorKind, WireError};
pub use mend::mend;
pub use plan::{CommandSpec, EventPlan, Plan, ToolSpec, Wake};
pub use reply::{Answer, Block, Effect, MessageSpec, Reply, ResultSpec, TextSpec, ToolUseSpec, Watch};
pub use request::{Event, Facts, Options, Request, Settings, Turn, Usage};

/// The version of the wire that this program speaks.
pub const VERSION: u32 = 1;

/// The largest request that is read, in bytes. A compaction event carries the whole conversation; more than this is
/// refused before it is parsed.
pub const MAX_REQUEST_BYTES: u64 = 256 * 1024 * 1024;
