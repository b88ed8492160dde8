//! The handlers, and the dispatcher that takes an event through the table to one of them.
//!
//! A handler is one file that reads like the row that names it: a function from event, facts, config and state to an
//! answer, effects and a new state, plus the store it reads. To add one, write the file and add its line to [`ALL`].

mod dispatch;
mod fields;
mod plan;
mod state;
mod trial;
mod world;

#[cfg(test)]
mod bench;

mod standing;
mod steps;

mod auto_reset;
mod boot;
mod close_out;
mod context_remaining;
mod effects;
mod exec;
mod fresh_window;
mod fresh_window_tool;
mod handoff;
mod history;
mod ladder;
mod notes;
mod overview;
mod prune;
mod prune_preview;
mod reload;
mod reset;
mod session_end;
mod status_line;
mod turn_start;
mod veto;
mod warning;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use dispatch::dispatch;
pub use fields::fields_of;
pub use plan::plan;
pub use state::SessionState;
pub use trial::{Trial, Tried, Verdict, trial};
pub use world::World;

use crate::config::{Catalog, Config, HandlerInfo, Row};
use crate::wire::{Answer, CommandSpec, Effect, Event, Facts, ToolSpec, Wake};

/// Every handler, by name.
pub const ALL: &[Handler] = &[
    auto_reset::HANDLER,
    boot::HANDLER,
    close_out::HANDLER,
    context_remaining::HANDLER,
    effects::HANDLER,
    exec::HANDLER,
    fresh_window::HANDLER,
    fresh_window_tool::HANDLER,
    handoff::HANDLER,
    history::HANDLER,
    ladder::HANDLER,
    notes::HANDLER,
    overview::HANDLER,
    prune::HANDLER,
    prune_preview::HANDLER,
    reload::HANDLER,
    reset::HANDLER,
    session_end::HANDLER,
    status_line::HANDLER,
    turn_start::HANDLER,
    veto::HANDLER,
    warning::HANDLER,
];

/// A handler: what `run` in a row names.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    /// Its name.
    pub name: &'static str,
    /// The events it serves.
    pub events: &'static [Event],
    /// What makes an event start the program for it; an event that is not named here does so every time.
    pub wakes: &'static [(Event, &'static [Wake])],
    /// Says what is wrong with a row's options.
    pub check_options: fn(&Map<String, Value>) -> Result<(), String>,
    /// The commands and tools that a live row of it registers.
    pub registers: fn(&mut Registrations),
    /// Answers, or lets the next row try.
    pub run: fn(&mut Call<'_>) -> Result<Option<Answer>, Failure>,
}

impl Handler {
    /// The handler of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|handler| handler.name == name)
    }

    fn wakes_on(&self, event: Event) -> &'static [Wake] {
        self.wakes
            .iter()
            .find(|(of, _)| *of == event)
            .map_or(&[Wake::Always], |(_, wakes)| wakes)
    }
}

/// The commands and tools of the live rows.
#[derive(Debug, Default)]
pub struct Registrations {
    /// Commands of the person.
    pub commands: Vec<CommandSpec>,
    /// Tools of the model.
    pub tools: Vec<ToolSpec>,
}

fn registers_nothing(_: &mut Registrations) {}

/// The handlers as the config's check knows them.
pub fn catalog() -> Catalog<'static> {
    const INFOS: &[HandlerInfo] = &{
        let mut infos = [HandlerInfo {
            name: "",
            events: &[],
            check_options: no_options,
        }; ALL.len()];
        let mut at = 0;
        while at < ALL.len() {
            infos[at] = HandlerInfo {
                name: ALL[at].name,
                events: ALL[at].events,
                check_options: ALL[at].check_options,
            };
            at += 1;
        }
        infos
    };
    Catalog { handlers: INFOS }
}

/// The schemas of the options, by handler, of those that take any.
pub fn option_schemas() -> Vec<(&'static str, Value)> {
    vec![
        (veto::HANDLER.name, schemars::schema_for!(veto::Options).to_value()),
        (ladder::HANDLER.name, schemars::schema_for!(ladder::Options).to_value()),
        (exec::HANDLER.name, schemars::schema_for!(exec::Options).to_value()),
        (
            status_line::HANDLER.name,
            schemars::schema_for!(status_line::Options).to_value(),
        ),
    ]
}

/// Every tool that a row can register, whether it is live or not.
pub fn all_tools() -> Vec<ToolSpec> {
    let mut registrations = Registrations::default();
    for handler in ALL {
        (handler.registers)(&mut registrations);
    }
    registrations.tools
}

/// One event on its way through a row.
#[derive(Debug)]
pub struct Call<'a> {
    /// Which event.
    pub event: Event,
    /// Its input, unparsed.
    pub e: Option<&'a RawValue>,
    /// What the courier knows.
    pub facts: &'a Facts,
    /// The merged config.
    pub config: &'a Config,
    /// The row's id.
    pub id: &'a str,
    /// The row.
    pub row: &'a Row,
    /// Time, chance, folders and variables.
    pub world: &'a mut World,
    /// The state, to be changed in place.
    pub state: &'a mut SessionState,
    /// What the courier is to do, in order.
    pub effects: Vec<Effect>,
}

impl<'a> Call<'a> {
    /// The event's input, typed.
    ///
    /// # Errors
    /// When it is missing or has another shape.
    pub fn input<T: serde::Deserialize<'a>>(&self) -> Result<T, Failure> {
        let e = self.e.map_or("{}", RawValue::get);
        serde_json::from_str(e).map_err(|error| Failure(format!("the event has an unexpected shape: {error}")))
    }

    /// The row's options, typed; the layer's check has seen them already.
    ///
    /// # Errors
    /// When they have another shape after all.
    pub fn options<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        options(&self.row.options).map_err(Failure)
    }

    /// The text of this name, filled in.
    pub fn text(&self, name: &str, values: &[(&str, &str)]) -> String {
        self.config.text(name, values)
    }

    /// Says one line to the person.
    pub fn say(&mut self, line: impl Into<String>) {
        self.effects.push(Effect::Log { text: line.into() });
    }
}

/// Why a handler could not do its work. The event then goes on as if the row were not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// A row's options as a handler's type.
///
/// # Errors
/// In words for the person.
fn options<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| error.to_string())
}

/// The check of a handler that takes these options.
fn accepts<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<(), String> {
    options::<T>(given).map(|_| ())
}

/// The check of a handler that takes none.
fn no_options(given: &Map<String, Value>) -> Result<(), String> {
    match given.keys().next() {
        None => Ok(()),
        Some(key) => Err(format!("this handler takes no options; take `{key}` out")),
    }
}
