//! `/compact prune`: long tool outputs are cut to their head and a note that says how to get them back; every word of
//! the person and of the model stays.
//!
//! [`run`] answers the event, [`preview()`] says what it would do; both make the same plan. Nothing here writes.

mod arguments;
mod backward;
mod budget;
mod cut;
mod estimate;
mod event;
mod fit;
mod handback;
mod html;
mod line;
mod options;
mod origin;
mod picture;
mod plan;
mod preview;
mod protect;
mod report;
mod rows;
mod seqs;
mod shell;
mod supersede;
mod text;
mod thread;
mod transcript;
mod words;

use std::path::Path;
use std::time::Duration;

pub use budget::limit;
pub use cut::{grouped, is_cut};
pub use estimate::Calibration;
pub use event::{CompactEvent, Entry, Role, ToolResult, ToolUse};
pub use handback::HandBack;
pub use html::page as html_page;
pub use options::{Keep, PruneOptions, SLACK_CHARS, ToolOptions};
pub use picture::{Fate, Picture, Room};
pub use plan::{Change, Item, Part, Plan, PlanContext, Reason};
pub use preview::{cut_line, lines, short, skip_line};
pub use protect::Why;
pub use report::{
    CutFigures, Kept, Material, ProtectedFigures, Report, Share, Target, ToolFigures, Verdict, message_chars,
};
pub use rows::{Branch, Insert, InsertKind, Media, Provenance, Row, RowFacts, UsagePoint, frame};
pub use seqs::Seqs;
pub use supersede::Stale;
pub use text::Text;
pub use thread::{Call, LeftOut, Message, OPENING, Restored, Thread, Words};
pub use transcript::{Head, ReadRows, Rows, RowsError};
pub use words::{Asked, asked, target as parse_target, tokens as parse_tokens};

use crate::history::record::HandedBack;
use crate::wire::MessageSpec;

/// How long a cut waits for the newest row to be written.
const WAIT: Duration = Duration::from_secs(2);

/// What a cut is made from.
#[derive(Clone, Copy)]
pub struct PruneInput<'a> {
    /// The event's messages.
    pub entries: &'a [Entry<'a>],
    /// The transcript, as the client named it. Without one nothing is cut.
    pub transcript: Option<&'a Path>,
    /// The settings.
    pub options: &'a PruneOptions,
    /// The session's folder.
    pub cwd: Option<&'a str>,
    /// The context's fill in tokens, as the client gives it.
    pub tokens: Option<u64>,
    /// Tokens to come down to, for `/compact prune 120k`.
    pub target: Option<u64>,
    /// The address in history of a call with this id, where it is known.
    pub seq: &'a dyn Fn(&str) -> Option<u64>,
}

/// What comes of a cut.
#[derive(Debug, Clone, PartialEq)]
pub enum PruneOutcome {
    /// The conversation becomes these messages.
    Answer {
        /// For the client.
        messages: Vec<MessageSpec>,
        /// What was done.
        report: Box<Report>,
        /// The rows behind each message, for history.
        record: Vec<HandedBack>,
    },
    /// Nothing is changed.
    Skip {
        /// One line for the person, with the figures where there are any.
        reason: String,
        /// What would have been done; absent where nothing could be planned.
        report: Option<Box<Report>>,
    },
}

/// A conversation with its plan.
struct Planned {
    branch: Branch,
    thread: Thread,
    plan: Plan,
    report: Report,
    calibration: Calibration,
    picture: Option<Picture>,
}

/// Cuts the conversation of a `session.compact` event.
pub fn run(input: &PruneInput<'_>) -> PruneOutcome {
    let Some(path) = input.transcript else {
        return skip(
            "nothing was cut: the transcript's path is not known yet, and without its rows prompts would be lost",
        );
    };
    let handles: Vec<&str> = input
        .entries
        .iter()
        .filter_map(|entry| Some(entry.handle.as_ref()?.as_str()))
        .collect();
    let Some(head) = handles.last() else {
        return skip("nothing was cut: the conversation is empty, or names no rows of the transcript");
    };
    let rows = ReadRows {
        path,
        head: Head::Row(head),
        handles: &handles,
        entries: false,
        wait: WAIT,
    };
    match rows.read() {
        Ok(rows) => {
            let mut branch = Branch::new(&rows.window, input.entries);
            branch.older = rows.older;
            run_with(input, branch)
        }
        Err(error) => skip(&format!("nothing was cut: {error}")),
    }
}

/// As [`run`], with the rows at hand.
pub fn run_with(input: &PruneInput<'_>, branch: Branch) -> PruneOutcome {
    let planned = plan(input, branch, false);
    if planned.report.verdict != Verdict::Cut {
        return PruneOutcome::Skip {
            reason: skip_line(&planned.report),
            report: Some(Box::new(planned.report)),
        };
    }
    let back = HandBack::new(input.entries, &planned.branch, &planned.thread, &planned.plan);
    PruneOutcome::Answer {
        messages: back.messages,
        report: Box::new(planned.report),
        record: back.record,
    }
}

/// What a preview is made from: the transcript alone.
#[derive(Clone, Copy)]
pub struct PreviewInput<'a> {
    /// The transcript.
    pub transcript: &'a Path,
    /// The uuid of the row the conversation ends at; absent: the last row of the main conversation.
    pub head: Option<&'a str>,
    /// The settings.
    pub options: &'a PruneOptions,
    /// The session's folder.
    pub cwd: Option<&'a str>,
    /// The context's fill in tokens, as the client gives it.
    pub tokens: Option<u64>,
    /// Tokens to come down to.
    pub target: Option<u64>,
    /// The address in history of a call with this id, where it is known.
    pub seq: &'a dyn Fn(&str) -> Option<u64>,
}

/// Says what [`run`] would do at this end of the transcript. Changes nothing.
///
/// # Errors
/// When the transcript cannot be read, or holds no such conversation.
pub fn preview(input: &PreviewInput<'_>) -> Result<Report, RowsError> {
    Ok(examine(input, false)?.report)
}

/// As [`preview()`], with what a picture is drawn from.
///
/// # Errors
/// As [`preview()`].
pub fn preview_with_picture(input: &PreviewInput<'_>) -> Result<(Report, Picture), RowsError> {
    let planned = examine(input, true)?;
    Ok((planned.report, planned.picture.unwrap_or_default()))
}

/// As [`preview()`], with what tokens cost in this conversation.
///
/// # Errors
/// As [`preview()`].
pub fn preview_with_calibration(input: &PreviewInput<'_>) -> Result<(Report, Calibration), RowsError> {
    let planned = examine(input, false)?;
    Ok((planned.report, planned.calibration))
}

fn examine(input: &PreviewInput<'_>, with_picture: bool) -> Result<Planned, RowsError> {
    let mut rows = ReadRows {
        path: input.transcript,
        head: input.head.map_or(Head::Last, Head::Row),
        handles: &[],
        entries: true,
        wait: if input.head.is_some() { WAIT } else { Duration::ZERO },
    }
    .read()?;
    let entries: Vec<Entry<'static>> = rows.window.iter_mut().filter_map(|row| row.entry.take()).collect();
    let mut branch = Branch::new(&rows.window, &entries);
    branch.older = rows.older;
    let input = PruneInput {
        entries: &entries,
        transcript: Some(input.transcript),
        options: input.options,
        cwd: input.cwd,
        tokens: input.tokens,
        target: input.target,
        seq: input.seq,
    };
    Ok(plan(&input, branch, with_picture))
}

fn plan(input: &PruneInput<'_>, branch: Branch, with_picture: bool) -> Planned {
    let mut thread = Thread::new(input.entries, &branch);
    let context = PlanContext {
        options: input.options,
        cwd: input.cwd,
        seq: input.seq,
    };
    let mut plan = Plan::new(input.entries, &thread, &context);
    let chars = thread
        .messages
        .iter()
        .map(|message| message_chars(input.entries, &thread, message))
        .sum();
    let calibration = Calibration::new(&branch, input.tokens, chars);
    if let Some(target) = input.target {
        limit(&mut plan, &thread, &calibration, target);
    }
    fit::fit(&mut plan, &mut thread, fit::MAX_ANSWER_BYTES);
    let material = Material {
        entries: input.entries,
        branch: &branch,
        thread: &thread,
        plan: &plan,
        context: &context,
        calibration: &calibration,
        target: input.target,
    };
    let report = Report::new(&material);
    let picture = with_picture.then(|| Picture::new(&material));
    Planned {
        branch,
        thread,
        plan,
        report,
        calibration,
        picture,
    }
}

fn skip(reason: &str) -> PruneOutcome {
    PruneOutcome::Skip {
        reason: reason.to_owned(),
        report: None,
    }
}
