//! `status-line`: one line under the prompt that says how full the window is and what comes next. It never answers, so
//! the rows behind it run as without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Failure, Handler, accepts, registers_nothing, steps};
use crate::window::Marks;
use crate::wire::{Answer, Effect, Event};

/// The row's handler.
pub const HANDLER: Handler = Handler {
    name: "status-line",
    events: &[
        Event::ClassicSessionStart,
        Event::ClassicPostToolBatch,
        Event::SessionMeasure,
    ],
    wakes: &[],
    check_options: accepts::<Options>,
    registers: registers_nothing,
    run,
};

/// How wide the picture of the fill is, in columns.
const BAR_COLUMNS: usize = 12;

/// The options of the handler.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// When the line is there.
    show: Show,
}

/// When the line is there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Show {
    /// From one warning runway below the first mark on.
    #[default]
    Near,
    /// Whenever the client gives figures.
    Always,
}

fn run(call: &mut Call<'_>) -> Result<Option<Answer>, Failure> {
    let Options { show } = call.options()?;
    if !call.facts.headless {
        let text = line(call, show);
        call.effects.push(Effect::Status { text });
    }
    Ok(None)
}

/// The line; none while there is nothing to show, which takes away the one that is there.
fn line(call: &Call<'_>, show: Show) -> Option<String> {
    let marks = steps::derivation(call.config, call.facts).marks?;
    let fill = marks.fill(call.facts.usage.as_ref()?)?;
    if show == Show::Near && fill < near(&marks) {
        return None;
    }
    let full = (fill / marks.point * BAR_COLUMNS as f64).clamp(0.0, BAR_COLUMNS as f64) as usize;
    let mut values = vec![
        ("bar", format!("{}{}", "█".repeat(full), "░".repeat(BAR_COLUMNS - full))),
        ("tokens", steps::figure(fill, marks.unit)),
        ("point", steps::figure(marks.point, marks.unit)),
        ("next", next(call, &marks, fill)),
    ];
    // Windows are not counted where no row makes them.
    let name = match call.state.machine.window_id() {
        Some(window) => {
            values.push(("window_id", window.to_string()));
            values.push(("ordinal", window.ordinal.to_string()));
            "status_line"
        }
        None => "status_line_uncounted",
    };
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(call.text(name, &values))
}

/// From where on a mark is near: as far below the first mark as the warning is below the reset.
fn near(marks: &Marks) -> f64 {
    match marks.warn_at {
        Some(warn_at) => warn_at - (marks.reset_at - warn_at),
        None => marks.reset_at - (marks.point - marks.reset_at),
    }
}

/// What comes next. What the window's state no longer waits for, or what no live row does, is not promised.
fn next(call: &Call<'_>, marks: &Marks, fill: f64) -> String {
    // Which marks are watched; a new window watches for any figure at first, so the marks themselves are those derived.
    let watched = steps::watch(call.config, call.facts, &call.state.machine);
    let warn_at = watched.warn_at.and(marks.warn_at);
    let reset_at = watched.reset_at.map(|_| marks.reset_at);
    let until = |mark: f64| steps::figure(mark - fill, marks.unit);
    if call.state.machine.pending.is_some() || reset_at.is_some_and(|mark| fill >= mark) {
        return call.text("status_reset_now", &[]);
    }
    match (warn_at, reset_at) {
        (Some(mark), _) if fill >= mark => call.text("status_warning_now", &[]),
        (Some(mark), _) => call.text("status_warning", &[("until", &until(mark))]),
        (None, Some(mark)) => call.text("status_reset", &[("until", &until(mark))]),
        (None, None) => call.text("status_compaction", &[("until", &until(marks.point))]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::handlers::bench::Bench;
    use crate::wire::{Answer, Effect, Event};

    const ON: &str = "[hooks]\nstatus-line.enabled = true\nstatus-line-in-turn.enabled = true\nstatus-line-at-start.enabled = true\n";

    /// A session with the line switched on, begun.
    fn session(table: &str) -> Bench {
        let mut bench = Bench::new(&format!("{table}\n{ON}"));
        let (lines, _) = lines(
            &mut bench,
            Event::ClassicSessionStart,
            json!({ "source": "startup" }),
            None,
        );
        assert_eq!(lines, [None]);
        bench
    }

    /// The lines that an event sets, and its answer.
    fn lines(
        bench: &mut Bench,
        event: Event,
        input: Value,
        tokens: Option<u64>,
    ) -> (Vec<Option<String>>, Option<Answer>) {
        let reply = bench.ask(event, &input, tokens);
        let lines = reply.effects.into_iter().filter_map(|effect| match effect {
            Effect::Status { text } => Some(text),
            _ => None,
        });
        (lines.collect(), reply.answer)
    }

    /// The one line after a measure.
    fn measured(bench: &mut Bench, tokens: impl Into<Option<u64>>) -> Option<String> {
        let (mut lines, _) = lines(bench, Event::SessionMeasure, json!({}), tokens.into());
        assert_eq!(lines.len(), 1);
        lines.remove(0)
    }

    #[test]
    fn it_is_there_from_a_runway_below_the_first_mark_on_and_says_what_is_next() {
        let mut bench = session("");
        assert_eq!(measured(&mut bench, 20_000), None);
        assert_eq!(measured(&mut bench, 926_039), None);
        let near = measured(&mut bench, 926_040).unwrap();
        assert_eq!(
            near,
            "window :0 ███████████░ 926,040 of 967,000 · the model is warned in 16,384"
        );
        let near = measured(&mut bench, 942_424).unwrap();
        assert!(near.ends_with("· the model is warned now"), "{near}");
        let batch = json!({ "tool_calls": [] });
        let (batch, answer) = lines(&mut bench, Event::ClassicPostToolBatch, batch, Some(944_000));
        assert!(batch[0].as_ref().unwrap().contains("944,000"), "{batch:?}");
        assert!(
            matches!(answer, Some(Answer::Context { .. })),
            "the warning comes all the same"
        );
        let near = measured(&mut bench, 945_808).unwrap();
        assert!(near.ends_with("· a fresh window in 13,000"), "{near}");
        let near = measured(&mut bench, 958_808).unwrap();
        assert!(near.ends_with("· a fresh window follows this turn"), "{near}");
        // Right after a compaction the client has no figure, and the old one goes.
        assert_eq!(measured(&mut bench, None), None);
        // Nobody looks at a screen there.
        bench.headless = true;
        let (lines, _) = lines(&mut bench, Event::SessionMeasure, json!({}), Some(945_000));
        assert_eq!(lines, []);
    }

    #[test]
    fn where_no_row_makes_windows_none_is_counted_and_no_reset_promised() {
        let mut bench = session("profile = 'compact-shaper'");
        assert_eq!(measured(&mut bench, 20_000), None);
        let near = measured(&mut bench, 960_000).unwrap();
        assert_eq!(near, "███████████░ 960,000 of 967,000 · Claude Code compacts in 7,000");
    }
}
