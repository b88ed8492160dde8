//! `notesoup completions`: generated from the parser, so that they cannot lag behind.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, out};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup completions bash > ~/.local/share/bash-completion/completions/notesoup
  notesoup completions zsh > ~/.zfunc/_notesoup
  notesoup completions fish > ~/.config/fish/completions/notesoup.fish

The folder must be there (mkdir -p). For zsh it must be in fpath, before compinit runs: fpath+=~/.zfunc")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Prints completions.
pub fn run(args: &CompletionsArgs) -> ExitCode {
    // Written to memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "notesoup", &mut script);
    let _ = out::raw().write_all(&script);
    ExitCode::SUCCESS
}
