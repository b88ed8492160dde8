//! Where the room went and how the context filled: what a picture of the conversation is drawn from.

use super::arguments::Arguments;
use super::cut::one_line;
use super::plan::{Part, Reason};
use super::report::{Material, message_chars};
use super::thread::Message;

/// Parts beyond the largest are drawn as one of their tool.
const PARTS: usize = 300;

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Cut.
    Cut,
    /// Protected.
    Protected,
    /// In the first or the newest messages.
    Pinned,
    /// Stays for another reason.
    Stays,
    /// Words of the person or of the model.
    Words,
    /// System prompt, tools, instructions, media.
    Fixed,
}

/// A part of the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The tool, or whose words.
    pub group: String,
    /// The file or command.
    pub what: String,
    /// What becomes of it.
    pub fate: Fate,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
}

/// What a picture is drawn from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Input tokens of each request of the window, oldest first.
    pub fill: Vec<u64>,
    /// Parts of the context, the largest first.
    pub room: Vec<Room>,
}

impl Picture {
    /// Gathers it.
    pub fn new(material: &Material<'_>) -> Self {
        let mut room: Vec<Room> = material.plan.items.iter().map(|item| of_item(material, item)).collect();
        room.extend(words(material));
        room.retain(|part| part.before > 0);
        room.sort_by_key(|part| std::cmp::Reverse(part.before));
        let mut rest = room.split_off(room.len().min(PARTS));
        rest.sort_by(|left, right| (&left.group, left.fate).cmp(&(&right.group, right.fate)));
        for same in rest.chunk_by(|left, right| left.group == right.group && left.fate == right.fate) {
            let Some(first) = same.first() else { continue };
            room.push(Room {
                group: first.group.clone(),
                what: format!("{} smaller ones", same.len()),
                fate: first.fate,
                before: same.iter().map(|part| part.before).sum(),
                after: same.iter().map(|part| part.after).sum(),
            });
        }
        Self {
            fill: material.branch.usage.iter().map(|point| point.tokens).collect(),
            room,
        }
    }
}

fn of_item(material: &Material<'_>, item: &super::plan::Item) -> Room {
    let (of, at) = material.thread.calls[item.call].call;
    let call = &material.entries[of].tool_uses[at];
    let arguments = call.input.as_deref().map(Arguments::new).unwrap_or_default();
    let mut what = one_line(&arguments.target, 120);
    if item.part == Part::Input {
        what.push_str(" (input)");
    }
    Room {
        group: call.tool.as_str().to_owned(),
        what,
        fate: match item.reason {
            Reason::Cut | Reason::Superseded(_) => Fate::Cut,
            Reason::Protected(_) => Fate::Protected,
            Reason::Pinned => Fate::Pinned,
            Reason::AlreadyCut | Reason::Short | Reason::NotNeeded | Reason::NoRoom => Fate::Stays,
        },
        before: material.calibration.tokens(item.before),
        after: material.calibration.tokens(item.after),
    }
}

fn words(material: &Material<'_>) -> Vec<Room> {
    let (mut user, mut model) = (0, 0);
    for message in &material.thread.messages {
        let chars = message_chars(material.entries, material.thread, message);
        match message {
            Message::User { .. } => user += chars,
            Message::Assistant { text: Some(of), .. } => model += material.entries[*of].text.as_str().chars().count(),
            Message::Assistant { .. } | Message::Results { .. } => {}
        }
    }
    let calibration = material.calibration;
    let part = |group: &str, what: &str, fate, tokens| Room {
        group: group.to_owned(),
        what: what.to_owned(),
        fate,
        before: tokens,
        after: tokens,
    };
    vec![
        part(
            "words",
            "the person, files mentioned, reminders",
            Fate::Words,
            calibration.tokens(user),
        ),
        part("words", "the model", Fate::Words, calibration.tokens(model)),
        part(
            "fixed",
            "system prompt, tools, instructions, media",
            Fate::Fixed,
            calibration.fixed,
        ),
    ]
}
