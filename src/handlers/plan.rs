//! `notesoup plan`: what the courier is to watch, register and show, made from the live rows.

use std::collections::BTreeMap;

use crate::config::cache::Snapshot;
use crate::config::{self, Fingerprint};
use crate::wire::{Event, EventPlan, Facts, Plan, VERSION};

use super::{Handler, Registrations, SessionState, World, catalog, steps};

/// The plan for a session with these facts, in this state. `known` is the fingerprint of the plan that the courier has.
pub fn plan(facts: &Facts, state: &SessionState, known: Option<&str>, world: &mut World) -> Plan {
    world.distrust_variables_of(&facts.settings.project_env);
    let snapshot = Snapshot::take(&world.sources(facts), world.state_dir.as_deref(), &catalog());
    let fingerprint = fingerprint(&snapshot, facts);
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
        watch: steps::watch(config, facts, &state.machine),
        notices: notices(&snapshot, facts, world),
    }
}

/// The config's fingerprint, and what else the marks hang on: the model, the client's threshold and its variables.
fn fingerprint(snapshot: &Snapshot, facts: &Facts) -> String {
    let usage = facts.usage.as_ref();
    let threshold = usage.map(|usage| (&usage.window, &usage.auto_compact_threshold, &usage.breakdown));
    let variables = steps::environment();
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(snapshot.fingerprint.as_bytes());
    fingerprint.add(format!("{:?} {threshold:?} {variables:?}", facts.model).as_bytes());
    fingerprint.finish()
}

/// What is wrong with the config, and what keeps the window from being reset.
fn notices(snapshot: &Snapshot, facts: &Facts, world: &World) -> Vec<String> {
    let mut lines = config::notices(snapshot.problems(), world.state_dir.as_deref());
    let config = snapshot.config();
    if facts.usage.is_some() && config.hooks.values().any(|row| row.enabled && row.run == "auto-reset") {
        // The first of the config's problems may be a margin that is none.
        let problem = lines.first().cloned().unwrap_or_default();
        let notices = steps::derivation(config, facts).notices.into_iter();
        lines.extend(
            notices
                .filter(|notice| !notice.is_said_in(&problem))
                .map(|notice| notice.text),
        );
    }
    lines
}
