//! The command line. `hook` and `plan` are taken before the parser is built, since the client starts them again and
//! again.

mod hook;
mod install;
mod log;
mod steps;
mod uninstall;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Notes that outlive a context window, the old conversation at hand, and fresh windows for Claude Code
#[derive(Debug, Parser)]
#[command(name = "notesoup", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    if let Some(code) = hook::run_if_asked() {
        return code;
    }
    match Cli::parse().command {
        Command::Install(args) => install::run(&args),
        Command::Uninstall(args) => uninstall::run(&args),
    }
}
