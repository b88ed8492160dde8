//! `notesoup notes edit`: in the person's editor, or by options.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};

use clap::Args;
use serde_json::{Value, json};

use super::{Ended, print, tool};
use crate::notes::Notes;
use crate::outcome::Refusal;

/// Change a note: in your editor ($VISUAL, $EDITOR), or by options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup notes edit @project/decisions
  notesoup notes edit @human/taste --append '- Short words.'
  notesoup notes edit @project/MAP --replace sqlite postgres --all
  notesoup notes edit @project/old --crumple    into the wastebasket; --smooth takes it out
  notesoup notes edit @project/old --rename-to @project/archive/old")]
pub(super) struct EditArgs {
    /// The note
    address: String,
    /// Put this text at the end
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    append: Option<String>,
    /// Replace one text by another; may be given several times
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], action = clap::ArgAction::Append, allow_hyphen_values = true)]
    replace: Vec<String>,
    /// Replace every place, not only one
    #[arg(long, requires = "replace")]
    all: bool,
    /// Say who the content is from: user, self or external
    #[arg(long)]
    origin: Option<String>,
    /// Put it in the wastebasket
    #[arg(long, conflicts_with = "smooth")]
    crumple: bool,
    /// Take it out of the wastebasket
    #[arg(long)]
    smooth: bool,
    /// Give it another address
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["append", "replace", "origin", "crumple", "smooth"])]
    rename_to: Option<String>,
    /// Change it only when it is still at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn edit(notes: &Notes, args: &EditArgs) -> Ended {
    let by_options = args.append.is_some()
        || !args.replace.is_empty()
        || args.origin.is_some()
        || args.crumple
        || args.smooth
        || args.rename_to.is_some();
    if !by_options {
        return in_editor(notes, args);
    }
    let edits: Vec<Value> = args
        .replace
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [old, new] => Some(json!({ "oldText": old, "newText": new })),
            _ => None,
        })
        .collect();
    let input = json!({
        "address": args.address,
        "edits": edits,
        "append": args.append,
        "origin": args.origin,
        "crumpled": match (args.crumple, args.smooth) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        "replace_all": args.all,
        "rename_to": args.rename_to,
        "if_version": args.if_version,
    });
    tool(notes, "notes_update", &input, args.json)
}

/// The body goes to a temporary file; what comes back is written only if nobody was quicker, and is never thrown away.
fn in_editor(notes: &Notes, args: &EditArgs) -> Ended {
    let whole = notes.whole(&args.address)?;
    if !whole.is_utf8 {
        let message = format!("{} is not UTF-8 text, so it is not edited.", whole.file.display());
        return Err(Refusal::new("io_error", message));
    }
    let failed = |error: std::io::Error| Refusal::new("io_error", format!("A temporary file cannot be used: {error}."));
    let temporary = tempfile::Builder::new()
        .prefix("note-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    fs::write(temporary.path(), &whole.body).map_err(failed)?;
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&editor).filter(|words| !words.is_empty());
    let Some((program, rest)) = words.as_deref().and_then(<[String]>::split_first) else {
        return Err(Refusal::new(
            "invalid_arguments",
            format!("$EDITOR cannot be understood: {editor}"),
        ));
    };
    let status = Command::new(program)
        .args(rest)
        .arg(temporary.path())
        .status()
        .map_err(|error| {
            Refusal::new(
                "io_error",
                format!("The editor `{editor}` cannot be started: {error}. Set EDITOR."),
            )
        })?;
    if !status.success() {
        return Err(Refusal::new(
            "io_error",
            format!("The editor ended with {status}. Nothing was written."),
        ));
    }
    let keep = |refusal: Refusal, temporary: tempfile::NamedTempFile| match temporary.keep() {
        Ok((_, path)) => Refusal {
            message: format!("{}\nYour text is in {}.", refusal.message, path.display()),
            ..refusal
        },
        Err(_) => refusal,
    };
    let edited = match fs::read(temporary.path()).map(String::from_utf8) {
        Ok(Ok(edited)) => edited,
        Ok(Err(_)) => {
            let refusal = Refusal::new(
                "invalid_arguments",
                "What you saved is not UTF-8 text. Nothing was written.",
            );
            return Err(keep(refusal, temporary));
        }
        Err(error) => return Err(failed(error)),
    };
    if edited == whole.body {
        print("Unchanged.");
        return Ok(ExitCode::SUCCESS);
    }
    let expected = args.if_version.clone().unwrap_or(whole.version);
    // As an update, so that a note of the wastebasket stays there.
    let input = if whole.body.is_empty() {
        json!({ "address": args.address, "append": edited, "if_version": expected })
    } else {
        let edit = json!({ "oldText": whole.body, "newText": edited });
        json!({ "address": args.address, "edits": [edit], "if_version": expected })
    };
    tool(notes, "notes_update", &input, args.json).map_err(|refusal| keep(refusal, temporary))
}
