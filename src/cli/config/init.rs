//! `notesoup config init`: a commented file to start from.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::cli::{Global, fail};
use crate::config::DEFAULT_TEXT;
use crate::paths::{self, tilde};
use crate::schema;

/// The schema's file beside the person's.
const SCHEMA: &str = "hooks.schema.json";

/// Write a commented file to start from: yours, or this project's
#[derive(Debug, Args)]
#[command(after_help = "\
Every value in the file stands in a comment with its default, so that nothing changes until you take a `#` away.

Examples:
  notesoup config init              your hooks.toml
  notesoup config init --project    .claude/notesoup.toml of this folder")]
pub struct InitArgs {
    /// Your own hooks.toml (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// .claude/notesoup.toml of this folder
    #[arg(long)]
    project: bool,
}

/// Writes the file. Exit code 1 when it is there already, or cannot be written.
pub fn run(args: &InitArgs, global: &Global) -> ExitCode {
    let Some(path) = target(args.project, global) else {
        return fail("there is no home folder to write into; set HOME or XDG_CONFIG_HOME");
    };
    match create(&path, args.project) {
        Ok(true) => {
            let _ = writeln!(
                crate::cli::out::stdout(),
                "{} is written; `notesoup config edit{}` opens it.",
                tilde(&path),
                if args.project { " --project" } else { "" }
            );
            ExitCode::SUCCESS
        }
        Ok(false) => fail(&format!(
            "{} is there already; `notesoup config edit` opens it",
            tilde(&path)
        )),
        Err(error) => fail(&format!("{} cannot be written: {error}", tilde(&path))),
    }
}

/// The file that is meant.
pub(super) fn target(is_project: bool, global: &Global) -> Option<PathBuf> {
    if is_project {
        let folder = std::env::current_dir().ok()?;
        return Some(folder.join(".claude").join("notesoup.toml"));
    }
    global
        .world()
        .user_file
        .or_else(|| Some(paths::config_dir()?.join("hooks.toml")))
}

/// Writes the file with its schema beside it. False: it was there already, and stays as it is.
pub(super) fn create(path: &Path, is_project: bool) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        // What a person writes into it is nobody else's business.
        let mode = if is_project { 0o777 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(folder)?;
    }
    if !is_project {
        refresh_schema(path)?;
    }
    let text = if is_project { project_text() } else { user_text() };
    let mode = if is_project { 0o666 } else { 0o600 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    match file {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts this version's schema beside the person's file, for the editor.
pub(super) fn refresh_schema(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let text = format!("{:#}\n", schema::for_editors());
    let file = folder.join(SCHEMA);
    if fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(file, text)
}

fn user_text() -> String {
    format!(
        "#:schema ./{SCHEMA}\n\
         #\n\
         # What you want otherwise than it comes. A table of the same name is merged key by key with the one below it, a\n\
         # list is replaced. Take a `#` away to set a value; what follows is the default.\n\
         #\n\
         #   notesoup config show              every value and the layer it came from\n\
         #   notesoup config explain KEY       one value's story\n\
         #   notesoup config check             find every mistake, each with its line\n\
         \n\
         schema_version = 1\n\
         \n{}{USER_EXAMPLES}",
        commented_numbers(|_| true)
    )
}

fn project_text() -> String {
    format!(
        "# What this project wants otherwise of notesoup, for everybody who works on it: numbers and switches of [window]\n\
         # and [prune] only. Take a `#` away to set a value; what follows is the default.\n\
         # `notesoup config check` finds mistakes.\n\
         \n{}",
        commented_numbers(|section| matches!(section, "window" | "prune"))
    )
}

/// The sections of the table that hold plain values, each line in a comment, as far as they are meant.
fn commented_numbers(is_meant: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut section: Option<String> = None;
    for line in DEFAULT_TEXT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if name.starts_with("hooks.") {
                break;
            }
            section = Some(name.to_owned());
        }
        if line.starts_with("# ----") {
            section = None;
        }
        let Some(name) = section.as_deref().filter(|name| is_meant(name)) else {
            continue;
        };
        let _ = name;
        match line {
            "" => text.push('\n'),
            // A comment goes a step deeper than the value that it belongs to.
            comment if comment.starts_with('#') && !is_a_value(comment) => {
                text.push_str(&format!("#{comment}\n"));
            }
            value => text.push_str(&format!("# {}\n", value.trim_start_matches("# "))),
        }
    }
    let trimmed = text.trim_end().len();
    text.truncate(trimmed);
    text.push('\n');
    text
}

/// Whether a comment of the table is a value that is not set: `# home = "…"`.
fn is_a_value(comment: &str) -> bool {
    let rest = comment.trim_start_matches("# ");
    rest.split_once(" = ")
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

const USER_EXAMPLES: &str = r#"
# A profile: "both", "notesoup" or "compact-shaper".
# profile = "both"

# A row of the table, switched off or on by its id (`notesoup config show hooks`).
# [hooks.ladder]
# enabled = true

# A sentence of your own beside ours (`notesoup config show texts`).
# [texts.forced_reset]
# add = true
# pool = ["The window is new, the work is not: the notes above say where it stands."]
"#;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes away the `#` before every value.
    fn uncommented(text: &str) -> String {
        let line = |line: &str| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || is_a_value(line) => rest.to_owned(),
            _ => line.to_owned(),
        };
        text.lines().map(|text| line(text) + "\n").collect()
    }

    #[test]
    fn the_files_say_nothing_until_a_value_is_uncommented_and_are_good_then() {
        for (text, project) in [(user_text(), false), (project_text(), true)] {
            let plain: toml::Table = text.parse().unwrap();
            assert!(plain.keys().all(|key| key == "schema_version"), "{text}");
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.toml");
            // The profile belongs above the first table.
            let all = uncommented(&text).replace("profile = \"both\"\n", "");
            fs::write(&path, &all).unwrap();
            let examined = super::super::examine::files(&[path], Some(project));
            assert_eq!(examined.errors(), 0, "{all}\n{:#?}", examined.problems);
            assert!(all.contains("\nreset_margin_tokens = 8192\n"), "{all}");
        }
    }
}
