//! Notes that outlive a context window, the old conversation at hand, and a compaction that keeps its word, for
//! Claude Code.
//!
//! Every event of the client goes through a table (`hooks.toml`) to a handler: a pure function from event, facts,
//! state and config to an answer, effects and a new state. See `ARCHITECTURE.md` for the drawing.

#[cfg(not(unix))]
compile_error!("notesoup runs on Linux and macOS; on Windows, build it in WSL");

pub mod boot;
pub mod cli;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod dream;
pub mod handlers;
pub mod outcome;
pub mod package;
pub mod paths;
pub mod prune;
pub mod replay;
pub mod schema;
pub mod texts;
pub mod wire;

pub mod history;
pub mod notes;
pub mod window;
