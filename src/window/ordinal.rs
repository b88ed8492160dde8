//! Which window this is: `claude:<sessionId>:<ordinal>`.
//!
//! The first window of a session is `:0`; every compaction of the main conversation that stands (prunes and native
//! ones included) makes the next. What stands is read from the transcript whenever it can be: a person may resume, or
//! rewind past a reset, and a number that was only counted up would then be wrong.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a window's id begins with.
const HOST: &str = "claude";

/// How the first line of a boot begins; nothing else of ours contains it.
pub const MARKER_OPENING: &str = "<notesoup window=\"";

/// The id of a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WindowId {
    /// The client's session.
    pub session_id: String,
    /// How many compactions of the main conversation stand before it.
    pub ordinal: u32,
}

impl WindowId {
    /// The id of this window of this session.
    pub fn new(session_id: impl Into<String>, ordinal: u32) -> Self {
        Self {
            session_id: session_id.into(),
            ordinal,
        }
    }

    /// The window before this one in the same session; none for the first.
    pub fn previous(&self) -> Option<Self> {
        Some(Self::new(self.session_id.clone(), self.ordinal.checked_sub(1)?))
    }

    /// The line that a boot of this window begins with: `<notesoup window="claude:<sessionId>:<ordinal>">`.
    pub fn marker_line(&self) -> String {
        format!("{MARKER_OPENING}{self}\">")
    }

    /// The window that a text names with its boot's first line, wherever in the text that line is; the last one where
    /// several are. None when there is none, or when the line names no window.
    pub fn from_marker(text: &str) -> Option<Self> {
        text.rmatch_indices(MARKER_OPENING).find_map(|(at, _)| {
            let rest = &text[at + MARKER_OPENING.len()..];
            let (id, _) = rest.split_once("\">")?;
            id.parse().ok()
        })
    }
}

impl fmt::Display for WindowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HOST}:{}:{}", self.session_id, self.ordinal)
    }
}

/// A text that is no window id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no window id; one reads `claude:<session id>:<number>`")]
pub struct WindowIdError(String);

impl FromStr for WindowId {
    type Err = WindowIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let rest = text.strip_prefix(HOST)?.strip_prefix(':')?;
            let (session_id, ordinal) = rest.rsplit_once(':')?;
            let plain = !session_id.is_empty()
                && !session_id.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"');
            let digits = ordinal.bytes().all(|byte| byte.is_ascii_digit());
            let canonical = ordinal == "0" || !ordinal.starts_with('0');
            (plain && digits && canonical).then_some(Self::new(session_id, ordinal.parse().ok()?))
        };
        parse().ok_or_else(|| WindowIdError(text.to_owned()))
    }
}

impl TryFrom<String> for WindowId {
    type Error = WindowIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WindowId> for String {
    fn from(id: WindowId) -> Self {
        id.to_string()
    }
}

/// What stands in the transcript, as plain figures: the input of restoring.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Compaction boundaries on the selected branch.
    pub boundaries: u32,
    /// The newest boot marker on the branch, as `claude:<sessionId>:<ordinal>` or as a text that contains its line.
    pub marker: Option<String>,
    /// Whether that marker stands behind the last boundary, so that the model still sees its boot.
    pub marker_is_live: bool,
    /// The largest ordinal that the whole file speaks of (boundaries or markers, on any branch); 0 when it speaks of
    /// none.
    pub highest_in_file: u32,
    /// Whether a row of the window that stands carries the warning's tag.
    pub warned: bool,
    /// Whether a row of the window that stands carries the close-out's tag.
    pub closed_out: bool,
}

impl Standing {
    /// The window id that the marker names.
    pub fn marker_id(&self) -> Option<WindowId> {
        let text = self.marker.as_deref()?;
        text.trim().parse().ok().or_else(|| WindowId::from_marker(text))
    }

    /// The ordinal of the window that stands: the larger of the newest marker's and the number of boundaries.
    ///
    /// A marker of another session counts, too: a branched conversation brings the windows of the one it came from
    /// along.
    pub fn ordinal(&self) -> u32 {
        let marker = self.marker_id().map_or(0, |id| id.ordinal);
        self.boundaries.max(marker)
    }

    /// Whether the model sees a boot of exactly this window.
    pub fn has_boot_of(&self, id: &WindowId) -> bool {
        self.marker_is_live && self.marker_id().as_ref() == Some(id)
    }

    /// Whether the window with this ordinal was left by a rewind: the file knows it, the branch does not.
    pub fn is_rewound_from(&self, ordinal: u32) -> bool {
        self.ordinal() < ordinal && self.highest_in_file >= ordinal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = WindowId::new("2a9f247e-72e8", 12);
        assert_eq!(id.to_string(), "claude:2a9f247e-72e8:12");
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_eq!(
            serde_json::from_str::<WindowId>(&serde_json::to_string(&id).unwrap()).unwrap(),
            id
        );
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "claude",
            "claude:",
            "claude:s",
            "claude::0",
            "claude:s:",
            "claude:s:-1",
            "claude:s:+1",
            "claude:s:1.5",
            "claude:s:01",
            "claude:s:99999999999",
            "pi:s:0",
            "claude:a b:0",
            "claude:a\":0",
        ] {
            assert!(text.parse::<WindowId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_boot_names_its_window_in_the_first_line() {
        let id = WindowId::new("s", 3);
        assert_eq!(id.marker_line(), "<notesoup window=\"claude:s:3\">");
        let boot = format!("SessionStart hook says:\n{}\ntext\n</notesoup>\n", id.marker_line());
        assert_eq!(WindowId::from_marker(&boot), Some(id.clone()));
        let two = format!("{}\n{boot}", WindowId::new("s", 2).marker_line());
        assert_eq!(WindowId::from_marker(&two), Some(id));
        assert_eq!(WindowId::from_marker("<notesoup window=\"claude:"), None);
    }

    #[test]
    fn the_larger_of_marker_and_boundaries_stands() {
        let standing = |boundaries, marker: &str| Standing {
            boundaries,
            marker: (!marker.is_empty()).then(|| marker.to_owned()),
            ..Standing::default()
        };
        assert_eq!(standing(0, "").ordinal(), 0);
        assert_eq!(standing(2, "claude:s:1").ordinal(), 2);
        assert_eq!(standing(1, "claude:s:4").ordinal(), 4);
        assert_eq!(standing(1, "<notesoup window=\"claude:s:4\">\nboot").ordinal(), 4);
        assert_eq!(standing(1, "nonsense").ordinal(), 1);
        assert_eq!(standing(0, "claude:other:2").ordinal(), 2);
    }

    #[test]
    fn a_boot_stands_only_for_its_own_window_and_session() {
        let id = WindowId::new("s", 1);
        let mut standing = Standing {
            boundaries: 1,
            marker: Some("claude:s:1".to_owned()),
            marker_is_live: true,
            ..Standing::default()
        };
        assert!(standing.has_boot_of(&id));
        assert!(!standing.has_boot_of(&WindowId::new("branched", 1)));
        standing.marker_is_live = false;
        assert!(!standing.has_boot_of(&id));
    }

    #[test]
    fn a_write_that_lags_is_no_rewind() {
        let lagging = Standing {
            boundaries: 1,
            highest_in_file: 1,
            ..Standing::default()
        };
        assert!(!lagging.is_rewound_from(2));
        let rewound = Standing {
            boundaries: 1,
            highest_in_file: 2,
            ..Standing::default()
        };
        assert!(rewound.is_rewound_from(2));
        assert!(!rewound.is_rewound_from(1));
    }

    #[test]
    fn the_window_before_the_first_is_none() {
        assert_eq!(WindowId::new("s", 0).previous(), None);
        assert_eq!(WindowId::new("s", 5).previous(), Some(WindowId::new("s", 4)));
    }
}
