//! A recorded conversation once more through the table: what would have been warned, reset and cut, and when.
//!
//! Nothing is written but a transcript in a temporary folder, which stands for the one that the client would have
//! written. How a window would have filled is computed: it grows by what the recorded one grew, from where the replay's
//! own compactions have brought it.

mod paper;
mod stage;
mod story;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::config::Config;
use crate::handlers::World;
use crate::history::{Conversation, Head, HistoryError};
use crate::window::Marks;
use crate::wire::{Event, Facts};

use stage::Stage;
use story::{Beat, What};

/// The window of a model that was never seen to hold more, in tokens.
const SMALL_WINDOW: u64 = 200_000;
/// The window of a model that was, in tokens.
const LARGE_WINDOW: u64 = 1_000_000;

/// What a replay is made from.
#[derive(Clone, Copy)]
pub struct ReplayInput<'a> {
    /// The transcript.
    pub transcript: &'a Path,
    /// The uuid of the row the conversation ends at; absent: the last row of the main conversation.
    pub head: Option<&'a str>,
    /// The model's window in tokens; absent: taken from how much the conversation has held.
    pub window: Option<u64>,
    /// The world whose settings count. Of its files none is written.
    pub world: &'a World,
    /// What the courier would tell of the session beside the transcript: folder, plugin, settings.
    pub facts: &'a Facts,
    /// The merged config of the same.
    pub config: &'a Config,
}

/// Why a conversation cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The transcript cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The conversation never reached the model.
    #[error("the transcript {path} holds no response of the model, so there is nothing to replay")]
    NoResponse {
        /// The transcript.
        path: PathBuf,
    },
    /// The temporary transcript cannot be kept.
    #[error("the replay's own files cannot be written in {folder}: {source}")]
    Write {
        /// The folder of temporary files.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replay {
    /// The transcript.
    pub transcript: PathBuf,
    /// The session.
    pub session_id: String,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's window, in tokens.
    pub window: u64,
    /// True: taken from how much the conversation has held.
    pub window_is_assumed: bool,
    /// The profile.
    pub profile: String,
    /// The marks; none where nothing can be reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
    /// Prompts that were answered.
    pub turns: u64,
    /// Windows of the recorded conversation.
    pub windows_recorded: usize,
    /// Windows under this table.
    pub windows_replayed: usize,
    /// Input tokens of all requests as recorded.
    pub input_recorded: u64,
    /// The same under this table.
    pub input_replayed: u64,
    /// What happened, in order.
    pub moments: Vec<Moment>,
    /// The live rows of the events that were replayed, in the order of the table.
    pub rows: Vec<RowCount>,
    /// How the window filled, response by response.
    pub fill: Vec<Point>,
    /// What the reader should know of how this came about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// How full the window was when the model responded, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    /// As recorded.
    pub recorded: u64,
    /// Under this table.
    pub replayed: u64,
}

/// Something that would have happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moment {
    /// What.
    pub what: Happened,
    /// The event.
    pub event: &'static str,
    /// The row that decided it; none for the client's own doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The turn it happened in or after, counted from 1.
    pub turn: u64,
    /// Responses so far.
    pub response: usize,
    /// The address in history of the row before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When the row before it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Tokens in the window.
    pub tokens: u64,
    /// Tokens behind it, boot included, where it is a compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// What `/compact prune` would have brought the window to there, where something else was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_would_leave: Option<u64>,
    /// The line that the person would have seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// Kinds of moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// The model is told that a reset comes.
    Warning,
    /// The model saves its notes before a reset.
    CloseOut,
    /// A fresh window.
    Reset,
    /// Tool output is cut.
    Cut,
    /// The client's own summary.
    Summary,
    /// A compaction is refused.
    Refused,
    /// A line to the person.
    Note,
}

/// What a live row did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowCount {
    /// The row.
    pub id: String,
    /// Its event.
    pub event: &'static str,
    /// Its handler.
    pub run: String,
    /// How often the event came.
    pub came: usize,
    /// How often the row's conditions held and its handler was asked.
    pub asked: usize,
    /// How often it answered or set something going.
    pub did: usize,
}

/// Takes the conversation through the table. `progress` is told how much is done, and of how much.
///
/// # Errors
/// When the transcript cannot be read, or there is no room for the replay's own files.
pub fn replay(input: &ReplayInput<'_>, progress: &mut dyn FnMut(u64, u64)) -> Result<Replay, ReplayError> {
    let head = input.head.map_or(Head::AssumeLast, Head::Uuid);
    let state_dir = input.world.state_dir.as_deref();
    let conversation = Conversation::open(input.transcript, head, state_dir, Duration::ZERO)?;
    let bytes = std::fs::metadata(input.transcript).map_or(0, |metadata| metadata.len());
    let mut read = 0;
    let beats = story::beats(&conversation, &mut |size| {
        read += size;
        progress(read.min(bytes), bytes.saturating_mul(2));
    })?;
    let most = beats.iter().filter_map(Beat::tokens).max();
    let most = most.ok_or_else(|| ReplayError::NoResponse {
        path: input.transcript.to_owned(),
    })?;
    let window = input.window.unwrap_or(if most > SMALL_WINDOW {
        LARGE_WINDOW
    } else {
        SMALL_WINDOW
    });
    let mut stage = Stage::new(input, &conversation, window).map_err(failed)?;
    stage.begin(&beats).map_err(failed)?;
    let whole = beats.len().max(1) as u64;
    for (at, beat) in (1..).zip(&beats) {
        let raw = conversation.transcript().raw(beat.row)?;
        stage.play(beat, &raw).map_err(failed)?;
        progress(bytes + bytes * at / whole, bytes.saturating_mul(2));
    }
    stage.end(input.head.is_some(), most).map_err(failed)
}

fn failed(source: io::Error) -> ReplayError {
    ReplayError::Write {
        folder: std::env::temp_dir(),
        source,
    }
}

impl Beat {
    fn tokens(&self) -> Option<u64> {
        match self.what {
            What::Response { tokens, .. } => tokens,
            _ => None,
        }
    }
}

/// The events that a transcript tells of; commands and calls of our own tools are not among them.
const REPLAYED: &[Event] = &[
    Event::ClassicSessionStart,
    Event::ClassicUserPromptSubmit,
    Event::TurnStart,
    Event::ClassicPostToolBatch,
    Event::ClassicStop,
    Event::TurnComplete,
    Event::SessionMeasure,
    Event::SessionCompact,
    Event::EffectSettled,
];

/// The live rows of those events.
fn rows(config: &Config) -> Vec<RowCount> {
    let mut rows = Vec::new();
    for event in REPLAYED {
        let live = config
            .hooks
            .iter()
            .filter(|(_, row)| row.enabled && row.event == event.name());
        let by_order: BTreeMap<_, _> = live.map(|(id, row)| ((row.order, id), row)).collect();
        rows.extend(by_order.into_iter().map(|((_, id), row)| RowCount {
            id: id.clone(),
            event: event.name(),
            run: row.run.clone(),
            came: 0,
            asked: 0,
            did: 0,
        }));
    }
    rows
}
