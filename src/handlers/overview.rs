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
    let mut line = match call.facts.usage.as_ref().and_then(|usage| marks.fill(usage)) {
        Some(fill) => {
            let full = (fill / marks.point * BAR_COLUMNS as f64).clamp(0.0, BAR_COLUMNS as f64) as usize;
            let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR_COLUMNS - full));
            let unit = if marks.unit == Unit::Tokens { " tokens" } else { "" };
            format!("fill {bar} {}{unit}", steps::figure(fill, marks.unit))
        }
        None => "fill not known yet".to_owned(),
    };
    // A mark at which no live row does anything is none.
    let switches = steps::switches(call.config);
    let warn_at = marks.warn_at.filter(|_| switches.warning && switches.reset);
    let live = [
        ("warning at", warn_at),
        ("reset at", switches.reset.then_some(marks.reset_at)),
        ("the client compacts at", (!switches.reset).then_some(marks.point)),
    ];
    for (what, at) in live {
        if let Some(at) = at {
            line.push_str(&format!(", {what} {}", steps::figure(at, marks.unit)));
        }
    }
    line
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::handlers::bench::Bench;
    use crate::wire::{Answer, Event};

    /// The line about the fill, with this table.
    fn fill(table: &str, tokens: Option<u64>) -> String {
        let command = json!({ "command": "notesoup", "args": "" });
        match Bench::new(table).ask(Event::CommandRun, &command, tokens).answer {
            Some(Answer::Lines { lines }) => lines.into_iter().find(|line| line.starts_with("fill")).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_mark_is_shown_where_something_happens_at_it() {
        let bar = format!("{}{}", "█".repeat(20), "░".repeat(20));
        assert_eq!(
            fill("", Some(500_000)),
            format!("fill {bar} 500,000 tokens, warning at 942,424, reset at 958,808")
        );
        assert_eq!(
            fill("", None),
            "fill not known yet, warning at 942,424, reset at 958,808"
        );
        let silent = "[hooks]\nwarning.enabled = false\nwarning-at-prompt.enabled = false\n";
        assert_eq!(fill(silent, None), "fill not known yet, reset at 958,808");
        assert_eq!(
            fill("profile = \"compact-shaper\"\n", Some(500_000)),
            format!("fill {bar} 500,000 tokens, the client compacts at 967,000")
        );
    }
}
