//! Which messages belong to the turn that runs, and which of them are prompts.

use super::{Branch, Entry, InsertKind, Provenance, Role, is_ours};
use crate::prune::Media;

/// The turn that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The index of its first entry; the number of entries when none runs.
    pub start: usize,
    /// What set it off and what was asked since, oldest first.
    pub prompts: Vec<Prompt>,
    /// What belongs to them: readings of `@` mentions, reports that came in, the text of a command, a note on what is
    /// lost.
    pub beside: Vec<String>,
}

impl OpenTurn {
    /// No turn runs.
    pub const fn none(entries: usize) -> Self {
        Self {
            start: entries,
            prompts: Vec::new(),
            beside: Vec::new(),
        }
    }
}

/// Something that goes back as a user's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// The text of the entry with this index, byte for byte.
    Entry(usize),
    /// A text that the event does not carry so: a prompt typed while the model worked, a report inside its frame.
    Text(String),
}

/// What stands at an interruption.
const INTERRUPTED: &str = "[Request interrupted by user";

/// How the client begins the rows of its own commands.
const COMMAND_ROWS: [&str; 2] = ["<local-command-", "<command-name>"];

/// Finds the turn that runs.
///
/// The client writes into the rows of prompts and results which prompt their turn began with; where a row does not say,
/// the turn begins with the last of the person's words that nothing of another turn follows.
pub fn open_turn(entries: &[Entry<'_>], branch: &Branch, session_id: &str) -> OpenTurn {
    let start = start(entries, branch, session_id);
    let (mut prompts, mut beside) = (Vec::new(), Vec::new());
    let mut has_worked = false;
    for index in start..=entries.len() {
        // What stands before the first entry belongs to the turn before.
        let inserts = branch
            .inserts
            .iter()
            .filter(|insert| insert.before == index && (index > start || start == entries.len()));
        for insert in inserts {
            let text = insert.text.clone();
            match insert.kind {
                _ if is_ours(&text) => {}
                InsertKind::QueuedPrompt => prompts.push(Prompt::Text(text)),
                // The calls that are handed on say that somebody works: without the report the model would wait for it.
                InsertKind::FileReading | InsertKind::Report => beside.push(text),
                // The text of the command or skill that set the turn off; what came in later is in the history.
                InsertKind::Frame if !has_worked && !prompts.is_empty() => beside.push(text),
                InsertKind::Frame => {}
            }
        }
        let Some(entry) = entries.get(index) else { break };
        has_worked |= entry.role == Role::Assistant;
        match is_prompt(index, entries, branch, session_id) {
            Some(true) => prompts.push(Prompt::Entry(index)),
            // A report that set the turn off, or came in since, keeps the frame that says whose it is.
            Some(false) => prompts.push(Prompt::Text(crate::prune::frame(
                entry.text.as_str(),
                Provenance::Notification,
            ))),
            None => {}
        }
        beside.extend(lost_media(entry, branch));
    }
    OpenTurn { start, prompts, beside }
}

fn start(entries: &[Entry<'_>], branch: &Branch, session_id: &str) -> usize {
    // Rows of commands have prompts of their own and are no part of a turn.
    let prompt = |index: usize| {
        let entry = &entries[index];
        let counts = !entry.tool_results.is_empty() || is_prompt(index, entries, branch, session_id).is_some();
        facts(entry, branch).filter(|_| counts)?.prompt
    };
    let is_words = |index: &usize| is_prompt(*index, entries, branch, session_id).is_some();
    // Words that stand together are one turn's: a reset in the middle of it handed several back.
    let together = |newest: usize| {
        let mut first = newest;
        while let Some(before) = first.checked_sub(1).filter(is_words) {
            first = before;
        }
        first
    };
    let last = (0..entries.len()).rev().find_map(prompt);
    if let Some(last) = last
        && let Some(first) = (0..entries.len()).find(|index| prompt(*index) == Some(last))
    {
        // A cut in the middle of the turn wrote its prompt again, and such a row does not say which turn it is of.
        let before = (0..first).rev().find(is_words).filter(|words| prompt(*words).is_none());
        return match before {
            Some(words) if !is_words(&first) => together(words),
            _ => first,
        };
    }
    (0..entries.len()).rev().find(is_words).map_or(entries.len(), together)
}

/// Whether an entry sets the model to work: `true` for a person's words, `false` for a report; none for anything else.
pub(super) fn is_prompt(index: usize, entries: &[Entry<'_>], branch: &Branch, session_id: &str) -> Option<bool> {
    let entry = entries.get(index)?;
    let text = entry.text.as_str();
    if entry.role != Role::User || !entry.tool_results.is_empty() || text.trim().is_empty() {
        return None;
    }
    let is_earlier_head = index == 0 && text.contains(&format!("claude:{session_id}:"));
    let is_command = COMMAND_ROWS.iter().any(|opening| text.starts_with(opening));
    if is_earlier_head || is_ours(text) || text.starts_with(INTERRUPTED) {
        return None;
    }
    match facts(entry, branch).map(|facts| facts.provenance) {
        // Without its row, a command's echo is known by its look alone.
        None if is_command => None,
        None | Some(Provenance::Person) => Some(true),
        Some(Provenance::Notification) => Some(false),
        Some(Provenance::Meta | Provenance::LocalCommand) => None,
    }
}

/// Pictures and documents of a prompt cannot be handed back; their place says so.
fn lost_media(entry: &Entry<'_>, branch: &Branch) -> Option<String> {
    if entry.role != Role::User || !entry.tool_results.is_empty() {
        return None;
    }
    let Media { images, documents, .. } = facts(entry, branch)?.media;
    let what = match (images, documents) {
        (0, 0) => return None,
        (_, 0) => "an image",
        (0, _) => "a document",
        (_, _) => "an image and a document",
    };
    Some(format!(
        "[notesoup: the prompt held {what}, which a reset cannot carry; ask for it again if it is needed.]"
    ))
}

fn facts<'a>(entry: &Entry<'_>, branch: &'a Branch) -> Option<&'a crate::prune::RowFacts> {
    branch.facts(entry.handle.as_ref()?.as_str())
}
