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
mod man;
mod notes;
mod out;
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
#[command(after_help = "\
Examples:
  notesoup demo                a made-up conversation, event by event; nothing needs to be installed
  notesoup install             put it into Claude Code
  notesoup doctor              is all well?
  notesoup replay --last       what it would have done in your newest conversation in this folder
  notesoup config edit         change what it does

`notesoup COMMAND --help` has examples of each. Exit code 0: done; 1: not, and a line says why; 2: the command line is \
wrong.")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The heading of the options that every command has.
const EVERYWHERE: &str = "With every command";

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Global {
    /// Lay this file over every other layer of the config
    #[arg(long, value_name = "FILE", global = true, help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    /// Keep the notes in this folder
    #[arg(long, value_name = "DIR", global = true, help_heading = EVERYWHERE)]
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
    /// Show the main job on a made-up conversation: boot, warning, reset, handoff and cut
    #[command(after_help = "\
Examples:
  notesoup demo
  notesoup demo | less -R

Nothing of yours is read or written; notes and conversation are in a temporary folder that is gone at the end.")]
    Demo,
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Notes(Box<notes::NotesArgs>),
    History(Box<history::HistoryArgs>),
    Prune(prune::PruneArgs),
    Replay(replay::ReplayArgs),
    Dream(dream::DreamArgs),
    Config(config::ConfigArgs),
    /// Answer one event of the client: JSON on standard input, JSON on standard output
    #[command(after_help = "\
Examples:
  echo '{\"v\": 1, \"event\": \"command.run\", \"e\": {\"command\": \"notesoup\"}}' | notesoup hook
  notesoup schema request    what goes in
  notesoup schema reply      what comes out

The plugin calls this. Exit code 0: answered; above 1: not, and the reply's `error` says why.")]
    Hook,
    /// Say what the courier is to watch and register: JSON on standard input, JSON on standard output
    #[command(after_help = "\
Examples:
  echo '{\"v\": 1}' | notesoup plan
  notesoup schema plan       what comes out

The plugin calls this, and hooks no event that is not in the plan.")]
    Plan,
    Tool(Box<tool::ToolArgs>),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs what the command line asks for.
pub fn main() -> ExitCode {
    if let Some(code) = hook::run_if_asked() {
        return code;
    }
    let Cli { global, command } = Cli::parse();
    out::settled(run(command, &global))
}

fn run(command: Command, global: &Global) -> ExitCode {
    match command {
        Command::Hook => hook::run_hook(global),
        Command::Plan => hook::run_plan(global),
        Command::Demo => demo::run(),
        Command::Install(args) => install::run(&args, global),
        Command::Uninstall(args) => uninstall::run(&args, global),
        Command::Doctor(args) => doctor::run(&args, global),
        Command::Notes(args) => notes::run(&args, global),
        Command::History(args) => history::run(&args, global),
        Command::Tool(args) => tool::run(&args, global),
        Command::Prune(args) => prune::run(&args, global),
        Command::Replay(args) => replay::run(&args, global),
        Command::Dream(args) => dream::run(&args, global),
        Command::Config(args) => config::run(&args, global),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// Says why a command failed, on standard error.
fn fail(message: &str) -> ExitCode {
    use std::io::Write as _;
    let _ = writeln!(anstream::stderr(), "error: {message}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _, Parser as _};

    use super::Cli;

    /// Each command with the words that lead to it.
    fn commands(command: &Command, path: &str, into: &mut Vec<(String, String)>) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        into.push((path.to_owned(), after));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            commands(sub, &format!("{path} {}", sub.get_name()), into);
        }
    }

    /// The command lines under `Examples:`, without the remark behind them.
    fn examples(after: &str) -> Vec<&str> {
        let lines = after.lines().skip_while(|line| *line != "Examples:").skip(1);
        lines
            .take_while(|line| line.starts_with("  "))
            .map(|line| line.trim().split("  ").next().unwrap_or_default().trim())
            .collect()
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed_as_they_stand() {
        let mut all = Vec::new();
        commands(&Cli::command(), "notesoup", &mut all);
        assert!(all.len() > 30, "{all:?}");
        for (path, after) in &all {
            let examples = examples(after);
            assert!(!examples.is_empty(), "`{path} --help` has no examples");
            for example in examples {
                let words = shlex::split(example).unwrap_or_else(|| panic!("{path}: quotes of: {example}"));
                let ours = words
                    .split(|word| word == "|")
                    .filter_map(|part| {
                        let part = part.split(|word| word == ">").next().unwrap_or_default();
                        part.iter().position(|word| word == "notesoup").map(|at| &part[at..])
                    })
                    .next()
                    .unwrap_or_else(|| panic!("{path}: no call in: {example}"));
                if let Err(err) = Cli::try_parse_from(ours) {
                    panic!("{path}: {example}\n{err}");
                }
            }
        }
    }

    /// A line that was broken by hand is broken again by a narrower terminal, in the middle.
    #[test]
    fn sentences_below_a_help_are_not_broken_by_hand() {
        let mut all = Vec::new();
        commands(&Cli::command(), "notesoup", &mut all);
        for (path, after) in &all {
            let lines: Vec<&str> = after.lines().collect();
            for pair in lines.windows(2) {
                let is_broken = !pair[0].is_empty()
                    && !pair[0].starts_with("  ")
                    && !pair[0].ends_with(['.', ':'])
                    && !pair[1].is_empty();
                assert!(!is_broken, "{path}: {}\n{}", pair[0], pair[1]);
            }
        }
    }
}
