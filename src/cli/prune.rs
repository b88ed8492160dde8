//! `notesoup prune`.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::Global;
use super::replay::newest;
use super::table::{Column, Kind, column, fit, render, width};
use crate::config;
use crate::handlers::catalog;
use crate::paths::tilde;
use crate::prune::{
    PreviewInput, Reason, Report, Seqs, Verdict, html_page, lines, parse_tokens, preview_with_picture, short,
};
use crate::wire::Facts;

/// The width of lines that go into a file or a pipe.
const PLAIN_WIDTH: usize = 100;

/// Show what a cut of a conversation would save
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup prune --preview                           your newest conversation in this folder
  notesoup prune --preview ~/.claude/projects/-my-project/0b1c….jsonl
  notesoup prune --preview FILE --to 120k            only as much as it takes
  notesoup prune --preview FILE --html=report.html   a picture of where the room went

In a session: /prune-preview shows the same, /compact prune does it. Nothing is ever written to the transcript.")]
pub struct PruneArgs {
    /// The transcript of the conversation; without it, the newest that was held in this folder
    #[arg(long, value_name = "TRANSCRIPT", required = true, num_args = 0..=1)]
    pub preview: Option<PathBuf>,
    /// Cut only down to so many tokens (120k, 120000)
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub to: Option<u64>,
    /// Where the conversation ends: the uuid of a row; without it, the last row of the main conversation
    #[arg(long, value_name = "UUID")]
    pub head: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Make one self-contained page: to FILE, or to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", conflicts_with = "json")]
    pub html: Option<PathBuf>,
}

fn tokens(text: &str) -> Result<u64, String> {
    parse_tokens(text)
        .filter(|tokens| *tokens > 0)
        .ok_or_else(|| "write a number of tokens, such as 120k or 120000".to_owned())
}

/// Shows the preview. Exit code 1 when the transcript cannot be read.
pub fn run(args: &PruneArgs, global: &Global) -> ExitCode {
    let facts = Facts {
        cwd: env::current_dir().ok().map(|cwd| cwd.to_string_lossy().into_owned()),
        ..Facts::default()
    };
    let config = config::load(&global.world().sources(&facts), &catalog()).config;
    let transcript = match &args.preview {
        Some(file) => Ok(file.clone()),
        None => newest(1, env::current_dir().ok().as_deref()).map(|mut files| files.pop().unwrap_or_default()),
    };
    let transcript = match transcript {
        Ok(transcript) => transcript,
        Err(line) => return super::fail(&line),
    };
    let seqs = Seqs::new(Some(transcript.clone()), None);
    let looked = preview_with_picture(&PreviewInput {
        transcript: &transcript,
        head: args.head.as_deref(),
        options: &config.prune,
        // Paths of the transcript belong to the folder it was made in, not to this one.
        cwd: None,
        tokens: None,
        target: args.to,
        seq: &|id| seqs.of(id),
    });
    let (mut report, picture) = match looked {
        Ok(looked) => looked,
        Err(error) => return super::fail(&error.to_string()),
    };
    if args.preview.is_none() {
        report.remarks.push(format!(
            "The newest conversation of this folder: {}.",
            tilde(&transcript)
        ));
    }
    if args.head.is_none() {
        report.remarks.push(
            "The last row of the file is taken for the end of the conversation; --head UUID names another.".to_owned(),
        );
    }
    if let Some(file) = &args.html {
        return write_page(file, &html_page(&report, &picture, &name(&transcript)));
    }
    let mut out = super::out::stdout();
    let _ = match (args.json, width()) {
        (true, _) => writeln!(out, "{:#}", serde_json::to_value(&report).unwrap_or_default()),
        (false, Some(width)) => write!(out, "{}", on_terminal(&report, width)),
        (false, None) => writeln!(out, "{}", lines(&report, PLAIN_WIDTH).join("\n")),
    };
    ExitCode::SUCCESS
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn write_page(file: &Path, page: &str) -> ExitCode {
    if file == Path::new("-") {
        let _ = write!(super::out::stdout(), "{page}");
        return ExitCode::SUCCESS;
    }
    match fs::write(file, page) {
        Ok(()) => {
            let _ = writeln!(super::out::stdout(), "{}", file.display());
            ExitCode::SUCCESS
        }
        Err(error) => super::fail(&format!("cannot write {}: {error}", file.display())),
    }
}

/// The report with colours and tables, for a terminal of this width.
fn on_terminal(report: &Report, width: usize) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let mark = match report.verdict {
        Verdict::Cut => AnsiColor::Green.on_default().bold(),
        _ => AnsiColor::Yellow.on_default().bold(),
    };
    let all = lines(report, width);
    let mut page = Page {
        out: String::new(),
        bold,
    };
    // The words before the first table are those of the plain report.
    let prose = all.iter().take_while(|line| !is_heading(line));
    for (index, line) in prose.enumerate() {
        let style = if index == 0 { mark } else { dim };
        page.out.push_str(&format!("{style}{line}{style:#}\n"));
    }
    page.table("By tool", &tool_columns(), tool_rows(report), width);
    page.table("Largest cuts", &cut_columns(), cut_rows(report), width);
    page.table("Protected", &protected_columns(), protected_rows(report, width), width);
    let rest = all.iter().skip_while(|line| *line != "Beside that");
    for line in rest {
        if is_heading(line) {
            page.out.push_str(&format!("\n{bold}{line}{bold:#}\n"));
        } else {
            page.out.push_str(&format!("{dim}{line}{dim:#}\n"));
        }
    }
    page.out
}

fn is_heading(line: &str) -> bool {
    matches!(line, "By tool" | "Largest cuts" | "Protected" | "Beside that")
}

struct Page {
    out: String,
    bold: Style,
}

impl Page {
    fn table(&mut self, heading: &str, columns: &[Column], rows: Vec<Vec<String>>, width: usize) {
        if rows.is_empty() {
            return;
        }
        let bold = self.bold;
        self.out.push_str(&format!(
            "\n{bold}{heading}{bold:#}\n{}\n",
            render(columns, rows, width)
        ));
    }
}

fn tool_columns() -> [Column; 5] {
    [
        column("Tool", Kind::Stretch),
        column("Calls", Kind::Number),
        column("Cut", Kind::Number),
        column("Before", Kind::Number),
        column("After", Kind::Number),
    ]
}

fn tool_rows(report: &Report) -> Vec<Vec<String>> {
    let row = |tool: &crate::prune::ToolFigures| {
        vec![
            tool.tool.clone(),
            tool.calls.to_string(),
            tool.cut.to_string(),
            short(tool.tokens_before),
            short(tool.tokens_after),
        ]
    };
    report.tools.iter().map(row).collect()
}

fn cut_columns() -> [Column; 4] {
    [
        column("Saves", Kind::Number),
        column("Tool", Kind::Whole),
        column("What", Kind::Stretch),
        column("Why", Kind::Whole),
    ]
}

fn cut_rows(report: &Report) -> Vec<Vec<String>> {
    let row = |cut: &crate::prune::CutFigures| {
        let why = match cut.why {
            Reason::Superseded(crate::prune::Stale::Edited) => "edited later",
            Reason::Superseded(crate::prune::Stale::ReadAgain) => "read again",
            _ => "",
        };
        vec![
            short(cut.tokens_saved),
            cut.tool.clone(),
            cut.target.clone(),
            why.to_owned(),
        ]
    };
    report.largest.iter().map(row).collect()
}

fn protected_columns() -> [Column; 3] {
    [
        column("Tokens", Kind::Number),
        column("Why", Kind::Whole),
        column("What", Kind::Stretch),
    ]
}

fn protected_rows(report: &Report, width: usize) -> Vec<Vec<String>> {
    let row = |group: &crate::prune::ProtectedFigures| {
        let more = group.count.saturating_sub(group.examples.len());
        let more = if more > 0 {
            format!(", {more} more")
        } else {
            String::new()
        };
        vec![
            short(group.tokens),
            fit(group.why.words(), width / 3),
            format!("{}{more}", group.examples.join(", ")),
        ]
    };
    report.protected.iter().map(row).collect()
}
