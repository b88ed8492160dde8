//! The main job on a machine with nothing but this program: a conversation made up here goes event by event through
//! the real table.

mod conversation;
mod stage;

use std::io;

use serde_json::json;

use conversation::Conversation;
use stage::Stage;

/// A window of a million tokens, and where its client compacts by itself.
const WINDOW: u64 = 1_000_000;
const THRESHOLD: u64 = 967_000;

/// Plays the whole story and prints it to `out`, in lines of at most `width` columns where the model's texts are longer.
///
/// # Errors
/// When the temporary folder cannot be made, or `out` cannot be written.
pub fn play(out: &mut dyn io::Write, width: usize) -> io::Result<()> {
    let mut stage = Stage::new(out, width)?;
    let mut conversation = Conversation::new(stage.transcript_path())?;

    stage.chapter(
        "A conversation begins",
        "The boot goes to the model with its very first request.",
    )?;
    stage.fill(0)?;
    stage.event("classic.SessionStart", &json!({ "source": "startup" }))?;

    stage.chapter(
        "The model writes down what was decided",
        "Notes are Markdown files; they outlive the window.",
    )?;
    stage.tool(
        "notes_write",
        &json!({
            "address": "@project/decisions.md",
            "content": "# Decisions\n\n- Retries use exponential backoff with jitter: the fixed delay hammered the server.\n",
        }),
    )?;

    stage.chapter(
        "Work fills the window",
        "Tool output is most of it. Below the marks, no event starts a process.",
    )?;
    conversation.work()?;
    stage.fill(28_400)?;
    stage.chapter("/prune-preview", "What /compact prune would cut. Nothing is changed.")?;
    stage.event("command.run", &json!({ "command": "prune-preview", "args": "" }))?;
    stage.chapter(
        "/compact prune",
        "Every word stays; what can be had again is cut to its head.",
    )?;
    stage.event(
        "session.compact",
        &json!({ "trigger": "manual", "instructions": "prune", "messages": conversation.messages() }),
    )?;
    stage.stands()?;
    stage.chapter(
        "/compact keep the API names",
        "The client's own summary, told to write a handoff.",
    )?;
    stage.event(
        "session.compact",
        &json!({ "trigger": "manual", "instructions": "keep the API names", "messages": [] }),
    )?;

    stage.chapter("The warning mark is crossed", "In the middle of a turn, once a window.")?;
    stage.turn(true);
    stage.fill(944_000)?;
    stage.event("classic.PostToolBatch", &json!({}))?;

    stage.chapter(
        "The reset mark is crossed",
        "The model goes on in the same turn, saves its notes and ends.",
    )?;
    stage.fill(960_100)?;
    stage.event("classic.Stop", &json!({ "stop_hook_active": false }))?;
    stage.tool(
        "notes_write",
        &json!({
            "address": "checkpoint.md",
            "content": "# Checkpoint\n\n- Goal: the sync client survives a flaky network.\n- State: backoff is in, 14 of 15 tests pass.\n- Next step: `retry_gives_up_after_the_deadline` waits one period too long; look at `Deadline::left`.\n",
        }),
    )?;

    stage.chapter(
        "The turn ends, the reset runs",
        "A fresh window: the new boot, and behind it one paragraph of the pool.",
    )?;
    stage.turn(false);
    stage.event("turn.complete", &json!({ "turnId": "turn-1", "reason": "answer" }))?;
    stage.caused_by_us();
    stage.event(
        "session.compact",
        &json!({ "trigger": "plugin", "messages": conversation.messages() }),
    )?;
    stage.fill(0)?;
    stage.event("classic.SessionStart", &json!({ "source": "compact" }))?;

    stage.end()
}
