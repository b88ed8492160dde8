//! The commands that write without an editor: `write` and `undo`.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Ended, ok_json, print, tool};
use crate::cli::answer::print_json;
use crate::notes::{MAX_NOTE_BYTES, Notes};
use crate::outcome::Refusal;

/// Write a whole note, from standard input or a file
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '# Taste' | notesoup notes write @human/taste
  notesoup notes write @project/decisions decisions.md    from a file

A note that is there already is replaced; what it was is kept (notesoup notes history).")]
pub(super) struct WriteArgs {
    /// The note; `.md` is added when missing
    address: String,
    /// Where the body comes from; standard input when left out or `-`
    file: Option<PathBuf>,
    /// Who the content is from: user, self or external
    #[arg(long, default_value = "user")]
    origin: String,
    /// Write only when the note is still at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Bring back what a note was before; what it is now is kept as well
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes undo @project/decisions
  notesoup notes undo @project/decisions --to 3    a number of notesoup notes history")]
pub(super) struct UndoArgs {
    /// The note
    address: String,
    /// Bring back this state of its history, not the newest
    #[arg(long, value_name = "NUMBER")]
    to: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn write(notes: &Notes, args: &WriteArgs) -> Ended {
    let content = match args.file.as_deref().filter(|file| *file != Path::new("-")) {
        Some(file) => fs::read(file).map_err(|error| unreadable(&file.display().to_string(), &error))?,
        None => {
            let mut bytes = Vec::new();
            let input = io::stdin().lock().take(MAX_NOTE_BYTES as u64 + 1);
            let mut input = input;
            input
                .read_to_end(&mut bytes)
                .map_err(|error| unreadable("standard input", &error))?;
            bytes
        }
    };
    let content = String::from_utf8(content)
        .map_err(|_| Refusal::new("invalid_arguments", "The body is not UTF-8 text. Nothing was written."))?;
    let input = json!({
        "address": args.address,
        "content": content,
        "origin": args.origin,
        "if_version": args.if_version,
    });
    tool(notes, "notes_write", &input, args.json)
}

fn unreadable(what: &str, error: &io::Error) -> Refusal {
    Refusal::new("io_error", format!("Cannot read {what}: {error}. Nothing was written."))
}

pub(super) fn undo(notes: &Notes, args: &UndoArgs) -> Ended {
    let undone = notes.undo(&args.address, args.to)?;
    if args.json {
        print_json(&ok_json(&undone));
    } else {
        print(&format!(
            "Brought back state {} of `{}` (version {}).",
            undone.number, undone.address, undone.version
        ));
        for remark in &undone.remarks {
            print(remark);
        }
    }
    Ok(ExitCode::SUCCESS)
}
