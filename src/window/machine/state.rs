//! What the machine remembers between two events: small, versioned, and of no use to anybody else.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::window::ordinal::WindowId;
use crate::window::reset_point::Marks;

/// The version of [`State`]; one of another version is taken for none.
pub const STATE_VERSION: u32 = 1;

/// The machine's memory. Goes through the courier as opaque JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// [`STATE_VERSION`].
    pub v: u32,
    /// The window that stands; none before a session is bound.
    pub window: Option<Window>,
    /// The reset that is asked for and not done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The compaction that is on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flight: Option<Flight>,
    /// The paragraph of the forced-reset pool for the window that the next reset makes: chosen once, kept on retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<usize>,
    /// The marks as last derived; events that come without usage go by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
    /// Completed turns when the last reset of ours stood; none when there was none in this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_reset: Option<u64>,
    /// True: the client refused `$.session.compact()` here, so resets go by the command.
    pub by_command: bool,
    /// True: the client refused both ways, so no reset of ours can follow.
    pub refused: bool,
    /// Numbers the effects, so that each has an id of its own.
    pub counter: u64,
    /// True: a compaction was counted when its call resolved, so the event that tells of it must not count again.
    pub settled_ahead: bool,
    /// True: the last try was vetoed or interrupted, and no turn has passed since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rests: bool,
    /// Lines that were said once in this session.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub said: BTreeSet<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            v: STATE_VERSION,
            window: None,
            pending: None,
            flight: None,
            choice: None,
            marks: None,
            last_reset: None,
            by_command: false,
            refused: false,
            counter: 0,
            settled_ahead: false,
            rests: false,
            said: BTreeSet::new(),
        }
    }
}

impl State {
    /// The state that a request carried. Absent, malformed or of another version: a new one, so that an update of the
    /// plugin in the middle of a session costs a flag and never the session.
    pub fn read(raw: Option<&str>) -> Self {
        raw.and_then(|raw| serde_json::from_str::<Self>(raw).ok())
            .filter(|state| state.v == STATE_VERSION)
            .unwrap_or_default()
    }

    /// The state as it goes back to the courier.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Whether the window of this session is not known here, so that [`super::Input::SessionBound`] (with
    /// [`super::BoundBy::Lazy`]) should come before the event at hand.
    pub fn needs_binding(&self, session_id: Option<&str>) -> bool {
        match (&self.window, session_id) {
            (Some(window), Some(session_id)) => window.id.session_id != session_id,
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }

    /// The flight, unless what it asked for stands already.
    pub(super) fn live_flight(&self) -> Option<&Flight> {
        self.flight.as_ref().filter(|flight| !flight.stood)
    }
}

/// The window that stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Its id.
    pub id: WindowId,
    /// True: its boot could not be delivered, and is tried again with the next prompt.
    #[serde(default)]
    pub boot_missing: bool,
    /// True: the model has the warning of this window.
    #[serde(default)]
    pub warned: bool,
    /// True: the model was asked to close out in this window.
    #[serde(default)]
    pub closed_out: bool,
    /// The paragraph that follows its boot, when a reset of ours made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paragraph: Option<usize>,
    /// True: a reset of ours made it, and no figure of it is known yet.
    #[serde(default)]
    pub awaits_first_fill: bool,
    /// True: it was made while a turn ran, so that its boot stands behind the turn's prompt and goes when that is taken
    /// back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made_in_turn: bool,
    /// Its first figure, when a reset of ours made it, in the marks' unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_fill: Option<f64>,
    /// Lines that were said once in this window.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub said: BTreeSet<String>,
}

impl Window {
    /// A window in which nothing has happened yet.
    pub fn new(id: WindowId) -> Self {
        Self {
            id,
            boot_missing: false,
            warned: false,
            closed_out: false,
            paragraph: None,
            awaits_first_fill: false,
            made_in_turn: false,
            first_fill: None,
            said: BTreeSet::new(),
        }
    }
}

/// Who wants a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requester {
    /// The reset mark.
    Mark,
    /// A person, by `/fresh-window`.
    Person,
    /// The model, by its tool.
    Model,
}

/// How far a request has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// A close-out turn was asked for and has not begun.
    Submitted {
        /// The effect that asked for it.
        effect: String,
        /// True: the client took the prompt.
        accepted: bool,
    },
    /// The close-out turn runs.
    CloseOutTurn {
        /// Its id.
        turn: Option<String>,
    },
    /// Waits for the end of a turn, where the close-out comes first.
    AtStop {
        /// True: a turn ended without a close-out, so the next end of a turn does not wait for one.
        waited: bool,
    },
    /// Was tried; is tried again at the end of the next turn.
    Owed,
}

/// A reset that is asked for and not done yet. At most one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Who wants it.
    pub by: Requester,
    /// How far it has come.
    #[serde(flatten)]
    pub phase: Phase,
    /// True: this request gave the window its close-out; when the request is dropped, the next may give one again.
    #[serde(default)]
    pub gave_close_out: bool,
}

/// How a compaction on its way was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "way")]
pub enum Way {
    /// Ours, by `$.session.compact()`.
    Call,
    /// Ours, by `/compact notesoup-reset <nonce>`.
    Command {
        /// The nonce by which it is recognised.
        nonce: String,
    },
    /// The client's own, which we answered with a reset.
    Native,
}

/// A compaction on its way: set when it is decided, before anything is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// The effect's id; empty for the client's own.
    pub id: String,
    /// How it was started.
    #[serde(flatten)]
    pub way: Way,
    /// The turn at whose end it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// True: our hook answered it with a reset.
    #[serde(default)]
    pub answered: bool,
    /// True: a compaction stands since it was decided; only the effect's outcome is awaited.
    #[serde(default)]
    pub stood: bool,
    /// True: what stands is our reset.
    #[serde(default)]
    pub ours: bool,
    /// True: the module was loaded again meanwhile, so its outcome may never come.
    #[serde(default)]
    pub orphaned: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_back_as_it_was_written() {
        let state = State {
            window: Some(Window::new(WindowId::new("s", 2))),
            pending: Some(Pending {
                by: Requester::Person,
                phase: Phase::AtStop { waited: true },
                gave_close_out: true,
            }),
            flight: Some(Flight {
                id: "reset-1".to_owned(),
                way: Way::Command { nonce: "n".to_owned() },
                turn: Some("t".to_owned()),
                answered: true,
                stood: false,
                ours: false,
                orphaned: false,
            }),
            choice: Some(3),
            ..State::default()
        };
        let raw = state.to_value().to_string();
        assert_eq!(State::read(Some(&raw)), state);
        assert!(raw.len() < 1024, "{raw}");
    }

    #[test]
    fn no_state_and_one_that_cannot_be_read_are_a_new_one() {
        for raw in [
            None,
            Some(""),
            Some("null"),
            Some("[]"),
            Some("{\"v\":2}"),
            Some("{\"v\":1,\"window\":7}"),
            Some("{"),
        ] {
            assert_eq!(State::read(raw), State::default(), "{raw:?}");
        }
        assert_eq!(State::read(Some("{\"v\":1,\"unknown\":true}")), State::default());
    }

    #[test]
    fn another_session_needs_binding() {
        let mut state = State::default();
        assert!(state.needs_binding(Some("s")));
        assert!(!state.needs_binding(None));
        state.window = Some(Window::new(WindowId::new("s", 0)));
        assert!(!state.needs_binding(Some("s")));
        assert!(state.needs_binding(Some("t")));
    }
}
