//! The transcript's rows as what happened: prompts, responses, results, compactions.

use std::collections::HashSet;

use serde::Deserialize;

use crate::history::{Block, Conversation, HistoryError, Kind, Row, RowId};

/// A row, and what it was.
#[derive(Debug)]
pub(super) struct Beat {
    /// The row.
    pub row: RowId,
    /// Its address in history.
    pub seq: Option<u64>,
    /// When it was written, RFC 3339.
    pub time: Option<String>,
    /// What it was.
    pub what: What,
}

/// What a row was.
#[derive(Debug, PartialEq)]
pub(super) enum What {
    /// Words of the person, or an event that reached the model as a prompt.
    Prompt,
    /// The person broke the turn off.
    Interrupted,
    /// A block of a response.
    Response {
        /// True: the response's first.
        first: bool,
        /// Input tokens of the request that it answers.
        tokens: Option<u64>,
        /// The model.
        model: Option<String>,
        /// The calls in it.
        calls: Vec<String>,
    },
    /// Results of calls.
    Results(Vec<String>),
    /// A compaction stood.
    Compacted(Compacted),
    /// Its summary, or a text of this program: the replay has its own.
    Replaced {
        /// Code points of a text of this program.
        chars: usize,
    },
    /// Anything else that belongs to the conversation.
    Beside,
}

/// What made a recorded compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Compacted {
    /// The client by itself.
    Auto,
    /// The person, with the text behind `/compact`.
    Typed(Option<String>),
    /// A plugin, this one or another.
    Plugin,
}

/// How many rows behind a boundary name the command that caused it.
const NEAR: usize = 64;

/// The rows of the conversation, oldest first. `each` is told how far it has come.
pub(super) fn beats(conversation: &Conversation, each: &mut dyn FnMut(u64)) -> Result<Vec<Beat>, HistoryError> {
    let mut beats = Vec::new();
    let mut commands = Vec::new();
    let mut story = Story {
        window_prefix: format!("claude:{}:", conversation.session_id()),
        ..Story::default()
    };
    for id in conversation.rows() {
        let row = conversation.transcript().row(id)?;
        each(row.bytes.end - row.bytes.start);
        if let Some(args) = compact_command(&row) {
            commands.push((beats.len(), args));
        }
        let Some(what) = story.of(&row) else { continue };
        beats.push(Beat {
            row: id,
            seq: conversation.transcript().seq_of(id),
            time: row.timestamp,
            what,
        });
    }
    name_the_commands(&mut beats, &commands);
    Ok(beats)
}

/// A compaction by hand is one that a command's row stands behind; others were a plugin's.
fn name_the_commands(beats: &mut [Beat], commands: &[(usize, String)]) {
    let boundaries: Vec<usize> = (0..beats.len())
        .filter(|at| matches!(beats[*at].what, What::Compacted(Compacted::Plugin)))
        .collect();
    for (place, at) in boundaries.iter().enumerate() {
        let end = boundaries.get(place + 1).copied().unwrap_or(beats.len()).min(at + NEAR);
        let command = commands.iter().find(|(of, _)| (*at..=end).contains(of));
        let Some((_, args)) = command.filter(|(_, args)| !args.starts_with("notesoup-reset ")) else {
            continue;
        };
        let args = Some(args.trim()).filter(|args| !args.is_empty()).map(str::to_owned);
        beats[*at].what = What::Compacted(Compacted::Typed(args));
    }
}

#[derive(Default)]
struct Story {
    /// How the ids of this session's windows begin.
    window_prefix: String,
    /// No words have come since the last compaction.
    begins: bool,
    response: Option<String>,
    calls: HashSet<String>,
    answered: HashSet<String>,
}

impl Story {
    /// None for a row that repeats others.
    fn of(&mut self, row: &Row) -> Option<What> {
        match row.kind {
            Kind::Assistant => self.response(row),
            Kind::User => self.user(row),
            Kind::System if row.subtype.as_deref() == Some("compact_boundary") => {
                self.begins = true;
                Some(What::Compacted(made_by(row.compact_metadata.as_deref())))
            }
            Kind::Attachment if is_ours(row) => Some(What::Replaced { chars: rendered(row) }),
            _ => Some(What::Beside),
        }
    }

    fn response(&mut self, row: &Row) -> Option<What> {
        let calls: Vec<String> = row
            .content
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect();
        let new: Vec<String> = calls
            .iter()
            .filter(|id| self.calls.insert((*id).clone()))
            .cloned()
            .collect();
        if new.is_empty() && !calls.is_empty() {
            return None;
        }
        let first = row.message_id.is_none() || self.response != row.message_id;
        self.response.clone_from(&row.message_id);
        let tokens = row.usage.map(|usage| {
            let cached = usage.cache_creation.saturating_add(usage.cache_read);
            usage.input.saturating_add(cached)
        });
        Some(What::Response {
            first,
            tokens: tokens.filter(|tokens| *tokens > 0),
            model: row.model.clone().filter(|model| model != "<synthetic>"),
            calls: new,
        })
    }

    fn user(&mut self, row: &Row) -> Option<What> {
        let results: Vec<&String> = row
            .content
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
                _ => None,
            })
            .collect();
        if !results.is_empty() {
            let new = results.iter().filter(|id| self.answered.insert((**id).clone()));
            let new: Vec<String> = new.map(|id| (*id).clone()).collect();
            return (!new.is_empty()).then_some(What::Results(new));
        }
        if row.is_compact_summary {
            return Some(What::Replaced { chars: 0 });
        }
        let text = first_text(row);
        // A reset hands back a line that names the window, and what was open.
        let names_the_window = std::mem::take(&mut self.begins) && text.contains(&self.window_prefix);
        if names_the_window || text.starts_with("<notesoup") {
            return Some(What::Replaced { chars: 0 });
        }
        if text.starts_with("[Request interrupted by user") {
            return Some(What::Interrupted);
        }
        let is_echo = [
            "<command-",
            "<local-command-",
            "<bash-",
            "<system-reminder>",
            "<user-memory-input>",
        ]
        .iter()
        .any(|echo| text.starts_with(echo));
        let is_prompt = !row.is_meta && !is_echo && (!text.is_empty() || has_media(row));
        Some(if is_prompt { What::Prompt } else { What::Beside })
    }
}

fn first_text(row: &Row) -> &str {
    let texts = row.content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.trim_start()),
        _ => None,
    });
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn has_media(row: &Row) -> bool {
    row.content.iter().any(|block| matches!(block, Block::Media { .. }))
}

/// A text that this program gave the model when the conversation was recorded.
fn is_ours(row: &Row) -> bool {
    let Some(attachment) = &row.attachment else {
        return false;
    };
    attachment.kind == "hook_additional_context" && attachment.rendered.iter().any(|text| text.contains("<notesoup"))
}

fn rendered(row: &Row) -> usize {
    let texts = row.attachment.iter().flat_map(|attachment| &attachment.rendered);
    texts.map(|text| text.chars().count()).sum()
}

fn made_by(metadata: Option<&str>) -> Compacted {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Metadata {
        trigger: String,
    }
    let metadata: Metadata = metadata
        .and_then(|metadata| serde_json::from_str(metadata).ok())
        .unwrap_or_default();
    match metadata.trigger.as_str() {
        "auto" => Compacted::Auto,
        _ => Compacted::Plugin,
    }
}

/// What was typed behind `/compact`, where this row echoes that command.
fn compact_command(row: &Row) -> Option<String> {
    if row.kind != Kind::User || row.is_meta {
        return None;
    }
    let text = first_text(row);
    text.contains("<command-name>/compact</command-name>").then(|| {
        let args = text.split_once("<command-args>").map_or("", |(_, rest)| rest);
        args.split_once("</command-args>")
            .map_or("", |(args, _)| args)
            .to_owned()
    })
}
