//! `notesoup config edit`: the person's editor, a check after saving, and a way back.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use super::{diagnostic, examine, init};
use crate::cli::{Global, fail};
use crate::paths::tilde;

/// Open your hooks.toml, or this project's file, in your editor; check it after saving
#[derive(Debug, Args)]
#[command(after_help = "\
The editor is $VISUAL, else $EDITOR, else vi. A file that is not there yet is written first, commented. \
When the file has an error after saving, you may edit it again, go back to what it was, or keep it: \
a session goes on with the file as it last was good.

Examples:
  notesoup config edit              your hooks.toml
  notesoup config edit --project    .claude/notesoup.toml of this folder
  EDITOR=nano notesoup config edit

Exit code 1 when the file has an error at the end.")]
pub struct EditArgs {
    /// .claude/notesoup.toml of this folder
    #[arg(long)]
    project: bool,
}

/// What the person wants to do about a bad file.
enum Choice {
    Again,
    Back,
    Keep,
}

/// Edits.
pub fn run(args: &EditArgs, global: &Global) -> ExitCode {
    let Some(path) = init::target(args.project, global) else {
        return fail("there is no home folder to write into; set HOME or XDG_CONFIG_HOME");
    };
    if let Err(error) = init::create(&path, args.project) {
        return fail(&format!("{} cannot be written: {error}", tilde(&path)));
    }
    let before = match fs::read(&path) {
        Ok(before) => before,
        Err(error) => return fail(&format!("{} cannot be read: {error}", tilde(&path))),
    };
    loop {
        if let Err(message) = open_editor(&path) {
            return fail(&message);
        }
        let examined = examine::files(std::slice::from_ref(&path), Some(args.project));
        let mut out = crate::cli::out::stdout();
        let _ = diagnostic::for_people(&mut out, &examined.problems);
        if examined.errors() == 0 {
            let _ = writeln!(out, "{} is good; it takes effect at the next event.", tilde(&path));
            return ExitCode::SUCCESS;
        }
        match ask() {
            Choice::Again => {}
            Choice::Back => {
                return match fs::write(&path, &before) {
                    Ok(()) => {
                        let _ = writeln!(out, "{} is as it was.", tilde(&path));
                        ExitCode::SUCCESS
                    }
                    Err(error) => fail(&format!("{} cannot be written: {error}", tilde(&path))),
                };
            }
            Choice::Keep => {
                let _ = writeln!(
                    out,
                    "{} is kept; sessions go on with it as it last was good.",
                    tilde(&path)
                );
                return ExitCode::FAILURE;
            }
        }
    }
}

/// Asks what to do; without a terminal the file is kept.
fn ask() -> Choice {
    if !io::stdin().is_terminal() {
        return Choice::Keep;
    }
    let mut out = crate::cli::out::stdout();
    loop {
        let _ = write!(out, "[e]dit again, go [b]ack to what it was, or [k]eep it? ");
        let _ = out.flush();
        let mut line = String::new();
        if !io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0) {
            return Choice::Keep;
        }
        match line.trim().chars().next() {
            Some('e' | 'E') | None => return Choice::Again,
            Some('b' | 'B') => return Choice::Back,
            Some('k' | 'K') => return Choice::Keep,
            _ => {}
        }
    }
}

fn open_editor(path: &Path) -> Result<(), String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&editor).unwrap_or_default();
    let Some((program, rest)) = words.split_first() else {
        return Err(format!("the editor `{editor}` cannot be understood; set EDITOR"));
    };
    let status = Command::new(program)
        .args(rest)
        .arg(path)
        .status()
        .map_err(|error| format!("the editor `{editor}` cannot be started: {error}; set EDITOR"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!(
            "the editor `{editor}` ended with {status}; the file is as it left it"
        ))
    }
}
