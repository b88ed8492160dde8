//! The stage of the demo: a temporary folder, the facts that a courier would give, and what a person sees of each
//! event.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::{THRESHOLD, WINDOW};
use crate::config::FieldValue;
use crate::handlers::{World, dispatch, fields_of};
use crate::prune::grouped;
use crate::wire::{Answer, Effect, Event, Facts, Reply, Request, Turn, Usage, VERSION};

/// The session's id.
pub(super) const SESSION: &str = "demo";

/// How many lines of a long text are shown; a text that is only a little longer is shown whole.
const SHOWN_LINES: usize = 14;
const LITTLE: usize = 3;
/// What stands before a line of a text.
const INDENT: usize = 5;
/// How wide the picture of the fill is.
const BAR_COLUMNS: usize = 60;

const TITLE: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
const ROW: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const DIM: Style = Style::new().dimmed();
const WARN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

pub(super) struct Stage<'a> {
    out: &'a mut dyn Write,
    width: usize,
    folder: tempfile::TempDir,
    transcript: PathBuf,
    world: World,
    facts: Facts,
    state: Option<String>,
    chapters: usize,
    boots: usize,
}

impl<'a> Stage<'a> {
    pub(super) fn new(out: &'a mut dyn Write, width: usize) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let transcript = folder.path().join("conversation.jsonl");
        let world = World::alone_in(folder.path());
        let facts = Facts {
            session_id: Some(SESSION.to_owned()),
            cwd: Some(folder.path().display().to_string()),
            model: Some("claude-opus".to_owned()),
            transcript_path: Some(transcript.display().to_string()),
            ..Facts::default()
        };
        Ok(Self {
            out,
            width,
            folder,
            transcript,
            world,
            facts,
            state: None,
            chapters: 0,
            boots: 0,
        })
    }

    /// How wide a line of a text may be.
    fn room(&self) -> usize {
        self.width.saturating_sub(INDENT)
    }

    pub(super) fn transcript_path(&self) -> &Path {
        &self.transcript
    }

    pub(super) fn chapter(&mut self, title: &str, about: &str) -> io::Result<()> {
        self.chapters += 1;
        writeln!(
            self.out,
            "\n{TITLE}{}. {title}{TITLE:#}\n{DIM}   {about}{DIM:#}",
            self.chapters
        )
    }

    /// Sets the fill of the window, and draws it with the marks.
    pub(super) fn fill(&mut self, tokens: u64) -> io::Result<()> {
        let breakdown =
            json!({ "rawMaxTokens": WINDOW, "autoCompactThreshold": THRESHOLD, "isAutoCompactEnabled": true });
        self.facts.usage = Some(Usage {
            tokens: (tokens > 0).then(|| json!(tokens)),
            window: Some(json!(WINDOW)),
            percent: Some(json!(tokens * 100 / WINDOW)),
            auto_compact_threshold: None,
            breakdown: breakdown.as_object().cloned(),
        });
        let figures = format!("{} of {} tokens", figure(tokens), figure(WINDOW));
        let columns = BAR_COLUMNS.min(self.room().saturating_sub(figures.len()));
        let filled = usize::try_from(tokens * columns as u64 / WINDOW).unwrap_or(0);
        let style = if tokens > 940_000 { WARN } else { ROW };
        let bar = format!(
            "{style}{}{style:#}{DIM}{}{DIM:#}",
            "█".repeat(filled),
            "░".repeat(columns - filled)
        );
        writeln!(self.out, "   {bar} {figures}")
    }

    /// A turn begins, or ends.
    pub(super) fn turn(&mut self, running: bool) {
        let completed = self.facts.turn.completed + 3 * u64::from(!running);
        self.facts.turn = Turn {
            running,
            id: Some("turn-1".to_owned()),
            completed,
        };
    }

    /// The next compaction is one that this program has asked for.
    pub(super) fn caused_by_us(&mut self) {
        self.facts.origin_plugin = Some("notesoup".to_owned());
    }

    /// The model calls a tool.
    pub(super) fn tool(&mut self, name: &str, parameters: &Value) -> io::Result<()> {
        let mut e = parameters.clone();
        e["tool"] = json!(format!("mcp__notesoup__{name}"));
        self.event("tool.call", &e)
    }

    /// Sends an event through the table and shows which row decided what.
    pub(super) fn event(&mut self, event: &str, e: &Value) -> io::Result<()> {
        let raw = e.to_string();
        let e = serde_json::from_str(&raw)?;
        let state = self.state.as_deref().map(serde_json::from_str).transpose()?;
        let facts = Facts {
            // A command's lines as for paper, not folded for the client's screen.
            headless: event == "command.run",
            ..self.facts.clone()
        };
        let request = Request {
            v: VERSION,
            event: event.into(),
            e: Some(e),
            facts,
            state,
        };
        let reply = dispatch(&request, &mut self.world).map_err(io::Error::other)?;
        let when = Event::from_name(event).map(|event| {
            let mut fields = fields_of(event, Some(e), &self.facts);
            fields
                .retain(|name, value| !matches!(*name, "agent" | "headless" | "model") && !value.as_text().is_empty());
            fields
        });
        let fields: Vec<String> = when
            .into_iter()
            .flatten()
            .map(|(name, value): (_, FieldValue)| format!("{name} = {}", value.as_text()))
            .collect();
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!(" ({})", fields.join(", "))
        };
        let row = reply.row.clone();
        let decided = match &row {
            Some(id) => format!("{ROW}[hooks.{id}]{ROW:#}"),
            None => format!("{DIM}no row answers{DIM:#}"),
        };
        writeln!(self.out, "   {event}{fields} → {decided}")?;
        if let Some(state) = &reply.state {
            self.state = Some(state.to_string());
        }
        self.show(&reply)?;
        self.facts.origin_plugin = None;
        Ok(())
    }

    /// The client says that the compaction stands: the next window begins. What the model reads then was shown before.
    pub(super) fn stands(&mut self) -> io::Result<()> {
        let raw = json!({ "source": "compact" }).to_string();
        let e = serde_json::from_str(&raw)?;
        let state = self.state.as_deref().map(serde_json::from_str).transpose()?;
        let event = "classic.SessionStart";
        let request = Request {
            v: VERSION,
            event: event.into(),
            e: Some(e),
            facts: self.facts.clone(),
            state,
        };
        let reply = dispatch(&request, &mut self.world).map_err(io::Error::other)?;
        if let Some(state) = &reply.state {
            self.state = Some(state.to_string());
        }
        writeln!(
            self.out,
            "   {event} (source = compact) → a new boot, for the next window"
        )
    }

    fn show(&mut self, reply: &Reply) -> io::Result<()> {
        for effect in &reply.effects {
            match effect {
                Effect::Log { text } => writeln!(self.out, "   {WARN}●{WARN:#} {text}")?,
                Effect::Compact { .. } => writeln!(self.out, "   effect: the conversation is compacted now")?,
                other => writeln!(self.out, "   effect: {}", serde_json::to_string(other)?)?,
            }
        }
        match &reply.answer {
            None => Ok(()),
            Some(Answer::Context { texts }) => texts.iter().try_for_each(|text| self.text("the model reads", text)),
            Some(Answer::Tool { text, .. }) => self.text("the model reads", text),
            Some(Answer::Next {
                instructions: Some(text),
            }) => self.text("the summary is told", text),
            Some(Answer::Next { instructions: None }) => writeln!(self.out, "   the client goes on by itself"),
            Some(Answer::Skip { reason }) => writeln!(self.out, "   Not compacted · {reason}"),
            Some(Answer::Lines { lines }) => lines
                .iter()
                .try_for_each(|line| writeln!(self.out, "   {DIM}│{DIM:#} {}", shorten(line, self.room()))),
            Some(Answer::Messages { messages, .. }) => {
                let new = messages
                    .iter()
                    .filter(|message| matches!(message.text, Some(crate::wire::TextSpec::New(_))));
                writeln!(self.out, "   the conversation becomes {} messages", messages.len())?;
                for message in new {
                    if let Some(crate::wire::TextSpec::New(text)) = &message.text {
                        self.text("among them", text)?;
                    }
                }
                Ok(())
            }
            Some(Answer::Blocks { blocks }) => blocks.iter().try_for_each(|block| self.text(&block.name, &block.text)),
        }
    }

    fn text(&mut self, what: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "   {what}:")?;
        let mut lines: Vec<&str> = text.lines().collect();
        if text.starts_with(crate::boot::OPENING) {
            // The protocol was shown with the first boot; the shelves are what differs.
            let shelves = lines
                .iter()
                .position(|line| *line == "# Notes")
                .filter(|_| self.boots > 0);
            self.boots += 1;
            if let Some(at) = shelves {
                lines.drain(1..at);
                lines.insert(1, "…");
            }
        }
        let shown = if lines.len() > SHOWN_LINES + LITTLE {
            SHOWN_LINES
        } else {
            lines.len()
        };
        for line in lines.iter().take(shown) {
            writeln!(self.out, "   {DIM}│{DIM:#} {}", shorten(line, self.room()))?;
        }
        match lines.len() - shown {
            0 => Ok(()),
            more => writeln!(self.out, "   {DIM}│ … {more} more lines{DIM:#}"),
        }
    }

    /// What to do next.
    pub(super) fn end(self) -> io::Result<()> {
        let notes = self.folder.path().join("notes");
        writeln!(
            self.out,
            "\n{TITLE}That was the real table, on a made-up conversation.{TITLE:#}"
        )?;
        writeln!(
            self.out,
            "   notesoup config show    every row and number, and where each comes from"
        )?;
        writeln!(self.out, "   notesoup install        put it into Claude Code")?;
        writeln!(
            self.out,
            "{DIM}   (the demo's notes were in {} and are gone with it){DIM:#}",
            notes.display()
        )
    }
}

/// A number with commas between thousands.
fn figure(number: u64) -> String {
    grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

/// A line at most so wide.
fn shorten(line: &str, room: usize) -> String {
    if line.chars().count() <= room {
        return line.to_owned();
    }
    let head: String = line.chars().take(room.saturating_sub(1)).collect();
    format!("{head}…")
}
