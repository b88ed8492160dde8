//! `effects`: how an effect ended. A reset that failed stays owed, or is dropped and said.

use serde::Deserialize;

use super::{Call, Failure, Handler, no_options, registers_nothing, steps};
use crate::window::machine::Input;
use crate::wire::{Answer, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "effects",
    events: &[Event::EffectSettled],
    wakes: &[],
    check_options: no_options,
    registers: registers_nothing,
    run,
};

#[derive(Debug, Deserialize)]
struct Settled {
    id: String,
    ok: bool,
    error: Option<String>,
    skip: Option<String>,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Settled { id, ok, error, skip } = call.input()?;
    // A call that resolved with a veto was no failure of the client.
    let ok = ok || (skip.is_some() && error.is_none());
    steps::take(call, &Input::EffectSettled { id, ok, error, skip })
}
