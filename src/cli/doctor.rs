//! `notesoup doctor`.

use std::env;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::Global;
use crate::doctor::{Examination, Finding, Level, Part};

/// Look at program, client, plugin, config and notes: what is well, what is not, what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup doctor
  notesoup doctor --fix      put right what is safe to
  notesoup doctor --notes    the notes alone
  notesoup doctor --json     for scripts

Exit code 1 when something is wrong.")]
pub struct DoctorArgs {
    /// Put right what is safe to
    #[arg(long)]
    pub fix: bool,
    /// Look at the notes only
    #[arg(long)]
    pub notes: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Examines, and prints what it finds. Exit code 1 when something is wrong.
pub fn run(args: &DoctorArgs, global: &Global) -> ExitCode {
    let examination = Examination {
        fix: args.fix,
        only: args.notes.then_some(Part::Notes),
        program: env::current_exe().unwrap_or_default(),
        cwd: env::current_dir().unwrap_or_default(),
        world: global.world(),
    };
    let mut findings: Vec<Finding> = Vec::new();
    examination.run(&mut |finding| {
        if !args.json {
            show(&finding, findings.last().map(|last| last.part));
        }
        findings.push(finding);
    });
    let wrong = findings.iter().filter(|finding| finding.level == Level::Wrong).count();
    if args.json {
        let told = serde_json::json!({ "ok": wrong == 0, "findings": findings });
        let _ = writeln!(super::out::stdout(), "{told:#}");
    } else {
        let _ = match wrong {
            0 => writeln!(super::out::stdout(), "\nAll is well."),
            1 => writeln!(super::out::stdout(), "\nOne thing is wrong."),
            _ => writeln!(super::out::stdout(), "\n{wrong} things are wrong."),
        };
    }
    if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn show(finding: &Finding, last: Option<Part>) {
    let (mark, style) = match finding.level {
        Level::Well => ("ok", AnsiColor::Green.on_default()),
        Level::Note => ("note", AnsiColor::Yellow.on_default()),
        Level::Fixed => ("fixed", AnsiColor::Green.on_default().bold()),
        Level::Wrong => ("WRONG", AnsiColor::Red.on_default().bold()),
    };
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let mut out = super::out::stdout();
    if last != Some(finding.part) {
        let title = match finding.part {
            Part::Program => "Program",
            Part::Client => "Client",
            Part::Plugin => "Plugin",
            Part::Config => "Config",
            Part::Notes => "Notes",
        };
        let _ = writeln!(out, "{bold}{title}{bold:#}");
    }
    let mut lines = finding.line.lines();
    let _ = writeln!(out, "{style}{mark:>7}{style:#}  {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "         {line}");
    }
    for line in finding.remedy.iter().flat_map(|remedy| remedy.lines()) {
        let _ = writeln!(out, "         {dim}->{dim:#} {line}");
    }
}
