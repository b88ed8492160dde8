//! `notesoup man`: pages made from the parser and the words below each `--help`, so that they cannot lag behind.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{Cli, fail, out};

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup man | man -l -
  notesoup man --dir ~/.local/share/man/man1    then: man notesoup-config-explain")]
pub struct ManArgs {
    /// Write one page a command into this folder instead
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints the manual page, or writes all of them.
pub fn run(args: &ManArgs) -> ExitCode {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(dir) = &args.dir else {
        return match page(&command) {
            Ok(page) => {
                let _ = out::raw().write_all(&page);
                ExitCode::SUCCESS
            }
            Err(err) => fail(&format!("the page cannot be made: {err}")),
        };
    };
    match fs::create_dir_all(dir).and_then(|()| write(&command, dir)) {
        Ok(pages) => {
            let _ = writeln!(out::stdout(), "{pages} pages are in {}.", dir.display());
            ExitCode::SUCCESS
        }
        Err(err) => fail(&format!("cannot write {}: {err}", dir.display())),
    }
}

/// Writes the page of a command and those of its subcommands; returns how many.
fn write(command: &Command, dir: &Path) -> io::Result<usize> {
    let name = format!("{}.1", full_name(command));
    fs::write(dir.join(name), page(command)?)?;
    command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .try_fold(1, |pages, sub| Ok(pages + write(sub, dir)?))
}

/// As the page is called, e.g. `notesoup-config-show`.
fn full_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let version = format!("notesoup {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version).manual("notesoup");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_help() {
        below(&after.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold(usage)]);
    roff
}

/// What stands below `--help`: an indented block stays as it is, under its heading.
fn below(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut has_notes = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_heading = line.ends_with(':') && lines.peek().is_some_and(|next| next.starts_with("  "));
        if is_heading {
            roff.control("SH", [line.trim_end_matches(':').to_uppercase().as_str()]);
            roff.control("nf", []);
            while let Some(line) = lines.next_if(|next| next.starts_with("  ")) {
                roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
            }
            roff.control("fi", []);
            has_notes = false;
        } else if !line.is_empty() {
            if has_notes {
                roff.control("PP", []);
            } else {
                roff.control("SH", ["NOTES"]);
            }
            has_notes = true;
            roff.text([roman(line)]);
        }
    }
    roff
}
