//! What reaches a person's machine: the embedded plugin, where it is written, and the client it is given to.

pub mod client;
pub mod embedded;
mod error;
pub mod install;
pub mod store;
pub mod uninstall;

pub use error::PackageError;

/// Name of the plugin and of the local marketplace that carries it.
pub const NAME: &str = "notesoup";

/// The plugin as the client names it: `<plugin>@<marketplace>`.
pub const PLUGIN_ID: &str = "notesoup@notesoup";

/// Version of the program and of the plugin embedded in it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
