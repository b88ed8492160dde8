//! What a person can set about the cut.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text is cut only when it is this many code points longer than what would stay of it, so that the note does not
/// take more room than the cut gives.
pub const SLACK_CHARS: usize = 200;

/// The section `[prune]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneOptions {
    /// How many of the newest messages are never cut.
    ///
    /// A response with its calls is one message, the results of its calls are the next. The first message of the
    /// conversation is never cut either. 0 leaves only that one alone; a number above the length of the conversation
    /// cuts nothing.
    pub preserve_recent_messages: u32,
    /// How many code points of a cut output stay, from its beginning.
    ///
    /// Outputs up to this plus `keep_tail_chars` plus 200 stay whole. Where a line ends within the last fifth, the cut
    /// goes back to it. 0 keeps only the note that says how to get the output back.
    pub keep_head_chars: u32,
    /// How many code points of a cut output stay, from its end, before the note. 0: none.
    pub keep_tail_chars: u32,
    /// A cut that saves less than this share of the context, in percent (0 to 100), is not done. 0: every cut is done.
    #[schemars(range(max = 100))]
    pub min_saving_percent: u32,
    /// Tools whose calls are never cut, by name (`mcp__server__tool` for one of a server; `mcp__server__*` for all).
    ///
    /// Beside `Agent`, `Task`, `AskUserQuestion`, `ExitPlanMode` and `Skill`, which always are.
    pub protected_tools: Vec<String>,
    /// Files whose readings and edits are never cut, as globs over the absolute path (`**/*.lock`, `/srv/**`); one
    /// without a slash is matched with the file's name.
    ///
    /// Beside instruction and memory files (`CLAUDE.md`, `AGENTS.md`, rules, skills, notes), which always are.
    pub protected_paths: Vec<String>,
    /// Shell commands whose output is never cut, as the words they begin with (`kubectl get`); options between the
    /// words are passed over.
    ///
    /// Beside `git status`, `git stash list`, `gh run view` and `gh pr checks`, which always are.
    pub protected_commands: Vec<String>,
    /// What differs for one tool, by its name: `[prune.tools.Bash] keep_head_chars = 1000`.
    pub tools: BTreeMap<String, ToolOptions>,
}

/// What differs for one tool: a table `[prune.tools.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOptions {
    /// As `keep_head_chars` of `[prune]`, for this tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_head_chars: Option<u32>,
    /// As `keep_tail_chars` of `[prune]`, for this tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_tail_chars: Option<u32>,
    /// True: never cut. False: not protected by its name any longer, also where it is one of those that always are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<bool>,
}

impl Default for PruneOptions {
    fn default() -> Self {
        Self {
            preserve_recent_messages: 6,
            keep_head_chars: 300,
            keep_tail_chars: 0,
            min_saving_percent: 10,
            protected_tools: Vec::new(),
            protected_paths: Vec::new(),
            protected_commands: Vec::new(),
            tools: BTreeMap::new(),
        }
    }
}

/// How much of a text stays, in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// From the beginning.
    pub head: usize,
    /// From the end.
    pub tail: usize,
}

impl Keep {
    /// The longest text that stays whole.
    pub const fn threshold(self) -> usize {
        self.head.saturating_add(self.tail).saturating_add(SLACK_CHARS)
    }
}

impl PruneOptions {
    /// How much of a cut output of this tool stays.
    pub fn keep(&self, tool: &str) -> Keep {
        let own = self.tools.get(tool);
        let pick = |own: Option<u32>, all: u32| usize::try_from(own.unwrap_or(all)).unwrap_or(usize::MAX);
        Keep {
            head: pick(own.and_then(|tool| tool.keep_head_chars), self.keep_head_chars),
            tail: pick(own.and_then(|tool| tool.keep_tail_chars), self.keep_tail_chars),
        }
    }
}
