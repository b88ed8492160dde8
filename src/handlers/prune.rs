//! `prune`: `/compact prune` cuts long tool outputs and keeps every message word for word. Anything that is not a prune
//! is left to the next row.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, Failure, Handler, no_options, prune_preview, registers_nothing, steps};
use crate::history::record::{self, Cut, HandedBack};
use crate::prune::{Asked, Entry, PruneInput, PruneOutcome, Seqs, asked, cut_line, run as cut};
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "prune",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
struct Compaction<'a> {
    instructions: Option<String>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Compaction { instructions, messages } = call.input()?;
    let target = match asked(instructions.as_deref()) {
        Asked::Summary => return Ok(None),
        Asked::Prune => None,
        Asked::Budget(tokens) => Some(tokens),
        Asked::Preview(target) => {
            for line in prune_preview::lines_of(call, target)? {
                call.say(line);
            }
            return Ok(Some(Answer::Skip {
                reason: "a preview changes nothing".to_owned(),
            }));
        }
        Asked::NearMiss(_) => {
            let typed = instructions.as_deref().map(str::trim).unwrap_or_default();
            return Ok(Some(Answer::Skip {
                reason: call.text("prune_near_miss", &[("instructions", typed)]),
            }));
        }
    };
    let entries: Vec<Entry<'_>> = messages
        .map_or(Ok(Vec::new()), |messages| serde_json::from_str(messages.get()))
        .map_err(|error| Failure(format!("the conversation has an unexpected shape: {error}")))?;
    let addresses = addresses(call);
    let outcome = cut(&PruneInput {
        entries: &entries,
        transcript: steps::transcript_path(call.facts),
        options: &call.config.prune,
        cwd: call.facts.cwd.as_deref(),
        tokens: steps::tokens(call.facts),
        target,
        seq: &|id| addresses.of(id),
    });
    match outcome {
        PruneOutcome::Skip { reason, .. } => Ok(Some(Answer::Skip { reason })),
        PruneOutcome::Answer {
            messages,
            report,
            record,
        } => {
            keep_record(call, record);
            call.say(cut_line(&report));
            Ok(Some(Answer::Messages {
                messages,
                tokens_before: Some(report.tokens_before),
                tokens_after: Some(report.tokens_after),
            }))
        }
    }
}

/// The addresses that the notes of the cuts name, read when the first is asked for.
pub(super) fn addresses(call: &Call<'_>) -> Seqs {
    Seqs::new(
        steps::transcript_path(call.facts).map(Path::to_path_buf),
        call.world.state_dir.clone(),
    )
}

/// Records which rows were handed back, so that history shows each event once though the client writes them again.
/// Without the record history tells the copies by their content, so that a failure costs no more than time.
pub(super) fn keep_record(call: &Call<'_>, messages: Vec<HandedBack>) {
    let (Some(state_dir), Some(path)) = (&call.world.state_dir, steps::transcript_path(call.facts)) else {
        return;
    };
    if let Err(error) = record::write(state_dir, path, &Cut { messages }) {
        tracing::warn!(%error, "the cut was not recorded");
    }
}
