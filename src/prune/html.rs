//! The report as one page that needs nothing else: where the room went, the fill over time, the figures.

use std::fmt::Write as _;

use super::picture::{Fate, Picture, Room};
use super::preview::{lines, short};
use super::report::Report;

/// Size of the drawings, in their own units.
const WIDTH: f64 = 1_000.0;
const MAP_HEIGHT: f64 = 460.0;
const FILL_HEIGHT: f64 = 180.0;
/// A label needs so much room.
const LABEL_WIDTH: f64 = 70.0;
const LABEL_HEIGHT: f64 = 18.0;
/// Width of a character of a label.
const LETTER: f64 = 6.4;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--dim:#667085;--paper:#fbfaf7;--card:#fff;--line:#e4e0d6;\
--cut:#c2513a;--protected:#3f7cac;--pinned:#4d9078;--stays:#a39a8a;--words:#8367a8;--fixed:#5b6472}\
@media(prefers-color-scheme:dark){:root{--ink:#e7e4dc;--dim:#9aa3b2;--paper:#15181e;--card:#1d2128;--line:#313742}}\
*{box-sizing:border-box}body{margin:0;padding:2.5rem 1.25rem;background:var(--paper);color:var(--ink);\
font:15px/1.55 ui-sans-serif,system-ui,sans-serif}main{max-width:1040px;margin:0 auto}\
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1rem;margin:2.25rem 0 .5rem}p{margin:.25rem 0;color:var(--dim)}\
.big{display:flex;flex-wrap:wrap;gap:1rem;margin-top:1.25rem}.big div{flex:1 1 9rem;background:var(--card);\
border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem}.big b{display:block;font-size:1.5rem;line-height:1.2}\
.big span{color:var(--dim);font-size:.85rem}svg{display:block;width:100%;height:auto;background:var(--card);\
border:1px solid var(--line);border-radius:10px}svg text{font:11px ui-monospace,monospace;fill:#fff;pointer-events:none}\
svg.fill text{fill:var(--dim)}rect.cell{stroke:var(--card);stroke-width:1.5}\
.legend{display:flex;flex-wrap:wrap;gap:.4rem 1.1rem;margin:.6rem 0;font-size:.85rem;color:var(--dim)}\
.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;margin-right:.4rem;vertical-align:-1px}\
.scroll{overflow-x:auto}.scroll svg{min-width:640px}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}\
th{color:var(--dim);font-weight:500;font-size:.85rem}td.n,th.n{text-align:right;white-space:nowrap}\
td code{font:12.5px ui-monospace,monospace;overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere;\
background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;font-size:12.5px}";

/// The page.
pub fn page(report: &Report, picture: &Picture, title: &str) -> String {
    let mut out = String::new();
    let title = escape(title);
    out.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    let _ = write!(
        out,
        "<title>Prune preview: {title}</title><style>{STYLE}</style></head><body><main>"
    );
    let words = lines(report, usize::MAX);
    let _ = write!(
        out,
        "<h1>{title}</h1><p>{}</p>",
        escape(words.first().map_or("", String::as_str))
    );
    figures(&mut out, report);
    out.push_str("<h2>Where the room went</h2>");
    legend(&mut out, picture);
    treemap(&mut out, &picture.room);
    if picture.fill.len() > 1 {
        out.push_str("<h2>How it filled, request by request</h2>");
        fill(&mut out, &picture.fill, report.tokens_after);
    }
    tables(&mut out, report);
    let _ = write!(
        out,
        "<h2>The whole report</h2><pre>{}</pre>",
        escape(&lines(report, 110).join("\n"))
    );
    out.push_str("</main></body></html>\n");
    out
}

fn figures(out: &mut String, report: &Report) {
    out.push_str("<div class=\"big\">");
    let estimate = if report.measured {
        "tokens"
    } else {
        "tokens, an estimate"
    };
    for (number, what) in [
        (short(report.tokens_before), format!("{estimate}, before")),
        (short(report.tokens_after), format!("{estimate}, after")),
        (format!("{} %", report.saved_percent), "saved".to_owned()),
        (report.cuts.to_string(), "outputs cut".to_owned()),
        (
            short(report.tokens_fixed),
            "system prompt, tools, instructions, media".to_owned(),
        ),
    ] {
        let _ = write!(
            out,
            "<div><b>{}</b><span>{}</span></div>",
            escape(&number),
            escape(&what)
        );
    }
    out.push_str("</div>");
}

const fn variable(fate: Fate) -> (&'static str, &'static str) {
    match fate {
        Fate::Cut => ("--cut", "cut; the lighter share goes"),
        Fate::Protected => ("--protected", "protected"),
        Fate::Pinned => ("--pinned", "first and newest messages"),
        Fate::Stays => ("--stays", "short, cut before, or not needed"),
        Fate::Words => ("--words", "words of the conversation"),
        Fate::Fixed => ("--fixed", "what no cut changes"),
    }
}

fn legend(out: &mut String, picture: &Picture) {
    out.push_str("<div class=\"legend\">");
    for fate in [
        Fate::Cut,
        Fate::Protected,
        Fate::Pinned,
        Fate::Stays,
        Fate::Words,
        Fate::Fixed,
    ] {
        let tokens: u64 = picture
            .room
            .iter()
            .filter(|room| room.fate == fate)
            .map(|room| room.before)
            .sum();
        if tokens > 0 {
            let (color, words) = variable(fate);
            let _ = write!(
                out,
                "<span><i style=\"background:var({color})\"></i>{words}: {}</span>",
                short(tokens)
            );
        }
    }
    out.push_str("</div>");
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

fn treemap(out: &mut String, room: &[Room]) {
    let _ = write!(
        out,
        "<div class=\"scroll\"><svg viewBox=\"0 0 {WIDTH} {MAP_HEIGHT}\" role=\"img\" aria-label=\"Parts of the context by size\">"
    );
    let sizes: Vec<f64> = room.iter().map(|part| part.before as f64).collect();
    let whole = Cell {
        x: 0.0,
        y: 0.0,
        width: WIDTH,
        height: MAP_HEIGHT,
    };
    let mut order: Vec<usize> = (0..room.len()).collect();
    order.sort_by(|left, right| sizes[*right].total_cmp(&sizes[*left]));
    let sorted: Vec<f64> = order.iter().map(|index| sizes[*index]).collect();
    for (index, cell) in order.into_iter().zip(squarify(&sorted, whole)) {
        draw(out, &room[index], cell);
    }
    out.push_str("</svg></div>");
}

fn draw(out: &mut String, part: &Room, cell: Cell) {
    let Cell { x, y, width, height } = cell;
    let (color, _) = variable(part.fate);
    let figures = if part.after < part.before {
        format!("{} → {}", short(part.before), short(part.after))
    } else {
        short(part.before)
    };
    let _ = write!(
        out,
        "<g><title>{} {}: {figures} tokens</title><rect class=\"cell\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" fill=\"var({color})\"/>",
        escape(&part.group),
        escape(&part.what)
    );
    if part.after < part.before {
        // What goes is drawn lighter, from above.
        let share = 1.0 - part.after as f64 / part.before as f64;
        let _ = write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"#fff\" fill-opacity=\".15\"/>",
            height * share
        );
    }
    if width > LABEL_WIDTH && height > LABEL_HEIGHT {
        let letters = ((width - 10.0) / LETTER).max(1.0) as usize;
        let (left, middle) = (x + 6.0, y + 14.0);
        let label = fitted(&format!("{} {figures}", part.group), letters);
        let _ = write!(out, "<text x=\"{left:.1}\" y=\"{middle:.1}\">{}</text>", escape(&label));
        if height > 2.0 * LABEL_HEIGHT {
            let what = fitted(&part.what, letters);
            let _ = write!(
                out,
                "<text x=\"{left:.1}\" y=\"{:.1}\" opacity=\".8\">{}</text>",
                middle + 14.0,
                escape(&what)
            );
        }
    }
    out.push_str("</g>");
}

/// Lays out sizes, the largest first, as rectangles that are as square as can be: each row is filled as long as its
/// worst shape gets better.
fn squarify(sizes: &[f64], whole: Cell) -> Vec<Cell> {
    let total: f64 = sizes.iter().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let scale = whole.width * whole.height / total;
    let areas: Vec<f64> = sizes.iter().map(|size| size * scale).collect();
    let mut cells = Vec::with_capacity(areas.len());
    let (mut free, mut start) = (whole, 0);
    while start < areas.len() {
        let side = free.width.min(free.height).max(f64::EPSILON);
        let mut end = start + 1;
        let mut sum = areas[start];
        while end < areas.len()
            && worst(&areas[start..=end], sum + areas[end], side) <= worst(&areas[start..end], sum, side)
        {
            sum += areas[end];
            end += 1;
        }
        let depth = sum / side;
        let mut along = 0.0;
        for area in &areas[start..end] {
            let length = area / depth.max(f64::EPSILON);
            cells.push(if free.width >= free.height {
                Cell {
                    x: free.x,
                    y: free.y + along,
                    width: depth,
                    height: length,
                }
            } else {
                Cell {
                    x: free.x + along,
                    y: free.y,
                    width: length,
                    height: depth,
                }
            });
            along += length;
        }
        if free.width >= free.height {
            free.x += depth;
            free.width = (free.width - depth).max(0.0);
        } else {
            free.y += depth;
            free.height = (free.height - depth).max(0.0);
        }
        start = end;
    }
    cells
}

/// The worst ratio of sides in a row of these areas.
fn worst(areas: &[f64], sum: f64, side: f64) -> f64 {
    let (largest, smallest) = (areas[0], areas[areas.len() - 1].max(f64::EPSILON));
    let (side, sum) = (side * side, sum * sum);
    (side * largest / sum).max(sum / (side * smallest))
}

fn fill(out: &mut String, points: &[u64], after: u64) {
    let most = points.iter().copied().max().unwrap_or(1).max(1) as f64 * 1.08;
    let x = |index: usize| 10.0 + index as f64 / (points.len() - 1) as f64 * (WIDTH - 20.0);
    let y = |tokens: u64| FILL_HEIGHT - 22.0 - tokens as f64 / most * (FILL_HEIGHT - 36.0);
    let _ = write!(
        out,
        "<div class=\"scroll\"><svg class=\"fill\" viewBox=\"0 0 {WIDTH} {FILL_HEIGHT}\" role=\"img\" aria-label=\"Tokens of each request\">"
    );
    let line: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(index, tokens)| format!("{:.1},{:.1}", x(index), y(*tokens)))
        .collect();
    let line = line.join(" ");
    let ground = FILL_HEIGHT - 22.0;
    let _ = write!(
        out,
        "<polygon points=\"10,{ground} {line} {:.1},{ground}\" fill=\"var(--protected)\" fill-opacity=\".16\"/>\
         <polyline points=\"{line}\" fill=\"none\" stroke=\"var(--protected)\" stroke-width=\"2\"/>",
        WIDTH - 10.0
    );
    let level = y(after);
    let _ = write!(
        out,
        "<line x1=\"10\" x2=\"{:.1}\" y1=\"{level:.1}\" y2=\"{level:.1}\" stroke=\"var(--cut)\" stroke-dasharray=\"5 4\"/>\
         <text x=\"14\" y=\"{:.1}\">after the cut: {}</text>",
        WIDTH - 10.0,
        level - 5.0,
        short(after)
    );
    let _ = write!(
        out,
        "<text x=\"10\" y=\"{0:.1}\">first request: {1}</text><text x=\"{2:.1}\" y=\"{0:.1}\" text-anchor=\"end\">request {3}: {4}</text></svg></div>",
        FILL_HEIGHT - 7.0,
        short(points[0]),
        WIDTH - 10.0,
        points.len(),
        short(points[points.len() - 1])
    );
}

fn tables(out: &mut String, report: &Report) {
    if !report.tools.is_empty() {
        out.push_str("<h2>By tool</h2><div class=\"scroll\"><table><tr><th>Tool</th><th class=\"n\">Calls</th><th class=\"n\">Cut</th><th class=\"n\">Before</th><th class=\"n\">After</th></tr>");
        for tool in &report.tools {
            let _ = write!(
                out,
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escape(&tool.tool),
                tool.calls,
                tool.cut,
                short(tool.tokens_before),
                short(tool.tokens_after)
            );
        }
        out.push_str("</table></div>");
    }
    if !report.largest.is_empty() {
        out.push_str("<h2>Largest cuts</h2><div class=\"scroll\"><table><tr><th class=\"n\">Saves</th><th>Tool</th><th>What</th><th>history_read with</th></tr>");
        for cut in &report.largest {
            let _ = write!(
                out,
                "<tr><td class=\"n\">{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code></td></tr>",
                short(cut.tokens_saved),
                escape(&cut.tool),
                escape(&cut.target),
                escape(&cut.tool_use_id)
            );
        }
        out.push_str("</table></div>");
    }
}

fn fitted(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_treemap_fills_its_place_without_overlap() {
        let whole = Cell {
            x: 0.0,
            y: 0.0,
            width: 600.0,
            height: 400.0,
        };
        let sizes = [60.0, 60.0, 40.0, 30.0, 20.0, 20.0, 10.0, 1.0, 0.001];
        let cells = squarify(&sizes, whole);
        let area: f64 = cells.iter().map(|cell| cell.width * cell.height).sum();
        assert!((area - 240_000.0).abs() < 1.0);
        for (index, one) in cells.iter().enumerate() {
            assert!(one.x >= 0.0 && one.y >= 0.0 && one.x + one.width < 600.01 && one.y + one.height < 400.01);
            for other in &cells[index + 1..] {
                let apart = one.x + one.width <= other.x + 0.01
                    || other.x + other.width <= one.x + 0.01
                    || one.y + one.height <= other.y + 0.01
                    || other.y + other.height <= one.y + 0.01;
                assert!(apart, "{one:?} {other:?}");
            }
        }
        assert!(squarify(&[], whole).is_empty());
    }

    #[test]
    fn nothing_of_the_conversation_becomes_markup() {
        assert_eq!(escape("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
    }
}
