//! `notesoup plan`: what the courier is to watch, register and show, made from the live rows.

use std::collections::BTreeMap;

use crate::config::cache::Snapshot;
use crate::config::notices;
use crate::wire::{Event, EventPlan, Facts, Plan, VERSION};

use super::{Handler, Registrations, World, catalog};

/// The plan for a session with these facts. `known` is the fingerprint of the plan that the courier has.
pub fn plan(facts: &Facts, known: Option<&str>, world: &mut World) -> Plan {
    world.distrust_variables_of(&facts.settings.project_env);
    let snapshot = Snapshot::take(&world.sources(facts), world.state_dir.as_deref(), &catalog());
    let fingerprint = snapshot.fingerprint.clone();
    if known == Some(fingerprint.as_str()) {
        return Plan {
            v: VERSION,
            fingerprint,
            unchanged: true,
            ..Plan::default()
        };
    }
    let config = snapshot.config();
    let mut registrations = Registrations::default();
    let mut events: BTreeMap<String, EventPlan> = BTreeMap::new();
    for event in Event::ALL {
        for (_, row) in snapshot.rows_of(event.name()) {
            let Some(handler) = Handler::find(&row.run) else {
                continue;
            };
            (handler.registers)(&mut registrations);
            let timeout_ms = match event {
                Event::SessionCompact => config.helper.compaction_timeout_ms,
                _ => config.helper.timeout_ms,
            };
            let plan = events.entry(event.name().to_owned()).or_default();
            plan.timeout_ms = timeout_ms;
            plan.wake.extend(handler.wakes_on(*event));
            plan.wake.sort_unstable();
            plan.wake.dedup();
        }
    }
    Plan {
        v: VERSION,
        fingerprint,
        unchanged: false,
        events,
        commands: registrations.commands,
        tools: registrations.tools,
        watch: Default::default(),
        notices: notices(snapshot.problems(), world.state_dir.as_deref()),
    }
}
