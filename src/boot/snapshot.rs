//! What a boot is rendered from: everything is in it, so that rendering looks at no clock and no disk.

use jiff::Timestamp;

/// The snapshot of one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The agent's slug, e.g. `claude`.
    pub agent: String,
    /// The model's slug.
    pub model: String,
    /// This window's id: `claude:<sessionId>:<ordinal>`.
    pub window_id: String,
    /// The id of the window before this one, in the same session.
    pub previous_window_id: Option<String>,
    /// Whether the history tools can answer.
    pub has_history: bool,
    /// What the model is to do when a fresh window would help.
    pub wipe: Wipe,
    /// One shelf a home, in the order in which they are shown.
    pub shelves: Vec<Shelf>,
    /// The newest checkpoint of the conversation.
    pub checkpoint: Option<Checkpoint>,
    /// Agents that still run, by description.
    pub agents: Vec<String>,
    /// Our skills by name.
    pub skills: Vec<String>,
    /// When the snapshot was taken.
    pub now: Timestamp,
}

/// What the model is to do when a fresh window would help.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wipe {
    /// End the turn and ask the human to run `/fresh-window`.
    #[default]
    AskTheHuman,
    /// Call the tool `fresh_window`.
    CallTheTool,
    /// Nothing: compaction is switched off in this session.
    Disabled,
}

/// A home as the boot shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shelf {
    /// The home's name, e.g. `project`.
    pub home: String,
    /// The prefix of its addresses, e.g. `@project/`; empty for the session's home.
    pub address: String,
    /// The body of its `MAP.md`.
    pub map: Option<String>,
    /// Its freshest notes, newest first.
    pub freshest: Vec<NoteLine>,
    /// How many live notes it has in all.
    pub count: usize,
    /// Why it, or something in it, cannot be read.
    pub unavailable: Option<String>,
}

/// A note by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    /// Its title.
    pub title: String,
    /// Its address.
    pub address: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A checkpoint with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its address.
    pub address: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Its body.
    pub body: String,
}
