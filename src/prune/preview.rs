//! The report in words: lines for the client, readable at any width.

use super::plan::{Part, Reason};
use super::report::{CutFigures, Report, Verdict};
use super::words::size;

/// The narrowest lines that are made.
const LEAST_WIDTH: usize = 20;

/// The report as lines of at most `width` columns, for the client or a plain terminal.
pub fn lines(report: &Report, width: usize) -> Vec<String> {
    let mut page = Page {
        width: width.max(LEAST_WIDTH),
        lines: Vec::new(),
    };
    page.text(&headline(report));
    for remark in &report.remarks {
        page.text(remark);
    }
    target(&mut page, report);
    tools(&mut page, report);
    largest(&mut page, report);
    protected(&mut page, report);
    rest(&mut page, report);
    page.lines
}

/// The line for the person when a cut was done.
pub fn cut_line(report: &Report) -> String {
    let mut line = format!(
        "Pruned: {} → {} {}, {} cut.",
        tokens(report.tokens_before),
        tokens(report.tokens_after),
        less(report),
        counted(report.cuts, "output"),
    );
    if let Some(target) = report.target.as_ref().filter(|target| !target.met) {
        line.push_str(&format!(" {}", missed(report, target.tokens)));
    }
    let lost = lost(report);
    if !lost.is_empty() {
        line.push_str(&format!(" Not carried over: {lost}."));
    }
    line.push_str(" history_read gives back what was cut.");
    line
}

/// The line for the person when nothing was cut.
pub fn skip_line(report: &Report) -> String {
    match report.verdict {
        Verdict::UnderTarget => format!(
            "the context is at {}{}, under the target already; nothing was cut",
            tokens(report.tokens_before),
            estimate(report)
        ),
        Verdict::TooLittle => format!(
            "cutting would save {} % ({} → {}{}), less than the {} % that make it worth it; nothing was cut",
            report.saved_percent,
            tokens(report.tokens_before),
            tokens(report.tokens_after),
            aside(report),
            report.min_saving_percent
        ),
        Verdict::Nothing | Verdict::Cut => format!(
            "nothing is worth cutting ({}{}{})",
            tokens(report.tokens_before),
            aside(report),
            match staying(report) {
                parts if parts.is_empty() => "; no output of a tool is in it".to_owned(),
                parts => format!(": {parts}"),
            }
        ),
    }
}

fn headline(report: &Report) -> String {
    let command = match &report.target {
        Some(target) => format!("/compact prune {}", size(target.tokens)),
        None => "/compact prune".to_owned(),
    };
    match report.verdict {
        Verdict::Cut => format!(
            "{command} would cut {}: {} → {} {}.",
            counted(report.cuts, "output"),
            tokens(report.tokens_before),
            tokens(report.tokens_after),
            less(report)
        ),
        _ => {
            let line = skip_line(report).replace("; nothing was cut", "");
            format!("{command} would change nothing: {line}.")
        }
    }
}

fn target(page: &mut Page, report: &Report) {
    let Some(target) = &report.target else { return };
    if target.met {
        page.text(&format!("The target of {} is met.", tokens(target.tokens)));
        return;
    }
    page.text(&missed(report, target.tokens));
    for share in &target.rest {
        page.item(&format!("{:>7} {}", short(share.tokens), share.what));
    }
}

fn missed(report: &Report, target: u64) -> String {
    let largest = report
        .target
        .as_ref()
        .and_then(|target| target.rest.first())
        .map(|share| format!("; most of the rest is {} ({})", share.what, tokens(share.tokens)))
        .unwrap_or_default();
    format!(
        "The target of {} is out of reach by {}{largest}.",
        tokens(target),
        short(report.tokens_after.saturating_sub(target))
    )
}

fn tools(page: &mut Page, report: &Report) {
    let rows: Vec<_> = report.tools.iter().filter(|tool| tool.cut > 0).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("By tool");
    for tool in rows {
        page.item(&format!(
            "{}: {} → {}, {} cut in {}",
            tool.tool,
            short(tool.tokens_before),
            short(tool.tokens_after),
            tool.cut,
            counted(tool.calls, "call"),
        ));
    }
}

fn largest(page: &mut Page, report: &Report) {
    if report.largest.is_empty() {
        return;
    }
    page.heading("Largest cuts");
    for cut in &report.largest {
        page.item(&format!("{} {}", what(cut), why(cut)));
    }
    let more = report.cuts.saturating_sub(report.largest.len());
    if more > 0 {
        page.item(&format!("and {more} more"));
    }
}

/// The call by its tool and target, with its address.
fn what(cut: &CutFigures) -> String {
    let part = if cut.part == Part::Input { " (its input)" } else { "" };
    let address = match cut.seq {
        Some(seq) => format!("seq {seq}"),
        None => cut.tool_use_id.clone(),
    };
    format!(
        "-{} {} {}{part} [{address}]",
        short(cut.tokens_saved),
        cut.tool,
        cut.target
    )
}

fn why(cut: &CutFigures) -> &'static str {
    match cut.why {
        Reason::Superseded(stale) => stale.words(),
        _ => "",
    }
}

fn protected(page: &mut Page, report: &Report) {
    if report.protected.is_empty() {
        return;
    }
    page.heading("Protected");
    for group in &report.protected {
        let more = group.count - group.examples.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        page.item(&format!(
            "{} {}: {}{more}",
            short(group.tokens),
            group.why.words(),
            group.examples.join(", ")
        ));
    }
}

fn rest(page: &mut Page, report: &Report) {
    let mut items = Vec::new();
    let stays = stays(report);
    if !stays.is_empty() {
        items.push(format!("stay as they are: {stays}"));
    }
    if report.shortened > 0 {
        items.push(format!(
            "{} shortened, for the same reason",
            counted(report.shortened, "mentioned file")
        ));
    }
    if report.tokens_fixed > 0 {
        items.push(format!(
            "{} are system prompt, tools, instructions and media, which no cut changes",
            tokens(report.tokens_fixed)
        ));
    }
    if report.tokens_cached_again > 0 {
        items.push(format!(
            "{} behind the first cut would be written to the cache again",
            tokens(report.tokens_cached_again)
        ));
    }
    let lost = lost(report);
    if !lost.is_empty() {
        items.push(format!("a cut cannot carry over: {lost}"));
    }
    items.extend(
        report
            .faults
            .iter()
            .map(|fault| format!("not usable in the settings: {fault}")),
    );
    if !items.is_empty() {
        page.heading("Beside that");
    }
    for item in &items {
        page.item(item);
    }
}

/// The calls that a cut leaves alone, but for the protected ones; empty when there are none.
fn stays(report: &Report) -> String {
    let kept = &report.kept;
    some_of(&[
        (kept.pinned, "in the first and the newest messages"),
        (kept.short, "short"),
        (kept.already_cut, "cut before"),
        (kept.not_needed, "not needed for the target"),
        (kept.no_room, "for which an answer has no room"),
    ])
}

/// The same on one line, with the protected ones.
fn staying(report: &Report) -> String {
    let protected = report.protected.iter().map(|group| group.count).sum::<usize>();
    let protected = some_of(&[(protected, "protected")]);
    let parts = [protected, stays(report)];
    let parts: Vec<_> = parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect();
    parts.join(", ")
}

fn some_of(counts: &[(usize, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    parts.join(", ")
}

/// What does not come along, in words; empty when all does.
fn lost(report: &Report) -> String {
    let parts = [
        (report.media.images, "image"),
        (report.media.documents, "document"),
        (report.media.thinking, "thinking block"),
        (report.left_out.unanswered_calls, "unanswered call"),
        (report.left_out.orphan_results, "result without its call"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    parts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    match (count, what.split_once(' ')) {
        (1, _) => format!("1 {what}"),
        (_, Some(("result", rest))) => format!("{count} results {rest}"),
        _ => format!("{count} {what}s"),
    }
}

fn less(report: &Report) -> String {
    format!("({} % less{})", report.saved_percent, aside(report))
}

/// Within brackets.
fn aside(report: &Report) -> &'static str {
    if report.measured { "" } else { ", an estimate" }
}

fn estimate(report: &Report) -> &'static str {
    if report.measured { "" } else { " (an estimate)" }
}

fn tokens(count: u64) -> String {
    if count == 1 {
        return "1 token".to_owned();
    }
    format!("{} tokens", short(count))
}

/// A number of tokens as a person reads it: `950`, `9.4k`, `120k`, `1.2m`.
pub fn short(count: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = count as f64 / unit;
        if value < 99.95 {
            format!("{value:.1}{name}")
        } else {
            format!("{value:.0}{name}")
        }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..999_500 => scaled(1_000.0, "k"),
        _ => scaled(1_000_000.0, "m"),
    }
}

/// Lines that are broken at blanks, continuations hung in.
struct Page {
    width: usize,
    lines: Vec<String>,
}

impl Page {
    fn heading(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }

    fn text(&mut self, text: &str) {
        self.wrap("", "", text);
    }

    fn item(&mut self, text: &str) {
        self.wrap("  ", "    ", text);
    }

    fn wrap(&mut self, first: &str, next: &str, text: &str) {
        let mut line = first.to_owned();
        let mut blank = true;
        for word in text.split_whitespace() {
            let mut word = word.to_owned();
            loop {
                let gap = usize::from(!blank);
                let room = self.width.saturating_sub(columns(&line) + gap);
                if columns(&word) <= room {
                    if !blank {
                        line.push(' ');
                    }
                    line.push_str(&word);
                    blank = false;
                    break;
                }
                if blank {
                    // A word longer than a line, such as a path, is broken where the line ends.
                    let end = fitting(&word, room.max(2));
                    line.push_str(&word[..end]);
                    word.drain(..end);
                }
                self.lines.push(std::mem::replace(&mut line, next.to_owned()));
                blank = true;
            }
        }
        if !blank {
            self.lines.push(line);
        }
    }
}

fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// How many bytes of the word fit so many columns; at least one character.
fn fitting(word: &str, room: usize) -> usize {
    let mut used = 0;
    for (index, character) in word.char_indices() {
        used += unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if used > room && index > 0 {
            return index;
        }
    }
    word.len()
}
