//! For tests of handlers: a session of one person, taken through the whole table.

use std::fs;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{World, dispatch};
use crate::wire::{Event, Facts, Reply, Request, VERSION};

/// A session in a folder of its own, in a window of a million tokens that the client compacts at 967,000.
pub(super) struct Bench {
    folder: tempfile::TempDir,
    state: Option<Value>,
    /// Whether nobody looks at a screen.
    pub headless: bool,
}

impl Bench {
    /// With this table of the person's.
    pub fn new(table: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hooks.toml"), table).unwrap();
        Self {
            folder,
            state: None,
            headless: false,
        }
    }

    /// What an event is answered with, while the window holds this many tokens.
    pub fn ask(&mut self, event: Event, input: &Value, tokens: Option<u64>) -> Reply {
        let usage = json!({
            "tokens": tokens,
            "window": 1_000_000,
            "percent": tokens.map(|tokens| tokens / 10_000),
            "breakdown": { "rawMaxTokens": 1_000_000, "autoCompactThreshold": 967_000, "isAutoCompactEnabled": true },
        });
        let facts = Facts {
            session_id: Some("s".to_owned()),
            cwd: Some(self.folder.path().display().to_string()),
            usage: Some(serde_json::from_value(usage).unwrap()),
            headless: self.headless,
            ..Facts::default()
        };
        let raw = |value: &Value| RawValue::from_string(value.to_string()).unwrap();
        let (input, state) = (raw(input), self.state.as_ref().map(raw));
        let request = Request {
            v: VERSION,
            event: event.name().into(),
            e: Some(&input),
            facts,
            state: state.as_deref(),
        };
        let mut world = World::alone_in(self.folder.path());
        world.user_file = Some(self.folder.path().join("hooks.toml"));
        let reply = dispatch(&request, &mut world).unwrap();
        if reply.state.is_some() {
            self.state.clone_from(&reply.state);
        }
        reply
    }
}
