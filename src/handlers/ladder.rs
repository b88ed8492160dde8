//! `ladder`: an automatic compaction is first tried as a cut. When that brings the window under the share, the
//! conversation stays word for word; else the next row decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Call, Failure, Handler, accepts, prune, registers_nothing, steps};
use crate::prune::{Entry, PruneInput, PruneOutcome, cut_line, run as cut};
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "ladder",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: accepts::<Options>,
    registers: registers_nothing,
    run,
};

/// The options of the handler.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The share of the client's own threshold, in percent, under which a cut must bring the window.
    #[schemars(extend("examples" = [60]))]
    target_percent: u32,
}

#[derive(Debug, Deserialize)]
struct Compaction<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Options { target_percent } = call.options()?;
    // Two cuts in a row without a turn between would be followed by a third.
    if call.state.last_ladder == Some(call.facts.turn.completed) {
        return Ok(None);
    }
    let Some(marks) = steps::derivation(call.config, call.facts).marks else {
        return Ok(None);
    };
    let Compaction { messages } = call.input()?;
    let entries: Vec<Entry<'_>> = messages
        .map_or(Ok(Vec::new()), |messages| serde_json::from_str(messages.get()))
        .map_err(|error| Failure(format!("the conversation has an unexpected shape: {error}")))?;
    let addresses = prune::addresses(call);
    let outcome = cut(&PruneInput {
        entries: &entries,
        transcript: steps::transcript_path(call.facts),
        options: &call.config.prune,
        cwd: call.facts.cwd.as_deref(),
        tokens: steps::tokens(call.facts),
        target: None,
        seq: &|id| addresses.of(id),
    });
    let PruneOutcome::Answer {
        messages,
        report,
        record,
    } = outcome
    else {
        return Ok(None);
    };
    let limit = marks.point * f64::from(target_percent) / 100.0;
    tracing::debug!(tokens_after = report.tokens_after, limit, "ladder");
    if report.tokens_after as f64 >= limit {
        return Ok(None);
    }
    call.state.last_ladder = Some(call.facts.turn.completed);
    prune::keep_record(call, record);
    call.say(cut_line(&report));
    Ok(Some(Answer::Messages {
        messages,
        tokens_before: Some(report.tokens_before),
        tokens_after: Some(report.tokens_after),
    }))
}
