//! The commands that only look: `list`, `read`, `search`, `history`, `doctor`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::json;

use super::{Ended, ok_json, print};
use crate::cli::answer::print_json;
use crate::cli::table::{self, Kind, column, local, width, wrapped};
use crate::notes::tools::{Skipped, Unavailable, size};
use crate::notes::{Level, Notes};
use crate::outcome::Refusal;

/// List notes, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes list
  notesoup notes list '@project/**'
  notesoup notes list --wastebasket")]
pub(super) struct ListArgs {
    /// A glob over whole addresses: `*` within a part, `?` one character, `**` across parts
    pattern: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// List the wastebasket instead
    #[arg(long)]
    wastebasket: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Print a note's body
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes read @project/MAP
  notesoup notes read @human/taste --json    its version and its file, too")]
pub(super) struct ReadArgs {
    /// The note
    address: String,
    /// Print JSON, with the version
    #[arg(long)]
    pub(super) json: bool,
}

/// Search the bodies of notes for a text, whatever its case
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes search 'reset margin'
  notesoup notes search postgres sqlite --in '@project/**'    either word, in this project")]
pub(super) struct SearchArgs {
    /// The text; several find any of them
    #[arg(required = true)]
    query: Vec<String>,
    /// Only in notes whose address matches this glob
    #[arg(long = "in", value_name = "PATTERN")]
    pattern: Option<String>,
    /// Show at most this many notes
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Show at most this many lines of a note
    #[arg(long, short, value_name = "N", default_value_t = 5)]
    matches: usize,
    /// Search the wastebasket instead
    #[arg(long)]
    wastebasket: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// List what a note was before, or print one of these states
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes history @project/decisions
  notesoup notes history @project/decisions --show 3")]
pub(super) struct HistoryArgs {
    /// The note
    address: String,
    /// Print the file of this state
    #[arg(long, value_name = "NUMBER")]
    show: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Look for what is wrong with the notes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes doctor
  notesoup notes doctor --fix    put right what is safe to

Exit code 1 when something is wrong.")]
pub(super) struct DoctorArgs {
    /// Put right what is safe to
    #[arg(long)]
    fix: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn list(notes: &Notes, args: &ListArgs) -> Ended {
    let mut listing = notes.list(args.pattern.as_deref(), args.wastebasket)?;
    let total = listing.rows.len();
    listing.rows.truncate(args.limit.unwrap_or(usize::MAX));
    if args.json {
        let mut data = json!({ "total": total, "more": total - listing.rows.len() });
        merge(&mut data, &listing);
        print_json(&ok_json(&data));
        return Ok(ExitCode::SUCCESS);
    }
    let more = total - listing.rows.len();
    match table::width() {
        None => {
            // In one piece: a call of the system for each of thousands of lines costs more than the list.
            let mut lines = String::new();
            for row in &listing.rows {
                let _ = writeln!(
                    lines,
                    "{}\t{}\t{}\t{}",
                    row.address, row.title, row.bytes, row.updated_at
                );
            }
            print_all(&lines);
        }
        Some(_) if listing.rows.is_empty() => print("No notes."),
        Some(width) => {
            let columns = [
                column("Address", Kind::Whole),
                column("Title", Kind::Stretch),
                column("Size", Kind::Number),
                column("Changed", Kind::Whole),
            ];
            let cells = |row| {
                let crate::notes::tools::ListRow {
                    address,
                    title,
                    bytes,
                    updated_at,
                } = row;
                vec![address, title, size(bytes), local(&updated_at)]
            };
            print(&table::render(
                &columns,
                listing.rows.into_iter().map(cells).collect(),
                width,
            ));
        }
    }
    end(
        more,
        "notes",
        listing.crumpled_excluded,
        &listing.skipped,
        &listing.homes_unavailable,
    );
    Ok(ExitCode::SUCCESS)
}

pub(super) fn read(notes: &Notes, args: &ReadArgs) -> Ended {
    let whole = notes.whole(&args.address)?;
    if args.json {
        print_json(&ok_json(&json!({
            "address": whole.address,
            "version": whole.version,
            "is_utf8": whole.is_utf8,
            "file": whole.file,
            "body": whole.body,
        })));
    } else {
        // Byte for byte: what is read can be written back.
        let _ = crate::cli::out::raw().write_all(whole.body.as_bytes());
        if !whole.is_utf8 {
            warn(&format!(
                "{} is not UTF-8; this is a likeness of it",
                whole.file.display()
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn search(notes: &Notes, args: &SearchArgs) -> Ended {
    let most = args.matches.clamp(1, 1000);
    let mut found = notes.search(&args.query, args.pattern.as_deref(), most, args.wastebasket)?;
    let total = found.rows.len();
    found.rows.truncate(args.limit.unwrap_or(usize::MAX));
    let more = total - found.rows.len();
    if args.json {
        let mut data = json!({ "total": total, "more": more });
        merge(&mut data, &found);
        print_json(&ok_json(&data));
        return Ok(ExitCode::SUCCESS);
    }
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let width = table::width();
    let mut out = String::new();
    for (index, row) in found.rows.iter().enumerate() {
        let Some(width) = width else {
            for line in &row.matches {
                let _ = writeln!(out, "{}:{}:{}", row.address, line.line, line.text);
            }
            continue;
        };
        let gap = if index > 0 { "\n" } else { "" };
        let _ = writeln!(
            out,
            "{gap}{bold}{}{bold:#}  {dim}{}{dim:#}",
            row.address,
            local(&row.updated_at)
        );
        for line in &row.matches {
            let number = line.line.to_string();
            let text = table::fit(&line.text, width.saturating_sub(number.len().max(5) + 2));
            let _ = writeln!(out, "{dim}{number:>5}{dim:#}  {text}");
        }
        if row.more_matches > 0 {
            let lines = if row.more_matches == 1 { "line" } else { "lines" };
            let _ = writeln!(out, "{dim}       {} more {lines}{dim:#}", row.more_matches);
        }
    }
    print_all(&out);
    if found.rows.is_empty() && width.is_some() {
        print("No notes match.");
    }
    end(
        more,
        "notes match",
        found.crumpled_excluded,
        &found.skipped,
        &found.homes_unavailable,
    );
    Ok(ExitCode::SUCCESS)
}

pub(super) fn history(notes: &Notes, args: &HistoryArgs) -> Ended {
    let past = notes.history(&args.address)?;
    if let Some(number) = args.show {
        let state = past.iter().find(|state| state.number == number).ok_or_else(|| {
            Refusal::new(
                "not_found",
                format!("The history of {} has no state {number}.", args.address),
            )
        })?;
        let bytes = fs::read(&state.file)
            .map_err(|error| Refusal::new("io_error", format!("{}: {error}", state.file.display())))?;
        let _ = crate::cli::out::raw().write_all(&bytes);
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        print_json(&ok_json(&past));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(width) = table::width() else {
        for state in &past {
            let changed = state.updated_at.map(|at| at.to_string()).unwrap_or_default();
            print(&format!(
                "{}\t{}\t{}\t{changed}\t{}\t{}",
                state.number, state.replaced_by, state.bytes, state.version, state.title
            ));
        }
        return Ok(ExitCode::SUCCESS);
    };
    if past.is_empty() {
        print("Nothing has replaced this note yet.");
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [
        column("No.", Kind::Number),
        column("Changed", Kind::Whole),
        column("Replaced by", Kind::Whole),
        column("Size", Kind::Number),
        column("Version", Kind::Whole),
        column("Title", Kind::Stretch),
    ];
    let rows = past.into_iter().map(|state| {
        let changed = state.updated_at.map(|at| local(&at.to_string())).unwrap_or_default();
        vec![
            state.number.to_string(),
            changed,
            state.replaced_by,
            size(state.bytes),
            state.version,
            state.title,
        ]
    });
    print(&table::render(&columns, rows.collect(), width));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn doctor(notes: &Notes, args: &DoctorArgs) -> Ended {
    let findings = notes.doctor(args.fix);
    let wrong = findings.iter().filter(|finding| finding.level == Level::Wrong).count();
    if args.json {
        print_json(&json!({ "ok": wrong == 0, "findings": findings }));
    } else {
        let dim = Style::new().dimmed();
        let mut out = crate::cli::out::stdout();
        for finding in &findings {
            let (mark, style) = match finding.level {
                Level::Well => ("ok", AnsiColor::Green.on_default()),
                Level::Note => ("note", AnsiColor::Yellow.on_default()),
                Level::Fixed => ("fixed", AnsiColor::Green.on_default().bold()),
                Level::Wrong => ("WRONG", AnsiColor::Red.on_default().bold()),
            };
            for (place, line) in laid_out(&finding.line, 9).iter().enumerate() {
                let _ = match place {
                    0 => writeln!(out, "{style}{mark:>7}{style:#}  {line}"),
                    _ => writeln!(out, "         {line}"),
                };
            }
            for (place, line) in finding
                .remedy
                .iter()
                .flat_map(|remedy| laid_out(remedy, 12))
                .enumerate()
            {
                let _ = match place {
                    0 => writeln!(out, "         {dim}->{dim:#} {line}"),
                    _ => writeln!(out, "            {line}"),
                };
            }
        }
        match wrong {
            0 => print("\nAll is well."),
            1 => print("\nOne thing is wrong."),
            _ => print(&format!("\n{wrong} things are wrong.")),
        }
    }
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints lines that are there already.
fn print_all(lines: &str) {
    let _ = crate::cli::out::stdout().write_all(lines.as_bytes());
}

/// A sentence on the lines that the terminal has room for behind an indent; whole where there is none.
fn laid_out(text: &str, indent: usize) -> Vec<String> {
    width().map_or_else(
        || vec![text.to_owned()],
        |width| wrapped(text, width.saturating_sub(indent)),
    )
}

fn merge(data: &mut serde_json::Value, more: &impl serde::Serialize) {
    if let (Some(data), Ok(serde_json::Value::Object(more))) = (data.as_object_mut(), serde_json::to_value(more)) {
        data.extend(more);
    }
}

/// What is not in the output, on standard error, so that a script's input stays clean.
fn end(more: usize, what: &str, crumpled: usize, skipped: &Skipped, unavailable: &[Unavailable]) {
    if more > 0 {
        warn(&format!("{more} more {what}"));
    }
    if crumpled > 0 {
        warn(&format!("{crumpled} more in the wastebasket (--wastebasket)"));
    }
    if let Some(sentence) = skipped.sentence() {
        warn(&sentence);
    }
    for home in unavailable {
        warn(&format!("not available: {}: {}", home.home, home.reason));
    }
}

fn warn(line: &str) {
    let dim = Style::new().dimmed();
    let _ = writeln!(anstream::stderr(), "{dim}{line}{dim:#}");
}
