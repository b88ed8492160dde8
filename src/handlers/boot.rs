//! `boot`: what a fresh window begins with, once a window.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, notes, registers_nothing, standing, steps};
use crate::boot::{Checkpoint, NoteLine, Shelf, Snapshot, Wipe, render};
use crate::notes::Home;
use crate::window::WindowId;
use crate::window::machine::{BoundBy, Input};
use crate::wire::{Answer, Block, Event, Wake};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "boot",
    events: &[
        Event::ClassicSessionStart,
        Event::ClassicUserPromptSubmit,
        Event::PromptContext,
    ],
    wakes: &[(Event::ClassicUserPromptSubmit, &[Wake::Pending])],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
struct SessionStart {
    source: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let session_id = call
        .facts
        .session_id
        .clone()
        .ok_or_else(|| Failure("the session has no id".to_owned()))?;
    let input = match call.event {
        Event::ClassicSessionStart => {
            let SessionStart { source } = call.input()?;
            let by = BoundBy::from_source(&source);
            Input::SessionBound {
                by,
                session_id,
                standing: standing::at_start(call, by),
                ours: None,
            }
        }
        Event::ClassicUserPromptSubmit => {
            standing::reconcile(call);
            Input::BootWanted
        }
        // The older carrier is asked for the boot again and again, and gives the same one within a window.
        _ => {
            standing::reconcile(call);
            let Some(window) = call.state.machine.window_id().cloned() else {
                return Ok(None);
            };
            let text = text(call, &window, window.previous().as_ref())?;
            let block = Block {
                name: "notesoup:boot".to_owned(),
                text,
            };
            return Ok(Some(Answer::Blocks { blocks: vec![block] }));
        }
    };
    steps::take(call, &input)
}

/// The boot of this window.
///
/// # Errors
/// When no home of the notes can be read: a window without its memory is not opened.
pub(super) fn text(call: &Call<'_>, window: &WindowId, previous: Option<&WindowId>) -> Result<String, Failure> {
    let notes = notes::open(call)?;
    let shelves = notes.shelves();
    let empty = shelves.shelves.iter().filter(|shelf| shelf.total == 0);
    let unavailable = empty.filter_map(|shelf| shelf.unavailable.as_deref());
    if unavailable.clone().count() == shelves.shelves.len() {
        let reason = unavailable.into_iter().next().unwrap_or("there is none").to_owned();
        return Err(Failure(format!("the notes cannot be read: {reason}")));
    }
    let facts = call.facts;
    let homes = notes.homes();
    let snapshot = Snapshot {
        agent: homes.agent().to_owned(),
        model: homes.model().to_owned(),
        window_id: window.to_string(),
        previous_window_id: previous.map(ToString::to_string),
        has_history: steps::transcript_path(facts).is_some(),
        wipe: wipe(call),
        shelves: shelves.shelves.into_iter().map(shelf).collect(),
        checkpoint: shelves.checkpoint.map(|note| Checkpoint {
            address: note.address,
            updated_at: note.updated_at,
            body: note.body,
        }),
        agents: call.state.agents.clone(),
        skills: vec!["notesoup:memory".to_owned(), "notesoup:dream".to_owned()],
        now: call.world.now,
    };
    Ok(render(&snapshot, call.config))
}

fn wipe(call: &Call<'_>) -> Wipe {
    let has_tool = call
        .config
        .hooks
        .values()
        .any(|row| row.enabled && row.run == "fresh-window-tool");
    let has_command = call
        .config
        .hooks
        .values()
        .any(|row| row.enabled && row.run == "fresh-window");
    if steps::is_compact_disabled() || !(has_tool || has_command) {
        Wipe::Disabled
    } else if has_tool {
        Wipe::CallTheTool
    } else {
        Wipe::AskTheHuman
    }
}

fn shelf(shelf: crate::notes::Shelf) -> Shelf {
    let home = match shelf.home {
        Home::Session => "Session",
        Home::Project => "Project",
        Home::Agent(_) => "Agent",
        Home::Model(_) => "Model",
        Home::Human => "Human",
    };
    Shelf {
        home: home.to_owned(),
        address: shelf.prefix,
        map: shelf.map.map(|map| map.text),
        freshest: shelf
            .freshest
            .into_iter()
            .map(|note| NoteLine {
                title: note.title,
                address: note.address,
                updated_at: note.updated_at,
            })
            .collect(),
        count: shelf.total,
        unavailable: shelf.unavailable,
    }
}
