//! `notesoup schema`: the JSON Schemas of files, settings, wire and tools.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::fail;
use crate::config::suggestion;
use crate::schema;

/// Print a JSON Schema, list them, or write all of them into a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup schema                        the names
  notesoup schema hooks                  the schema of hooks.toml (2020-12)
  notesoup schema hooks.draft-07         the same for editors' TOML support
  notesoup schema --write                rewrite ./schemas
  notesoup schema --write --dir ~/x      write them there

An editor finds the schema of a TOML file by its first line, `#:schema PATH`.")]
pub struct SchemaArgs {
    /// Which one; without it, their names are listed
    name: Option<String>,
    /// Write every schema into the folder, and take out stale ones
    #[arg(long, conflicts_with = "name")]
    write: bool,
    /// The folder for --write
    #[arg(long, value_name = "DIR", default_value = "schemas", requires = "write")]
    dir: PathBuf,
}

/// Prints or writes. Exit code 1 for a name that does not exist, or a folder that cannot be written.
pub fn run(args: &SchemaArgs) -> ExitCode {
    let mut out = super::out::stdout();
    if args.write {
        return match schema::write_all(&args.dir) {
            Ok(changed) if changed.is_empty() => {
                let _ = writeln!(out, "{} is up to date.", args.dir.display());
                ExitCode::SUCCESS
            }
            Ok(changed) => {
                for name in changed {
                    let _ = writeln!(out, "{}", args.dir.join(name).display());
                }
                ExitCode::SUCCESS
            }
            Err(error) => fail(&format!("{} cannot be written: {error}", args.dir.display())),
        };
    }
    let Some(name) = &args.name else {
        let all = schema::all();
        let width = all.iter().map(|published| published.name.len()).max().unwrap_or(0);
        for published in &all {
            let _ = writeln!(out, "{:width$}  {}", published.name, published.about);
        }
        return ExitCode::SUCCESS;
    };
    let wanted = name.trim_end_matches(".json").trim_end_matches(".schema");
    match schema::find(wanted) {
        Some(published) => {
            let _ = write!(out, "{}", published.text());
            ExitCode::SUCCESS
        }
        None => {
            let all = schema::all();
            let names: Vec<_> = all.iter().map(|published| published.name.as_str()).collect();
            fail(&format!("there is no schema `{wanted}`; {}", suggestion(wanted, names)))
        }
    }
}
