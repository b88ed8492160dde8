//! `notesoup config`: what holds, where it comes from, what is wrong, and how to change it.

mod check;
mod diagnostic;
mod edit;
mod event;
mod examine;
mod explain;
mod init;
mod layers;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Global;

/// Show, explain, check and change the config
#[derive(Debug, Args)]
#[command(after_help = "\
The layers, lowest first: what is compiled in; the profile; the plugin's hooks.toml; yours; the project's \
.claude/notesoup.toml (numbers and switches of [window] and [prune] only); options of plugins and the \
`notesoup` object of Claude's settings; variables (NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS=4096); \
--config FILE.

Examples:
  notesoup config show
  notesoup config explain window.reset_margin_tokens
  notesoup config explain --event session.compact --trigger manual --instructions prune
  notesoup config check
  notesoup config edit")]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Show(show::ShowArgs),
    Explain(Box<explain::ExplainArgs>),
    Check(check::CheckArgs),
    Init(init::InitArgs),
    Edit(edit::EditArgs),
}

/// Runs the subcommand.
pub fn run(args: &ConfigArgs, global: &Global) -> ExitCode {
    match &args.command {
        Command::Show(args) => show::run(args, global),
        Command::Explain(args) => explain::run(args, global),
        Command::Check(args) => check::run(args, global),
        Command::Init(args) => init::run(args, global),
        Command::Edit(args) => edit::run(args, global),
    }
}
