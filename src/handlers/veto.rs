//! `veto`: a compaction is refused with one line that says what to run instead.

use serde::{Deserialize, Serialize};

use super::{Call, Failure, Handler, accepts, registers_nothing};
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "veto",
    events: &[Event::SessionCompact],
    wakes: &[],
    check_options: accepts::<Options>,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The text that says why; `veto_plugin` is said in its place to another plugin.
    text: String,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Options { text } = call.options()?;
    let profile = call.config.profile.as_str();
    let reason = match &call.facts.origin_plugin {
        Some(plugin) => call.text("veto_plugin", &[("profile", profile), ("plugin", plugin)]),
        None => call.text(&text, &[("profile", profile)]),
    };
    Ok(Some(Answer::Skip { reason }))
}
