//! An event through the table: the live rows in their order, the first that answers ends it.

use crate::config::cache::Snapshot;
use crate::config::check::PERSON_ONLY;
use crate::config::{Config, Row};
use crate::texts::Scene;
use crate::wire::{ErrorKind, Event, Facts, Reply, Request, VERSION, Wake, WireError};

use super::trial::{Verdict, kind_of};
use super::{Call, Handler, SessionState, World, catalog, fields_of, steps};

/// Takes one event through the table.
///
/// # Errors
/// When the request is of another version, or names an event that does not exist. A handler that fails is no error:
/// the event goes on as if its row were not there.
pub fn dispatch(request: &Request<'_>, world: &mut World) -> Result<Reply, WireError> {
    walk(request, world, true, &mut |id, _, verdict| {
        tracing::debug!(event = %request.event, row = id, ?verdict);
    })
}

/// Takes the event through the table, and tells of each live row what became of it. Handlers that start programs are
/// passed over where `may_start_programs` is false.
pub(super) fn walk(
    request: &Request<'_>,
    world: &mut World,
    may_start_programs: bool,
    observe: &mut dyn FnMut(&str, &Row, Verdict),
) -> Result<Reply, WireError> {
    let event = check(request)?;
    let reply = Reply {
        v: VERSION,
        ..Reply::default()
    };
    world.distrust_variables_of(&request.facts.settings.project_env);
    let scene = Scene {
        model: request.facts.model.clone().unwrap_or_default(),
        headless: request.facts.headless,
    };
    let snapshot =
        Snapshot::take(&world.sources(&request.facts), world.state_dir.as_deref(), &catalog()).for_scene(scene);
    let rows = snapshot.rows_of(event.name());
    if rows.is_empty() {
        return Ok(reply);
    }

    let fields = fields_of(event, request.e, &request.facts);
    let before = SessionState::parse(request.state);
    let mut state = before.clone();
    let mut reply = reply;
    let mut has_answered = false;
    let is_mixed = is_mixed(&rows, event);
    for (id, row) in &rows {
        if has_answered {
            observe(id, row, Verdict::NotReached);
            continue;
        }
        if let Some(field) = row.mismatch(&fields) {
            let field = field.to_owned();
            observe(id, row, Verdict::Mismatch { field });
            continue;
        }
        let Some(handler) = Handler::find(&row.run) else {
            continue;
        };
        if !may_start_programs && PERSON_ONLY.contains(&handler.name) {
            observe(id, row, Verdict::NotRun);
            continue;
        }
        let config = snapshot.config();
        if is_mixed && !is_woken(handler, event, config, &request.facts, &state) {
            observe(id, row, Verdict::Passed);
            continue;
        }
        let mut call = Call {
            event,
            e: request.e,
            facts: &request.facts,
            config,
            id,
            row,
            world,
            state: &mut state,
            effects: Vec::new(),
        };
        let outcome = (handler.run)(&mut call);
        if !call.effects.is_empty() {
            reply.row = Some(id.clone());
        }
        reply.effects.append(&mut call.effects);
        match outcome {
            Ok(None) => observe(id, row, Verdict::Passed),
            Ok(Some(answer)) => {
                let kind = kind_of(&answer);
                reply.answer = Some(answer);
                reply.row = Some(id.clone());
                has_answered = true;
                observe(id, row, Verdict::Answered { answer: kind });
            }
            Err(failure) => {
                tracing::warn!(event = event.name(), row = id, handler = handler.name, %failure, "skipped");
                let reason = failure.to_string();
                observe(id, row, Verdict::Failed { reason });
            }
        }
    }
    state.is_reconciled = before.is_reconciled;
    if state != before {
        reply.state = serde_json::to_value(&state).ok();
        reply.watch = Some(steps::watch(snapshot.config(), &request.facts, &state.machine));
    }
    Ok(reply)
}

/// Whether a row that is woken every time brings along others of this event that wait for a mark: those are then to be
/// passed over here, since the courier has not looked at marks.
fn is_mixed(rows: &[(String, Row)], event: Event) -> bool {
    let wakes = || {
        rows.iter()
            .filter_map(|(_, row)| Some(Handler::find(&row.run)?.wakes_on(event)))
    };
    wakes().any(|wakes| wakes.contains(&Wake::Always)) && wakes().any(|wakes| !wakes.contains(&Wake::Always))
}

/// Whether the courier would start the program for this handler alone.
fn is_woken(handler: &Handler, event: Event, config: &Config, facts: &Facts, state: &SessionState) -> bool {
    let wakes = handler.wakes_on(event);
    if wakes.contains(&Wake::Always) {
        return true;
    }
    if facts.agent_id.is_some() {
        return false;
    }
    let watch = steps::watch(config, facts, &state.machine);
    let usage = facts.usage.as_ref();
    let level = usage.and_then(|usage| {
        if watch.percent {
            usage.percent.as_ref()
        } else {
            usage.tokens.as_ref()
        }
    });
    let level = level.and_then(|level| level.as_f64());
    let reached = |mark: Option<f64>| mark.zip(level).is_some_and(|(mark, level)| level >= mark);
    wakes.iter().any(|wake| match wake {
        Wake::Always => true,
        Wake::Pending => watch.pending,
        Wake::WarnMark => reached(watch.warn_at),
        Wake::ResetMark => reached(watch.reset_at),
        Wake::Rewound => watch.warned_at.is_some() && level.is_some() && !reached(watch.warned_at),
    })
}

fn check(request: &Request<'_>) -> Result<Event, WireError> {
    if request.v != VERSION {
        let update = if request.v > VERSION {
            "the program"
        } else {
            "the plugin"
        };
        return Err(WireError::new(
            ErrorKind::UnsupportedVersion,
            format!(
                "the request is of version {}, this program speaks version {VERSION}; update {update}",
                request.v
            ),
        ));
    }
    Event::from_name(&request.event).ok_or_else(|| {
        let known: Vec<_> = Event::ALL.iter().map(|event| event.name()).collect();
        WireError::new(
            ErrorKind::UnknownEvent,
            format!(
                "there is no event `{}`; {}",
                request.event,
                crate::config::suggestion(&request.event, known)
            ),
        )
    })
}
