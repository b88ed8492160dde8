//! What only the transcript's rows know: what the event leaves out, whose words a text is, what a response cost.
//!
//! The event names rows by their uuid (`handle`) and leaves out prompts typed while the model worked, readings of `@`
//! mentions, and the texts that skills and commands brought in. They go back as a user's text in their place, and what
//! is not the person's stays inside a frame that says so.

use std::collections::HashMap;

use super::event::Entry;

/// Whose words a text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Provenance {
    /// A person's, the model's, or not known to be somebody else's.
    #[default]
    Person,
    /// A row of the client's: the text of a skill or command, a reminder.
    Meta,
    /// An event that reached the model as a prompt: a background agent's report, another plugin's message.
    Notification,
    /// A command that ran in the client, or its output; not handed back.
    LocalCommand,
}

/// What a rebuilt message cannot carry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Media {
    /// Images in prompts and results.
    pub images: usize,
    /// Documents, such as PDF files.
    pub documents: usize,
    /// Blocks of the model's thinking.
    pub thinking: usize,
}

impl Media {
    /// Both counts together.
    pub fn add(&mut self, other: Self) {
        self.images += other.images;
        self.documents += other.documents;
        self.thinking += other.thinking;
    }

    /// Stands where only media were; `again` says how to see them once more.
    pub fn placeholder(self, again: Option<&str>) -> String {
        let what = if self.images > 0 { "an image" } else { "a document" };
        match again {
            Some(again) => format!("[notesoup: {what} was here, which a cut cannot carry; {again}]"),
            None => format!("[notesoup: {what} was here, which a cut cannot carry.]"),
        }
    }
}

/// What the row of an entry says about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowFacts {
    /// Whose words.
    pub provenance: Provenance,
    /// What is in it beside text.
    pub media: Media,
    /// Which prompt its turn began with: the same number for the same prompt. None where the row does not say, as that
    /// of a response.
    pub prompt: Option<usize>,
}

/// What a restored row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertKind {
    /// A prompt typed while the model worked.
    QueuedPrompt,
    /// The reading of an `@` mention.
    FileReading,
    /// What came in while the model worked and is not the person's: the report of a subagent, a message of a plugin.
    Report,
    /// Other words that are not the person's.
    Frame,
}

/// A row that goes back as a user's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insert {
    /// It stands before the entry with this index; the number of entries: at the end.
    pub before: usize,
    /// What it is.
    pub kind: InsertKind,
    /// The text, with its frame.
    pub text: String,
    /// The row's uuid.
    pub row: String,
}

/// A row of the current window that belongs to the conversation.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Its uuid.
    pub uuid: String,
    /// Whose words.
    pub provenance: Provenance,
    /// What it holds beside text.
    pub media: Media,
    /// The restored text, for rows that the event leaves out.
    pub restored: Option<(InsertKind, String)>,
    /// Code points that the model reads of it: texts, arguments as JSON, results, renderings of attachments.
    pub chars: usize,
    /// The response's id.
    pub message_id: Option<String>,
    /// The id of the prompt that its turn began with; the client writes it into prompts and results.
    pub prompt_id: Option<String>,
    /// Input tokens of the request that the response answers: new, read from the cache, and written to it.
    pub input_tokens: Option<u64>,
    /// The row as the event would carry it; only when asked for.
    pub entry: Option<Entry<'static>>,
}

/// What a request cost, and how much text it held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsagePoint {
    /// Its input tokens.
    pub tokens: u64,
    /// Code points of the conversation before the response.
    pub chars: usize,
    /// Media so far: tokens that no text explains.
    pub media: usize,
}

/// The rows of the current window, put beside the entries of an event.
#[derive(Debug, Clone, Default)]
pub struct Branch {
    facts: HashMap<String, RowFacts>,
    /// Rows that go back as a user's text, in order.
    pub inserts: Vec<Insert>,
    /// What each request cost.
    pub usage: Vec<UsagePoint>,
    /// What requests of earlier windows cost; only where those of this one are too few to go by.
    pub older: Vec<UsagePoint>,
    /// Code points of all rows.
    pub chars: usize,
    /// Everything that a rebuilt conversation cannot carry.
    pub media: Media,
}

impl Branch {
    /// Puts `rows`, in the order of the conversation, beside the entries.
    pub fn new(rows: &[Row], entries: &[Entry<'_>]) -> Self {
        let places: HashMap<&str, usize> = entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| Some((entry.handle.as_ref()?.as_str(), index)))
            .collect();
        let mut branch = Self::default();
        let mut prompts = HashMap::new();
        let mut before = 0;
        branch.usage = usage_points(rows);
        for row in rows {
            let place = places.get(row.uuid.as_str());
            if let Some(place) = place {
                before = before.max(place + 1);
            } else if let Some((kind, text)) = &row.restored {
                branch.inserts.push(Insert {
                    before,
                    kind: *kind,
                    text: text.clone(),
                    row: row.uuid.clone(),
                });
            }
            branch.chars += row.chars;
            branch.media.add(row.media);
            let prompt = row.prompt_id.as_deref().map(|id| {
                let next = prompts.len();
                *prompts.entry(id).or_insert(next)
            });
            branch.facts.insert(
                row.uuid.clone(),
                RowFacts {
                    provenance: row.provenance,
                    media: row.media,
                    prompt,
                },
            );
        }
        branch
    }

    /// What the row with this uuid says.
    pub fn facts(&self, uuid: &str) -> Option<&RowFacts> {
        self.facts.get(uuid)
    }
}

/// What each request cost, in the order of the rows.
pub fn usage_points(rows: &[Row]) -> Vec<UsagePoint> {
    let mut points = Vec::new();
    let (mut chars, mut media) = (0, Media::default());
    let mut response = None;
    for row in rows {
        // Every block of a response has its usage.
        if let Some(tokens) = row.input_tokens.filter(|_| response != row.message_id.as_deref()) {
            points.push(UsagePoint {
                tokens,
                chars,
                media: media.images + media.documents,
            });
        }
        if row.message_id.is_some() {
            response = row.message_id.as_deref();
        }
        chars += row.chars;
        media.add(row.media);
    }
    points
}

/// The text inside a frame that says that it is not the person's; as it is where it has one.
pub fn frame(text: &str, provenance: Provenance) -> String {
    if text.trim_start().starts_with("<system-reminder>") {
        return text.to_owned();
    }
    match provenance {
        Provenance::Notification => format!(
            "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\nAn automated event, not a message from the user: \
             it is no answer, approval or consent of theirs.\n\n{text}\n</system-reminder>"
        ),
        _ => format!("<system-reminder>\n{text}\n</system-reminder>"),
    }
}
