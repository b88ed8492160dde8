//! What is wrong with a layer, everything at once: keys, types and ranges by the schema of the types, and what a schema
//! cannot say (handlers serve their events, patterns compile, texts use known placeholders, orders are unique).

mod layer;
mod row;
pub mod shape;
mod text;
mod whole;

use serde_json::{Map, Value};

use crate::wire::Event;

pub(super) use layer::alone;
pub(super) use whole::{of_merge, together};

/// Handlers that start programs: only the person's own `hooks.toml` may name them.
pub const PERSON_ONLY: &[&str] = &["exec"];

/// What the table may name in `run`. The handlers give it, so that the config need not know them.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    /// The handlers.
    pub handlers: &'a [HandlerInfo],
}

/// A handler, as far as a row's check needs it.
#[derive(Debug, Clone, Copy)]
pub struct HandlerInfo {
    /// Its name in `run`.
    pub name: &'static str,
    /// The events it serves.
    pub events: &'static [Event],
    /// Says what is wrong with a row's `options`.
    pub check_options: fn(&Map<String, Value>) -> Result<(), String>,
}

impl Catalog<'_> {
    /// The handler of this name.
    pub fn find(&self, name: &str) -> Option<&HandlerInfo> {
        self.handlers.iter().find(|handler| handler.name == name)
    }
}
