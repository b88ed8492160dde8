//! What is never cut, since it cannot simply be had again.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::arguments::Arguments;
use super::options::PruneOptions;
use super::shell;

/// Tools whose results are the work of an agent, an answer of the person, or instructions.
const TOOLS: &[(&str, Why)] = &[
    ("Agent", Why::Agent),
    ("Task", Why::Agent),
    ("AskUserQuestion", Why::Answer),
    ("ExitPlanMode", Why::Answer),
    ("Skill", Why::Instructions),
];

/// Commands that show a state that has moved on since, or logs that expire.
const COMMANDS: &[&[&str]] = &[
    &["git", "status"],
    &["git", "stash", "list"],
    &["gh", "run", "view"],
    &["gh", "pr", "checks"],
];

/// Names of files that instruct.
const INSTRUCTION_FILES: &[&str] = &[
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "MEMORY.md",
    "SKILL.md",
    "MAP.md",
];

/// Folders of instructions and memory, as a part of a path.
const INSTRUCTION_FOLDERS: &[&str] = &[
    "/.claude/rules/",
    "/.claude/commands/",
    "/.claude/agents/",
    "/.claude/skills/",
    "/.claude/memory/",
    "/.agents/",
];

/// Why something is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The call failed.
    Failed,
    /// The work of a subagent.
    Agent,
    /// An answer of the person.
    Answer,
    /// Instructions or memory.
    Instructions,
    /// A snapshot of a state that has moved on.
    Snapshot,
    /// The config lists the tool.
    Tool,
    /// The config lists the file.
    Path,
    /// The config lists the command.
    Command,
}

impl Why {
    /// In words, for a report.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Agent => "an agent's work",
            Self::Answer => "the person's answer",
            Self::Instructions => "instructions or memory",
            Self::Snapshot => "a snapshot of a state that has moved on",
            Self::Tool => "its tool is listed in the config",
            Self::Path => "its file is listed in the config",
            Self::Command => "its command is listed in the config",
        }
    }
}

/// The rules, made ready once for a plan.
#[derive(Debug)]
pub struct Rules<'o> {
    options: &'o PruneOptions,
    paths: GlobSet,
    names: GlobSet,
    commands: Vec<Vec<String>>,
    /// Globs that could not be read, each with the reason.
    pub faults: Vec<String>,
}

impl<'o> Rules<'o> {
    /// Makes the rules ready. A glob that cannot be read protects nothing and is listed in `faults`.
    pub fn new(options: &'o PruneOptions) -> Self {
        let (mut paths, mut names) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut faults = Vec::new();
        for pattern in &options.protected_paths {
            match GlobBuilder::new(pattern).literal_separator(true).build() {
                Ok(glob) if pattern.contains('/') => _ = paths.add(glob),
                Ok(glob) => _ = names.add(glob),
                Err(error) => faults.push(error.to_string()),
            }
        }
        let mut build = |builder: &GlobSetBuilder| {
            builder.build().unwrap_or_else(|error| {
                faults.push(error.to_string());
                GlobSet::empty()
            })
        };
        let (paths, names) = (build(&paths), build(&names));
        let commands = options
            .protected_commands
            .iter()
            .filter_map(|line| shlex::split(line))
            .collect();
        Self {
            options,
            paths,
            names,
            commands,
            faults,
        }
    }

    /// Why a call is protected; `path` is its file, made absolute.
    pub fn why(&self, tool: &str, failed: bool, arguments: &Arguments<'_>, path: Option<&str>) -> Option<Why> {
        if failed {
            return Some(Why::Failed);
        }
        self.by_tool(tool)
            .or_else(|| self.by_path(path?))
            .or_else(|| self.by_command(arguments.command.as_deref()?))
    }

    fn by_tool(&self, tool: &str) -> Option<Why> {
        match self.options.tools.get(tool).and_then(|own| own.protected) {
            Some(true) => return Some(Why::Tool),
            Some(false) => return None,
            None => {}
        }
        if let Some((_, why)) = TOOLS.iter().find(|(name, _)| *name == tool) {
            return Some(*why);
        }
        let listed = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool == pattern,
        };
        self.options.protected_tools.iter().any(listed).then_some(Why::Tool)
    }

    fn by_path(&self, path: &str) -> Option<Why> {
        let name = path.rsplit('/').next().unwrap_or_default();
        if INSTRUCTION_FILES.contains(&name) || INSTRUCTION_FOLDERS.iter().any(|folder| path.contains(folder)) {
            return Some(Why::Instructions);
        }
        // The client keeps a project's memory below its own folder.
        if path.contains("/.claude/projects/") && path.contains("/memory/") {
            return Some(Why::Instructions);
        }
        (self.paths.is_match(path) || self.names.is_match(name)).then_some(Why::Path)
    }

    fn by_command(&self, command: &str) -> Option<Why> {
        let all = shell::commands(command);
        let runs = |pattern: &[String]| all.iter().any(|simple| shell::begins_with(&simple.words, pattern));
        let snapshot = COMMANDS.iter().any(|words| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            runs(&words)
        });
        if snapshot {
            return Some(Why::Snapshot);
        }
        self.commands.iter().any(|words| runs(words)).then_some(Why::Command)
    }
}

/// Programs that only read, so that running them again harms nothing.
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "grep", "rg", "ag", "tree", "stat", "file", "du", "df", "pwd", "which", "echo",
    "printf", "sort", "uniq", "cut", "tr", "nl", "jq", "diff", "cmp", "basename", "dirname", "realpath", "cd", "true",
    "test", "seq", "column", "less", "more", "od", "xxd", "strings",
];

/// What of git only reads.
const GIT_READERS: &[&str] = &[
    "log",
    "diff",
    "show",
    "blame",
    "grep",
    "ls-files",
    "rev-parse",
    "shortlog",
    "describe",
];

/// How to get a call's output by running something again; `None` for what may change things or gives something else now.
pub fn again(tool: &str, arguments: &Arguments<'_>) -> Option<&'static str> {
    match tool {
        "Read" | "NotebookRead" => Some("read the file again"),
        "Grep" | "Glob" | "LS" => Some("search again"),
        "WebFetch" => Some("fetch it again"),
        "WebSearch" => Some("search again"),
        "Bash" => {
            let all = shell::commands(arguments.command.as_deref()?);
            (!all.is_empty() && all.iter().all(only_reads)).then_some("run it again")
        }
        _ => None,
    }
}

fn only_reads(simple: &shell::Simple) -> bool {
    let (Some(program), false) = (simple.words.first(), simple.writes) else {
        return false;
    };
    match program.as_str() {
        "git" => {
            // `git diff --output=F` writes.
            let quiet = !simple.words.iter().any(|word| word.starts_with("--output"));
            quiet
                && GIT_READERS
                    .iter()
                    .any(|verb| shell::begins_with(&simple.words, &["git".to_owned(), (*verb).to_owned()]))
        }
        "find" => !simple.words.iter().any(|word| {
            matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir") || word.starts_with("-fprint")
        }),
        "sort" => !simple
            .words
            .iter()
            .any(|word| word.starts_with("-o") || word.starts_with("--output")),
        "sed" => {
            let edits = |word: &String| word.starts_with("-i") || word.starts_with("--in-place");
            simple.words.iter().any(|word| word == "-n") && !simple.words.iter().any(edits)
        }
        program => READERS.contains(&program),
    }
}
