//! `notesoup completions` and `notesoup man`: generated from the parser, so that they cannot lag behind.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup completions bash > ~/.local/share/bash-completion/completions/notesoup
  notesoup completions zsh > ~/.zfunc/_notesoup
  notesoup completions fish > ~/.config/fish/completions/notesoup.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup man | man -l -
  notesoup man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page a command into this folder instead
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints completions.
pub fn run_completions(args: &CompletionsArgs) -> ExitCode {
    // Written to memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "notesoup", &mut script);
    put(&script)
}

/// Prints the manual page, or writes all of them.
pub fn run_man(args: &ManArgs) -> ExitCode {
    let written = match &args.dir {
        Some(dir) => std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir)),
        None => {
            let mut page = Vec::new();
            return match clap_mangen::Man::new(Cli::command()).render(&mut page) {
                Ok(()) => put(&page),
                Err(_) => ExitCode::FAILURE,
            };
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            let dir = args.dir.clone().unwrap_or_default();
            let _ = writeln!(anstream::stderr(), "cannot write {}: {err}", dir.display());
            ExitCode::FAILURE
        }
    }
}

/// A reader that has seen enough is no fault.
fn put(bytes: &[u8]) -> ExitCode {
    match io::stdout().lock().write_all(bytes) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
