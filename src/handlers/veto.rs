//! `veto`: a compaction is refused with one line that says what to run instead.

use schemars::JsonSchema;
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

/// The options of the handler.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The text that says why; `veto_plugin` is said in its place to another plugin.
    #[schemars(extend("examples" = ["veto_compact", "veto_prune", "veto_precompute"]))]
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
