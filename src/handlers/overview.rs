//! `overview`: the command `/notesoup`, which shows window, marks, live rows, notes and history at a glance.

use super::{Call, Failure, Handler, Registrations, no_options, notes, steps};
use crate::paths::tilde;
use crate::window::machine::Requester;
use crate::window::reset_point::Unit;
use crate::wire::{Answer, CommandSpec, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "overview",
    events: &[Event::CommandRun],
    wakes: &[],
    check_options: no_options,
    registers,
    run,
};

/// How wide the picture of the fill is.
const BAR_COLUMNS: usize = 40;

fn registers(registrations: &mut Registrations) {
    registrations.commands.push(CommandSpec {
        name: "notesoup".to_owned(),
        description: "Show this window, its marks, the notes and the history at a glance".to_owned(),
        argument_hint: None,
        immediate: true,
    });
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let mut lines = vec![window(call), fill(call)];
    lines.extend(request(call));
    lines.push(shelves(call));
    lines.push(match steps::transcript_path(call.facts) {
        Some(path) => format!("history: every word of this conversation, in {}", tilde(path)),
        None => "history: not available, the client has named no transcript".to_owned(),
    });
    let live: Vec<&str> = call
        .config
        .hooks
        .iter()
        .filter(|(_, row)| row.enabled)
        .map(|(id, _)| id.as_str())
        .collect();
    lines.push(format!(
        "profile {}: {} live rows ({})",
        call.config.profile,
        live.len(),
        live.join(", ")
    ));
    Ok(Some(Answer::Lines { lines }))
}

fn window(call: &Call<'_>) -> String {
    let machine = &call.state.machine;
    let Some(window) = &machine.window else {
        return "window: none yet; it begins with the first prompt".to_owned();
    };
    let mut words = vec![format!("window {}", window.id)];
    if window.warned {
        words.push("warned".to_owned());
    }
    if window.closed_out {
        words.push("closed out".to_owned());
    }
    words.join(", ")
}

fn fill(call: &Call<'_>) -> String {
    let derivation = steps::derivation(call.config, call.facts);
    let Some(marks) = derivation.marks else {
        let why = derivation
            .notices
            .first()
            .map_or("the client gives no figures", |notice| notice.text.as_str());
        return format!("fill: no marks ({why})");
    };
    let Some(fill) = call.facts.usage.as_ref().and_then(|usage| marks.fill(usage)) else {
        return format!(
            "fill: not known yet; reset at {}",
            steps::figure(marks.reset_at, marks.unit)
        );
    };
    let full = (fill / marks.point * BAR_COLUMNS as f64).clamp(0.0, BAR_COLUMNS as f64) as usize;
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR_COLUMNS - full));
    let unit = if marks.unit == Unit::Tokens { " tokens" } else { "" };
    let warning = marks
        .warn_at
        .map(|mark| format!(", warning at {}", steps::figure(mark, marks.unit)));
    format!(
        "fill {bar} {}{unit}{}, reset at {}",
        steps::figure(fill, marks.unit),
        warning.unwrap_or_default(),
        steps::figure(marks.reset_at, marks.unit)
    )
}

fn request(call: &Call<'_>) -> Option<String> {
    let who = match call.state.machine.pending.as_ref()?.by {
        Requester::Mark => "the reset mark",
        Requester::Person => "you",
        Requester::Model => "the model",
    };
    Some(format!(
        "a fresh window is due, asked for by {who}; it follows this turn"
    ))
}

fn shelves(call: &Call<'_>) -> String {
    match notes::open(call) {
        Err(Failure(reason)) => format!("notes: {reason}"),
        Ok(notes) => {
            let counts = notes.shelves().shelves.into_iter().map(|shelf| {
                let name = if shelf.prefix.is_empty() {
                    "session"
                } else {
                    shelf.prefix.trim_end_matches('/')
                };
                match shelf.unavailable {
                    Some(reason) => format!("{name} unavailable ({reason})"),
                    None => format!("{name} {}", shelf.total),
                }
            });
            format!("notes: {}", counts.collect::<Vec<_>>().join(", "))
        }
    }
}
