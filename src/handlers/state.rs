//! What the helper remembers of a session between two events. The courier keeps it in the client's `$.state` without
//! looking at it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::window::machine;

/// The state of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The window's state machine.
    pub machine: machine::State,
    /// How many turns were completed when the ladder last cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ladder: Option<u64>,
    /// Agents that ran in the background when a turn last ended, by description.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// What stands in the transcript was read for the event at hand.
    #[serde(skip)]
    pub is_reconciled: bool,
}

impl SessionState {
    /// The state as the courier sent it; a new one when there is none, or one that this program cannot read.
    pub fn parse(raw: Option<&RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }
}
