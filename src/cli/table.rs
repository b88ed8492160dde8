//! Tables as wide as the terminal; lines with tabs where there is none.

use std::io::{self, IsTerminal};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A terminal that does not say how wide it is, and the narrowest that is laid out for.
const DEFAULT_WIDTH: usize = 80;
const MIN_WIDTH: usize = 40;
/// A title is not cut below this width.
const MIN_STRETCH: usize = 12;

/// A column's heading and how it is laid out.
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) kind: Kind,
}

/// A column with this heading.
pub(super) const fn column(heading: &'static str, kind: Kind) -> Column {
    Column { heading, kind }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Shown whole, on several lines if need be.
    Whole,
    /// Right-aligned.
    Number,
    /// Cut to the width that is left.
    Stretch,
}

/// The terminal's width, or `None` when standard output is none.
pub(super) fn width() -> Option<usize> {
    let out = io::stdout();
    out.is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(&out).ok();
        let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        columns.unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH)
    })
}

/// The rows as a table of this width, without a line end.
pub(super) fn render(columns: &[Column], mut rows: Vec<Vec<String>>, width: usize) -> String {
    const GAP: usize = 2;
    let widest = |index: usize| {
        let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.width());
        cells
            .max()
            .unwrap_or(0)
            .max(columns.get(index).map_or(0, |column| column.heading.width()))
    };
    let others: usize = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.kind != Kind::Stretch)
        .map(|(index, column)| match column.kind {
            Kind::Whole => widest(index).min(width / 2) + GAP,
            _ => widest(index) + GAP,
        })
        .sum();
    let room = width.saturating_sub(others + GAP).max(MIN_STRETCH);
    for (index, column) in columns.iter().enumerate() {
        if column.kind == Kind::Stretch {
            for cell in rows.iter_mut().filter_map(|row| row.get_mut(index)) {
                *cell = fit(cell, room);
            }
        }
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(columns.iter().map(|column| column.heading))
        .add_rows(rows);
    for (index, column) in columns.iter().enumerate() {
        if let Some(laid_out) = table.column_mut(index) {
            laid_out.set_padding((0, 2));
            if column.kind == Kind::Number {
                laid_out.set_cell_alignment(CellAlignment::Right);
                // Digits on two lines are another number.
                laid_out.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A text cut to a width, `…` at its end when something is missing.
pub(super) fn fit(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let kept: String = text
        .chars()
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= room
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// A sentence on lines of this width; a word that is longer has a line of its own.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines
            .last_mut()
            .filter(|line| line.is_empty() || line.width() + 1 + word.width() <= width);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// An instant as the person's clock shows it.
pub(super) fn local(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(instant) => instant
            .to_zoned_datetime(TimeZone::system())
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        Err(_) => text.to_owned(),
    }
}
