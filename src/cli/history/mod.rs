//! `notesoup history`: any transcript for a person and for scripts, whether the client runs or not.

mod find;
mod show;

use std::env;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anstyle::Style;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::Global;
use super::answer::{print_json, refuse};
use super::table::local;
pub(super) use find::newest_ones;

use crate::history::tools::{self, Entry, ListInput, ListOutput, Texts, WindowsInput};
use crate::history::{Conversation, Head, Role, ToolStatus};
use crate::outcome::Refusal;

/// The most items that the library gives at once.
const PAGE: usize = 200;

/// Look into an old conversation: its windows, its messages, every output word for word
#[derive(Debug, Args)]
#[command(after_help = "\
Without --session and --transcript: the conversation of this folder that was written to last.

Examples:
  notesoup history list
  notesoup history search 'reset margin' --role user,assistant
  notesoup history read 128 | less
  notesoup history list --session 0b1c --after 40 --role tool --status error
  notesoup history windows --transcript old.jsonl --json

A transcript is only read. Exit code 1 when a command is refused.")]
pub struct HistoryArgs {
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: Command,
}

/// Which conversation.
#[derive(Debug, Args)]
struct Which {
    /// The transcript's file
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Which conversation",
        conflicts_with = "session"
    )]
    transcript: Option<PathBuf>,
    /// The conversation's id, or how it begins
    #[arg(long, value_name = "ID", global = true, help_heading = "Which conversation")]
    session: Option<String>,
    /// Where it ends: the uuid of a row; without it, the last row of the main conversation
    #[arg(long, value_name = "UUID", global = true, help_heading = "Which conversation")]
    head: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List its context windows, oldest first
    #[command(after_help = "\
Examples:
  notesoup history windows
  notesoup history windows --session 0b1c --json")]
    Windows,
    List(ListArgs),
    Read(ReadArgs),
    Search(SearchArgs),
}

/// List its newest messages, calls and reminders between them folded
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup history list
  notesoup history list --window @previous --all
  notesoup history list --role tool --status error    the calls that failed")]
struct ListArgs {
    #[command(flatten)]
    part: Part,
}

/// Search all its words, results of calls included, whatever their case
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup history search 'reset margin'
  notesoup history search migration schema --role user,assistant    either word, in what was said")]
struct SearchArgs {
    /// The text; several find any of them
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    part: Part,
}

/// Print one event whole
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  notesoup history read 128
  notesoup history read 128 > output.txt    byte for byte, no heading
  notesoup history read toolu_01ab --json")]
struct ReadArgs {
    /// Its number, or the `tool_use_id` of a call
    #[arg(value_name = "SEQ|ID")]
    event: String,
}

/// Which part of the conversation.
#[derive(Debug, Args)]
struct Part {
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Only what these said: `tool` is calls with their results, `context` what was added beside
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = one_of::<Role>(&["user", "assistant", "tool", "context"]))]
    role: Vec<Role>,
    /// Only before this number
    #[arg(long, value_name = "SEQ")]
    before: Option<u64>,
    /// Only after this number, from there on
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// Only in this window: its id, `@current` or `@previous`
    #[arg(long, value_name = "ID")]
    window: Option<String>,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls that ended so
    #[arg(long, value_name = "STATUS", value_parser = one_of::<ToolStatus>(&["ok", "error", "unfinished"]))]
    status: Option<ToolStatus>,
    /// Show at most this many characters of each
    #[arg(long, value_name = "N", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    chars: u32,
}

/// A parser of words that the library reads as well.
fn one_of<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<T>(Value::String(word)))
}

/// Runs a command on a conversation.
pub fn run(args: &HistoryArgs, global: &Global) -> ExitCode {
    let json = args.which.json;
    if let Command::List(list) = &args.command
        && let Some((opened, found)) = at_end(&args.which, &list.part, global)
    {
        opened.say(json, show::list(&found, &[], json));
        return ExitCode::SUCCESS;
    }
    let done = open(&args.which, global).and_then(|opened| {
        let conversation = &opened.conversation;
        let data = match &args.command {
            Command::Windows => show::windows(&all_windows(conversation)?, json),
            Command::List(args) => show::list(&entries(conversation, &args.part, None)?, &[], json),
            Command::Search(args) => {
                let found = entries(conversation, &args.part, Some(&args.query))?;
                show::list(&found, &args.query, json)
            }
            Command::Read(args) => show::event(&event(conversation, &args.event)?, json),
        };
        opened.say(json, data);
        Ok(())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refuse(refusal, json),
    }
}

/// A conversation, and what was taken for granted to find it.
struct Opened {
    conversation: Conversation,
    head_assumed: bool,
    session_assumed: bool,
}

impl Opened {
    /// Prints the data of a `--json` answer; otherwise says what was assumed, on standard error.
    fn say(&self, json: bool, data: Option<Value>) {
        let conversation = &self.conversation;
        if json {
            let mut data = data.unwrap_or_default();
            if let Some(data) = data.as_object_mut() {
                data.insert("transcript".to_owned(), json!(conversation.transcript().path()));
                data.insert("head_assumed".to_owned(), json!(self.head_assumed));
            }
            print_json(&json!({ "ok": true, "data": data }));
            return;
        }
        let mut line = String::new();
        if self.session_assumed {
            let path = conversation.transcript().path();
            let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
            let when = written
                .ok()
                .and_then(|time| jiff::Timestamp::try_from(time).ok())
                .map(|time| format!(" of {}", local(&time.to_string())))
                .unwrap_or_default();
            line.push_str(&format!("Conversation {}{when}. ", find::stem(path)));
        }
        if self.head_assumed {
            line.push_str("Its last row is taken for its end; --head UUID names another.");
        }
        let dim = Style::new().dimmed();
        if !line.is_empty() {
            let _ = writeln!(anstream::stderr(), "{dim}{}{dim:#}", line.trim_end());
        }
    }
}

impl Which {
    fn path(&self) -> Result<PathBuf, Refusal> {
        match (&self.transcript, &self.session) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(id)) => find::by_id(id),
            (None, None) => find::newest(&env::current_dir().unwrap_or_default()),
        }
    }

    fn head(&self) -> Head<'_> {
        self.head.as_deref().map_or(Head::AssumeLast, Head::Uuid)
    }

    fn opened(&self, conversation: Conversation) -> Opened {
        Opened {
            conversation,
            head_assumed: self.head.is_none(),
            session_assumed: self.transcript.is_none() && self.session.is_none(),
        }
    }
}

fn open(which: &Which, global: &Global) -> Result<Opened, Refusal> {
    let state_dir = global.world().state_dir;
    let conversation = Conversation::open(&which.path()?, which.head(), state_dir.as_deref(), Duration::ZERO)?;
    Ok(which.opened(conversation))
}

/// What the end of the conversation has of this part; none when more of it must be read.
fn at_end(which: &Which, part: &Part, global: &Global) -> Option<(Opened, ListOutput)> {
    if part.all || part.after.is_some() || part.window.is_some() {
        return None;
    }
    let conversation = Conversation::end(&which.path().ok()?, which.head(), &global.world().state_dir?)?;
    let found = entries(&conversation, part, None).ok()?;
    found
        .older_before
        .is_some()
        .then(|| (which.opened(conversation), found))
}

/// Pages until there are as many items as wanted.
fn entries(conversation: &Conversation, part: &Part, query: Option<&[String]>) -> Result<ListOutput, Refusal> {
    let mut left = if part.all { usize::MAX } else { part.limit.max(1) };
    let mut input = ListInput {
        roles: Some(part.role.clone()).filter(|roles| !roles.is_empty()),
        before: part.before,
        after: part.after,
        window_id: part.window.clone(),
        max_chars_per_item: Some(part.chars),
        query: query.map(|texts| Texts::Any(texts.to_vec())),
        tool: part.tool.clone(),
        status: part.status,
        ..ListInput::default()
    };
    let onwards = part.after.is_some();
    let mut pages: Vec<ListOutput> = Vec::new();
    while left > 0 {
        input.limit = u32::try_from(left.min(PAGE)).ok();
        let page = tools::list(conversation, input.clone())?;
        left -= page
            .items
            .iter()
            .filter(|entry| matches!(entry, Entry::Item(_)))
            .count()
            .min(left);
        let next = if onwards { page.newer_after } else { page.older_before };
        let is_empty = page.items.is_empty();
        pages.push(page);
        if next.is_none() || is_empty {
            break;
        }
        if onwards {
            input.after = next;
        } else {
            input.before = next;
        }
    }
    if !onwards {
        pages.reverse();
    }
    let older_before = pages.first().and_then(|page| page.older_before);
    let newer_after = pages.last().and_then(|page| page.newer_after);
    Ok(ListOutput {
        items: pages.into_iter().flat_map(|page| page.items).collect(),
        older_before,
        newer_after,
    })
}

fn all_windows(conversation: &Conversation) -> Result<Vec<tools::Window>, Refusal> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let page = tools::windows(conversation, WindowsInput { before })?;
        before = page.older_before;
        let is_empty = page.windows.is_empty();
        pages.push(page.windows);
        if before.is_none() || is_empty {
            break;
        }
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

fn event(conversation: &Conversation, name: &str) -> Result<crate::history::Shown, Refusal> {
    match name.trim_start_matches('#').parse() {
        Ok(seq) => tools::whole(conversation, Some(seq), None),
        Err(_) => tools::whole(conversation, None, Some(name)),
    }
}
