//! A replay for a person: figures, the picture, what happened, and what each row did.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::super::table::{self, Column, Kind, column, local, render};
use super::chart::chart;
use crate::paths::tilde;
use crate::prune::short;
use crate::replay::{Happened, Moment, Replay, RowCount};

pub(super) use table::fit;

/// The page, `width` columns wide.
pub(super) fn page(replay: &Replay, width: usize) -> String {
    let (bold, dim, yellow) = (
        Style::new().bold(),
        Style::new().dimmed(),
        AnsiColor::Yellow.on_default(),
    );
    let mut out = String::new();
    let _ = writeln!(out, "{bold}{}{bold:#}", fit(&tilde(&replay.transcript), width));
    for line in figures(replay) {
        wrap(&mut out, &line, width, Style::new());
    }
    for remark in &replay.remarks {
        wrap(&mut out, remark, width, dim);
    }
    let picture = chart(replay, width);
    if !picture.is_empty() {
        let _ = write!(out, "\n{picture}");
    }
    let (told, lines): (Vec<&Moment>, Vec<&Moment>) =
        replay.moments.iter().partition(|moment| moment.what != Happened::Note);
    if told.is_empty() {
        let _ = writeln!(out, "\nNo row would have warned, reset or cut anything.");
    } else {
        let rows = told.iter().map(|moment| moment_row(moment)).collect();
        let _ = writeln!(
            out,
            "\n{bold}What would have happened{bold:#}\n{}",
            render(&MOMENTS, rows, width)
        );
    }
    let said = lines
        .iter()
        .chain(&told)
        .filter_map(|moment| Some((moment.turn, moment.line.as_ref()?)));
    for (turn, line) in said {
        wrap(&mut out, &format!("Turn {turn}: {line}"), width, yellow);
    }
    let rows = replay.rows.iter().map(count_row).collect();
    let _ = writeln!(out, "\n{bold}Rows{bold:#}\n{}", render(&ROWS, rows, width));
    out
}

fn figures(replay: &Replay) -> Vec<String> {
    let model = replay.model.as_deref().unwrap_or("an unnamed model");
    let marks = match replay.marks {
        None => "nothing can be reset in it".to_owned(),
        Some(marks) => {
            let warn = marks.warn_at.map(|at| format!("warning at {}, ", short(at as u64)));
            format!(
                "{}reset at {}, the client compacts at {}",
                warn.unwrap_or_default(),
                short(marks.reset_at as u64),
                short(marks.point as u64)
            )
        }
    };
    let windows = match (replay.windows_recorded, replay.windows_replayed) {
        (recorded, replayed) if recorded == replayed => format!("Windows: {recorded}, as recorded."),
        (1, replayed) => format!("Windows: {replayed}, where one was recorded."),
        (recorded, replayed) => format!("Windows: {replayed}, where {recorded} were recorded."),
    };
    vec![
        format!(
            "{}, {} of {model}; profile {}.",
            counted(replay.turns, "turn"),
            counted(replay.fill.len() as u64, "response"),
            replay.profile
        ),
        format!("A window of {}: {marks}.", short(replay.window)),
        format!("{windows} {}", input(replay)),
    ]
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn input(replay: &Replay) -> String {
    let (before, after) = (replay.input_recorded, replay.input_replayed);
    let change = if before == 0 {
        0.0
    } else {
        (after as f64 - before as f64) / before as f64 * 100.0
    };
    let change = match change {
        change if change <= -0.05 => format!("{:.1} % less", -change),
        change if change >= 0.05 => format!("{change:.1} % more, with the boots"),
        _ => "no difference".to_owned(),
    };
    format!(
        "Input of all requests: {} tokens recorded, {} under this table ({change}).",
        short(before),
        short(after)
    )
}

const MOMENTS: [Column; 8] = [
    column("Turn", Kind::Number),
    column("Seq", Kind::Number),
    column("When", Kind::Whole),
    column("What", Kind::Whole),
    column("Tokens", Kind::Number),
    column("After", Kind::Number),
    column("A cut", Kind::Number),
    column("Row", Kind::Stretch),
];

fn moment_row(moment: &Moment) -> Vec<String> {
    let tokens = |tokens: Option<u64>| tokens.map(short).unwrap_or_default();
    let when = moment.time.as_deref().map(local).unwrap_or_default();
    vec![
        moment.turn.to_string(),
        moment.seq.map(|seq| seq.to_string()).unwrap_or_default(),
        // The day and the minute; the year says nothing.
        when.get(5..).unwrap_or(&when).to_owned(),
        words(moment.what).to_owned(),
        short(moment.tokens),
        tokens(moment.tokens_after),
        tokens(moment.cut_would_leave),
        match &moment.row {
            Some(row) => row.clone(),
            None => format!("(the client, {})", moment.event),
        },
    ]
}

const fn words(what: Happened) -> &'static str {
    match what {
        Happened::Warning => "warning",
        Happened::CloseOut => "close-out",
        Happened::Reset => "reset",
        Happened::Cut => "cut",
        Happened::Summary => "summary",
        Happened::Refused => "refused",
        Happened::Note => "line",
    }
}

const ROWS: [Column; 6] = [
    column("Event", Kind::Whole),
    column("Row", Kind::Stretch),
    column("Runs", Kind::Whole),
    column("Came", Kind::Number),
    column("Asked", Kind::Number),
    column("Did", Kind::Number),
];

fn count_row(row: &RowCount) -> Vec<String> {
    vec![
        row.event.to_owned(),
        row.id.clone(),
        row.run.clone(),
        row.came.to_string(),
        row.asked.to_string(),
        row.did.to_string(),
    ]
}

/// A sentence on lines of this width.
fn wrap(out: &mut String, text: &str, width: usize, style: Style) {
    for line in table::wrapped(text, width) {
        let _ = writeln!(out, "{style}{line}{style:#}");
    }
}
