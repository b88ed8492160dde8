//! A conversation on a terminal, as lines with tabs where there is none, or as data.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::table::{self, Kind, column, local};
use crate::history::tools::{Began, Entry, Fold, Item, ListOutput, Window};
use crate::history::{Role, Shown, ToolStatus};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Shows windows; gives the data for `--json`.
pub(super) fn windows(windows: &[Window], json: bool) -> Option<Value> {
    if json {
        return Some(json!({ "windows": windows }));
    }
    let Some(width) = table::width() else {
        let lines = windows.iter().map(|window| {
            let fields = [
                window.window_id.clone(),
                word(&window.began),
                window.started_at.clone().unwrap_or_default(),
                number(window.first_seq),
                number(window.last_seq),
                one_line(window.first_prompt.as_deref().unwrap_or_default()),
            ];
            fields.join("\t")
        });
        print(&lines.collect::<Vec<_>>().join("\n"));
        return None;
    };
    let columns = [
        column("Window", Kind::Number),
        column("Began", Kind::Whole),
        column("When", Kind::Whole),
        column("Seqs", Kind::Whole),
        column("Calls", Kind::Number),
        column("First prompt", Kind::Stretch),
    ];
    let session = windows.first().and_then(|window| window.window_id.rsplit_once(':'));
    let rows = windows.iter().map(|window| {
        let ordinal = window.window_id.rsplit(':').next().unwrap_or_default();
        let seqs = match (window.first_seq, window.last_seq) {
            (Some(first), Some(last)) => format!("{first}-{last}"),
            _ => "-".to_owned(),
        };
        let began = match window.began {
            Began::Start => "start",
            Began::Compaction => "compaction",
            Began::Prune => "prune",
            Began::FreshWindow => "fresh window",
        };
        vec![
            ordinal.to_owned(),
            began.to_owned(),
            window.started_at.as_deref().map(local).unwrap_or_default(),
            seqs,
            window.tool.to_string(),
            one_line(&harmless(window.first_prompt.as_deref().unwrap_or_default())),
        ]
    });
    if let Some((session, _)) = session {
        print(&format!("{BOLD}{session}{BOLD:#}"));
    }
    print(&table::render(&columns, rows.collect(), width));
    None
}

/// Shows a page, hits of these texts marked; gives the data for `--json`.
pub(super) fn list(page: &ListOutput, query: &[String], json: bool) -> Option<Value> {
    if json {
        return serde_json::to_value(page).ok();
    }
    if table::width().is_none() {
        for entry in &page.items {
            print(&match entry {
                Entry::Item(item) => item_line(item),
                Entry::Fold(fold) => format!(
                    "{}-{}\t\tfolded\t\t\t{}",
                    fold.first_seq,
                    fold.last_seq,
                    one_line(&folded(fold))
                ),
            });
        }
        return None;
    }
    let mut text = String::new();
    let mut window = "";
    for entry in &page.items {
        let own = match entry {
            Entry::Item(item) => &item.window_id,
            Entry::Fold(fold) => &fold.window_id,
        };
        if window != own {
            let _ = writeln!(text, "{DIM}== {own}{DIM:#}\n");
            window = own;
        }
        match entry {
            Entry::Item(item) => on_terminal(&mut text, item, query),
            Entry::Fold(fold) => {
                let _ = writeln!(
                    text,
                    "{DIM}   {}: {}{DIM:#}\n",
                    range(fold.first_seq, fold.last_seq),
                    harmless(&folded(fold))
                );
            }
        }
    }
    if page.items.is_empty() {
        text.push_str(if query.is_empty() {
            "There is nothing here.\n"
        } else {
            "Nothing here has this text.\n"
        });
    }
    if let Some(before) = page.older_before {
        let _ = writeln!(text, "{DIM}Older: --before {before}{DIM:#}");
    }
    if let Some(after) = page.newer_after {
        let _ = writeln!(text, "{DIM}Newer: --after {after}{DIM:#}");
    }
    print(text.trim_end());
    None
}

/// Shows one event, byte for byte where there is no terminal; gives the data for `--json`.
pub(super) fn event(event: &Shown, json: bool) -> Option<Value> {
    if json {
        return serde_json::to_value(event).ok();
    }
    if table::width().is_none() {
        let _ = crate::cli::out::raw().write_all(event.text.as_bytes());
        return None;
    }
    let head = heading(
        event.seq,
        event.role,
        event.tool.as_deref(),
        event.tool_status,
        event.created_at.as_deref(),
    );
    let id = event.tool_use_id.as_deref().unwrap_or_default();
    print(&format!("{head}  {DIM}{}{DIM:#}", harmless(id)));
    print(harmless(&event.text).trim_end());
    None
}

fn on_terminal(text: &mut String, item: &Item, query: &[String]) {
    let head = heading(
        item.seq,
        item.role,
        item.tool.as_deref(),
        item.tool_status,
        item.created_at.as_deref(),
    );
    text.push_str(&head);
    match item.match_count {
        Some(1) | None => {}
        Some(count) => {
            let _ = write!(text, "  {DIM}{count} hits{DIM:#}");
        }
    }
    text.push('\n');
    let content = marked(item, query);
    for line in content.trim_end().lines() {
        let _ = writeln!(text, "  {line}");
    }
    if item.truncated {
        let shown = item.content.chars().count();
        let (seq, total) = (item.seq, item.total_chars);
        let _ = writeln!(
            text,
            "  {DIM}{shown} of {total} characters; all: history read {seq}{DIM:#}"
        );
    }
    text.push('\n');
}

fn heading(seq: u64, role: Role, tool: Option<&str>, status: Option<ToolStatus>, at: Option<&str>) -> String {
    let colour = match (role, status) {
        (_, Some(ToolStatus::Error)) => AnsiColor::Red,
        (Role::User, _) => AnsiColor::Green,
        (Role::Assistant, _) => AnsiColor::Cyan,
        (Role::Tool, _) => AnsiColor::Yellow,
        (Role::Context, _) => AnsiColor::BrightBlack,
    };
    let colour = colour.on_default();
    let mut who = word(&role);
    if let Some(tool) = tool {
        who = harmless(tool).into_owned();
    }
    if let Some(status) = status.filter(|status| *status != ToolStatus::Ok) {
        let _ = write!(who, " ({})", word(&status));
    }
    let at = at.map(local).unwrap_or_default();
    format!("{BOLD}{seq}{BOLD:#}  {colour}{who}{colour:#}  {DIM}{at}{DIM:#}")
}

/// The content without what a terminal would obey, its hits in bold.
fn marked(item: &Item, query: &[String]) -> String {
    let characters: Vec<char> = item.content.chars().collect();
    let start = item.content_offset_chars.unwrap_or(0);
    let offsets = item.match_offsets_chars.as_deref().unwrap_or_default();
    let hits = offsets.iter().filter_map(|at| at.checked_sub(start));
    let length = |at: usize| {
        let rest: String = characters.get(at..)?.iter().collect();
        let rest = rest.to_lowercase();
        let found = query.iter().filter(|text| rest.starts_with(&text.to_lowercase()));
        found.map(|text| text.chars().count()).max()
    };
    let mut text = String::new();
    let mut done = 0;
    for at in hits {
        let Some(end) = length(at)
            .map(|length| (at + length).min(characters.len()))
            .filter(|_| at >= done)
        else {
            continue;
        };
        let part = |from: usize, to: usize| characters[from..to].iter().collect::<String>();
        let _ = write!(
            text,
            "{}{BOLD}{}{BOLD:#}",
            harmless(&part(done, at)),
            harmless(&part(at, end))
        );
        done = end;
    }
    text.push_str(&harmless(
        &characters[done.min(characters.len())..].iter().collect::<String>(),
    ));
    text
}

/// What a fold holds, and how to see it.
fn folded(fold: &Fold) -> String {
    let mut parts: Vec<String> = fold
        .tools
        .iter()
        .map(|(tool, count)| format!("{count} {tool}"))
        .collect();
    let calls: usize = fold.tools.values().sum();
    if fold.count > calls {
        parts.push(format!("{} of context", fold.count - calls));
    }
    if fold.failed > 0 {
        parts.push(format!("{} failed", fold.failed));
    }
    let (after, before) = (fold.first_seq.saturating_sub(1), fold.last_seq + 1);
    format!(
        "{}; --after {after} --before {before} --role tool,context shows them",
        parts.join(", ")
    )
}

fn range(first: u64, last: u64) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

fn item_line(item: &Item) -> String {
    let status = item.tool_status.map(|status| word(&status)).unwrap_or_default();
    let fields = [
        item.seq.to_string(),
        item.created_at.clone().unwrap_or_default(),
        word(&item.role),
        one_line(item.tool.as_deref().unwrap_or_default()),
        status,
        one_line(&item.content),
    ];
    fields.join("\t")
}

/// On one line, without tabs.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An output of a program may hold what moves the cursor or renames the window: a terminal is shown its likeness.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_bad = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let likeness = |character: char| match character {
        '\r' => None,
        '\n' | '\t' => Some(character),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        _ if is_bad(character) => Some('\u{fffd}'),
        _ => Some(character),
    };
    Cow::Owned(text.chars().filter_map(likeness).collect())
}

/// The word that a value has in JSON.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn print(text: &str) {
    let _ = writeln!(crate::cli::out::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        assert_eq!(harmless("a\tb\nc"), "a\tb\nc");
        assert_eq!(
            harmless("\u{1b}]0;x\u{7}\r\n\u{9b}2J\u{7f}"),
            "␛]0;x␇\n\u{fffd}2J\u{fffd}"
        );
    }
}
