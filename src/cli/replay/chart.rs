//! The fill of the window over the conversation, drawn with letters.

use anstyle::{AnsiColor, Style};

use crate::prune::short;
use crate::replay::{Happened, Replay};

/// Lines of the picture.
const HEIGHT: usize = 10;
/// Columns of the scale at the left.
const SCALE: usize = 8;
const EIGHTHS: [char; 8] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// The picture, `width` columns wide; empty for a conversation of one response.
pub(super) fn chart(replay: &Replay, width: usize) -> String {
    let points = replay.fill.len();
    let room = width.saturating_sub(SCALE + 1);
    if points < 2 || room < 10 {
        return String::new();
    }
    let columns = Columns::new(replay, room);
    let point = replay.marks.map_or(0.0, |marks| marks.point);
    let most = columns.most().max(point).max(1.0);
    let line_of = |tokens: f64| ((tokens / most * HEIGHT as f64).ceil() as usize).clamp(1, HEIGHT);
    let marks: Vec<(usize, &str, f64)> = replay
        .marks
        .iter()
        .flat_map(|marks| {
            let warn = marks.warn_at.map(|at| ("warn", at));
            [Some(("full", marks.point)), Some(("reset", marks.reset_at)), warn]
        })
        .flatten()
        .map(|(name, at)| (line_of(at), name, at))
        .collect();
    let dim = Style::new().dimmed();
    let (green, yellow) = (AnsiColor::Green.on_default(), AnsiColor::Yellow.on_default());
    let mut out = String::new();
    for line in (1..=HEIGHT).rev() {
        let at_line: Vec<_> = marks.iter().filter(|(of, ..)| *of == line).collect();
        let scale = match at_line.first() {
            Some((_, _, at)) => short(*at as u64),
            None if line == HEIGHT || line == HEIGHT / 2 => short((most * line as f64 / HEIGHT as f64) as u64),
            None => String::new(),
        };
        out.push_str(&format!("{dim}{scale:>width$}│{dim:#}", width = SCALE - 1));
        let rule = if at_line.is_empty() { ' ' } else { '┄' };
        let mut cells = Vec::with_capacity(columns.of.len());
        for (recorded, replayed) in &columns.of {
            let part = |tokens: f64| {
                let eighths = tokens / most * (HEIGHT * 8) as f64 - ((line - 1) * 8) as f64;
                eighths.round().clamp(0.0, 8.0) as usize
            };
            cells.push(match (part(*replayed), part(*recorded)) {
                (8, _) => (green, '█'),
                (0, 0) => (dim, rule),
                (0, _) => (dim, '░'),
                (some, _) => (green, EIGHTHS[some]),
            });
        }
        // A line of blanks at the end says nothing.
        let end = cells
            .iter()
            .rposition(|(_, cell)| *cell != ' ')
            .map_or(0, |last| last + 1);
        for run in cells[..end].chunk_by(|(left, _), (right, _)| left == right) {
            let style = run.first().map_or(dim, |(style, _)| *style);
            let letters: String = run.iter().map(|(_, letter)| letter).collect();
            out.push_str(&format!("{style}{letters}{style:#}"));
        }
        let names: Vec<&str> = at_line.iter().map(|(_, name, _)| *name).collect();
        if !names.is_empty() && columns.of.len() + names.join(", ").len() < room {
            out.push_str(&format!("{dim} {}{dim:#}", names.join(", ")));
        }
        out.push('\n');
    }
    let below = columns.letters(replay);
    let below = below.trim_end();
    let bars = match room {
        0..85 => "█ now  ░ recorded",
        _ => "█ under this table  ░ as recorded",
    };
    let letters = if below.is_empty() {
        ""
    } else {
        out.push_str(&format!("{:SCALE$}{yellow}{below}{yellow:#}\n", ""));
        "  w warning  c close-out  R reset  P cut  S summary"
    };
    out.push_str(&format!(
        "{:SCALE$}{dim}{}{dim:#}\n",
        "",
        super::page::fit(&format!("{bars}{letters}"), room)
    ));
    out
}

/// The points, as many to a column as it takes.
struct Columns {
    /// The fullest of each, as recorded and as replayed.
    of: Vec<(f64, f64)>,
    points: usize,
}

impl Columns {
    fn new(replay: &Replay, room: usize) -> Self {
        let points = replay.fill.len();
        let count = points.min(room);
        let mut of = vec![(0.0_f64, 0.0_f64); count];
        for (at, point) in replay.fill.iter().enumerate() {
            let column = &mut of[at * count / points];
            column.0 = column.0.max(point.recorded as f64);
            column.1 = column.1.max(point.replayed as f64);
        }
        Self { of, points }
    }

    fn most(&self) -> f64 {
        self.of
            .iter()
            .map(|(recorded, replayed)| recorded.max(*replayed))
            .fold(0.0, f64::max)
    }

    /// What happened at which column; of several the weightiest.
    fn letters(&self, replay: &Replay) -> String {
        let mut letters = vec![(0, ' '); self.of.len()];
        for moment in &replay.moments {
            let (weight, letter) = match moment.what {
                Happened::Reset => (5, 'R'),
                Happened::Cut => (4, 'P'),
                Happened::Summary => (3, 'S'),
                Happened::Warning => (2, 'w'),
                Happened::CloseOut => (1, 'c'),
                Happened::Refused | Happened::Note => continue,
            };
            let at = moment.response.saturating_sub(1).min(self.points - 1) * self.of.len() / self.points;
            letters[at] = letters[at].max((weight, letter));
        }
        letters.into_iter().map(|(_, letter)| letter).collect()
    }
}
