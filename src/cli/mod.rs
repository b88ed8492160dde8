//! The command line. `hook` and `plan` are taken before the parser is built, since the client starts them again and
//! again.

mod answer;
mod completions;
mod config;
mod demo;
mod doctor;
mod dream;
mod history;
mod hook;
mod install;
mod log;
mod notes;
mod prune;
mod replay;
mod schema;
mod steps;
mod table;
mod tool;
mod uninstall;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::handlers::World;

/// Notes that outlive a context window, the old conversation at hand, and fresh windows for Claude Code
#[derive(Debug, Parser)]
#[command(name = "notesoup", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Global {
    /// Lay this file over every other layer of the config
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Keep the notes in this folder
    #[arg(long, value_name = "DIR", global = true)]
    pub notes_home: Option<PathBuf>,
}

impl Global {
    /// The world of this process, with what these options name.
    fn world(&self) -> World {
        World::of_process().with_options(self.config.clone(), self.notes_home.clone())
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer one event of the client: JSON on standard input, JSON on standard output
    Hook,
    /// Say what the courier is to watch and register: JSON on standard input, JSON on standard output
    Plan,
    /// Show the main job on a made-up conversation: boot, warning, reset, handoff and cut
    Demo,
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Notes(Box<notes::NotesArgs>),
    History(Box<history::HistoryArgs>),
    Tool(Box<tool::ToolArgs>),
    Prune(prune::PruneArgs),
    Replay(replay::ReplayArgs),
    Dream(dream::DreamArgs),
    Config(config::ConfigArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

/// Runs what the command line asks for.
pub fn main() -> ExitCode {
    if let Some(code) = hook::run_if_asked() {
        return code;
    }
    let Cli { global, command } = Cli::parse();
    match command {
        Command::Hook => hook::run_hook(&global),
        Command::Plan => hook::run_plan(&global),
        Command::Demo => demo::run(),
        Command::Install(args) => install::run(&args),
        Command::Uninstall(args) => uninstall::run(&args),
        Command::Doctor(args) => doctor::run(&args, &global),
        Command::Notes(args) => notes::run(&args, &global),
        Command::History(args) => history::run(&args, &global),
        Command::Tool(args) => tool::run(&args, &global),
        Command::Prune(args) => prune::run(&args, &global),
        Command::Replay(args) => replay::run(&args, &global),
        Command::Dream(args) => dream::run(&args, &global),
        Command::Config(args) => config::run(&args, &global),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run_completions(&args),
        Command::Man(args) => completions::run_man(&args),
    }
}

/// Says why a command failed, on standard error.
fn fail(message: &str) -> ExitCode {
    use std::io::Write as _;
    let _ = writeln!(anstream::stderr(), "error: {message}");
    ExitCode::FAILURE
}
