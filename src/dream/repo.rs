//! The notes as a git repository: a commit before a dream and one after, told apart by trailers.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;

use super::DreamError;

/// What kind of commit: the value of the trailer `Notesoup-Dream`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What there was before.
    Before,
    /// A dream.
    After,
    /// A dream that failed, as far as it came.
    BrokenOff,
    /// The taking back of a dream; a second trailer names which.
    Undo,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::BrokenOff => "broken-off",
            Self::Undo => "undo",
        }
    }
}

/// Where the root stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// It is a repository.
    Own,
    /// It lies within one.
    Inside(PathBuf),
    /// Neither.
    None,
}

/// A commit that holds a dream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dream {
    pub(super) commit: String,
    pub(super) at: Timestamp,
    pub(super) kind: Kind,
}

/// git in the root of the notes.
#[derive(Debug, Clone)]
pub(super) struct Repo {
    root: PathBuf,
}

/// Versions of notes are kept by the store; they and its temporary files are no part of the repository.
const PATHS: &[&str] = &[".", ":(exclude,glob)**/.*/**", ":(exclude,glob)**/.*.tmp*"];

/// How far back a dream is looked for.
const DEPTH: &str = "-n500";

/// Where `root` stands.
pub(super) fn place(root: &Path) -> Result<Place, DreamError> {
    let repo = Repo::new(root);
    if !root.is_dir() {
        return Ok(Place::None);
    }
    let Ok(top) = repo.git(&["rev-parse", "--show-toplevel"]) else {
        // Fails the same way when git is missing; that is told by the next command that needs it.
        return Ok(Place::None);
    };
    let top = PathBuf::from(top.trim_end_matches('\n'));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if real(&top) == real(root) {
        Ok(Place::Own)
    } else {
        Ok(Place::Inside(top))
    }
}

impl Repo {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    /// Makes the root a repository.
    pub(super) fn init(&self) -> Result<(), DreamError> {
        self.git(&["init", "--quiet", "--initial-branch=main"]).map(drop)
    }

    /// Commits everything there is, and returns the commit. Where there is nothing new, that is the commit at hand,
    /// except for a dream, which has one of its own always.
    pub(super) fn commit(&self, subject: &str, kind: Kind, id: &str) -> Result<String, DreamError> {
        self.commit_with(subject, kind, &format!("Notesoup-Dream-Id: {id}"))
    }

    /// The same, with another second trailer.
    pub(super) fn commit_with(&self, subject: &str, kind: Kind, trailer: &str) -> Result<String, DreamError> {
        self.git(&[&["add", "--all", "--"], PATHS].concat())?;
        let is_nothing_new = matches!(kind, Kind::Before | Kind::BrokenOff)
            && self.head().is_ok()
            && self.git(&["diff", "--cached", "--quiet"]).is_ok();
        if is_nothing_new {
            return self.head();
        }
        self.commit_index(subject, kind, trailer)
    }

    /// Commits what is staged.
    pub(super) fn commit_index(&self, subject: &str, kind: Kind, trailer: &str) -> Result<String, DreamError> {
        let message = format!("{subject}\n\nNotesoup-Dream: {}\n{trailer}\n", kind.name());
        self.git(&["commit", "--quiet", "--allow-empty", "--no-verify", "-m", &message])?;
        self.head()
    }

    pub(super) fn head(&self) -> Result<String, DreamError> {
        Ok(self.git(&["rev-parse", "--verify", "HEAD"])?.trim().to_owned())
    }

    /// The newest dream that was not taken back.
    pub(super) fn last_dream(&self) -> Result<Option<Dream>, DreamError> {
        let dreams = self.dreams()?;
        Ok(dreams.into_iter().find(|dream| dream.kind == Kind::After))
    }

    /// The dreams that were not taken back, newest first, those that were broken off included.
    pub(super) fn dreams(&self) -> Result<Vec<Dream>, DreamError> {
        if self.head().is_err() {
            return Ok(Vec::new());
        }
        let format = "--format=%H%x09%ct%x09%(trailers:key=Notesoup-Dream,valueonly,separator=%x2C)%x09\
                      %(trailers:key=Notesoup-Dream-Undoes,valueonly,separator=%x2C)";
        let log = self.git(&["log", DEPTH, "--grep=^Notesoup-Dream:", format])?;
        let mut undone = Vec::new();
        let mut dreams = Vec::new();
        for line in log.lines() {
            let mut fields = line.split('\t');
            let (Some(commit), Some(seconds), Some(kind), Some(undoes)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let kind = match kind {
                "after" => Kind::After,
                "broken-off" => Kind::BrokenOff,
                "undo" => {
                    undone.push(undoes.to_owned());
                    continue;
                }
                _ => continue,
            };
            let at = seconds
                .parse()
                .ok()
                .and_then(|seconds| Timestamp::from_second(seconds).ok());
            dreams.extend(at.map(|at| Dream {
                commit: commit.to_owned(),
                at,
                kind,
            }));
        }
        dreams.retain(|dream| !undone.contains(&dream.commit));
        Ok(dreams)
    }

    /// The files that are new or otherwise than in that commit, relative to the root; removed ones too.
    pub(super) fn changed_since(&self, commit: &str) -> Result<Vec<String>, DreamError> {
        let known = self.git(&[&["diff", "--name-only", "-z", commit, "--"], PATHS].concat())?;
        let new = self.git(&[&["ls-files", "--others", "-z", "--"], PATHS].concat())?;
        Ok(split(&known).chain(split(&new)).collect())
    }

    /// The files that are in the one commit and not in the other, those left out that were only renamed.
    pub(super) fn removed_between(&self, one: &str, other: &str) -> Result<Vec<String>, DreamError> {
        let names = self.git(&["diff", "--name-only", "-z", "-M30%", "--diff-filter=D", one, other])?;
        Ok(split(&names).collect())
    }

    /// The tree that results when what `commit` did is taken away from `HEAD`, without touching a file; or the files in
    /// which that cannot be done.
    pub(super) fn tree_without(&self, commit: &str) -> Result<Result<String, Vec<String>>, DreamError> {
        let base = format!("--merge-base={commit}");
        let before = format!("{commit}^");
        let args = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            &base,
            "HEAD",
            &before,
        ];
        let output = self
            .command(&args)
            .output()
            .map_err(|err| failed(&args, err.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = split(&text);
        match (output.status.code(), words.next()) {
            (Some(0), Some(tree)) => Ok(Ok(tree)),
            (Some(1), Some(_)) => Ok(Err(words.collect())),
            _ => Err(failed(&args, String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Brings index and files from `HEAD` to this tree, only where the two differ.
    pub(super) fn go_to(&self, tree: &str) -> Result<(), DreamError> {
        self.git(&["read-tree", "-m", "-u", "HEAD", tree]).map(drop)
    }

    /// Puts a folder back as it is in `HEAD`, in the index and on disk. Nothing happens when `HEAD` has none.
    pub(super) fn restore(&self, folder: &str) -> Result<(), DreamError> {
        if self
            .git(&["rev-parse", "--quiet", "--verify", &format!("HEAD:{folder}")])
            .is_err()
        {
            return Ok(());
        }
        self.git(&["restore", "--source=HEAD", "--staged", "--worktree", "--", folder])
            .map(drop)
    }

    /// The files in which two commits differ.
    pub(super) fn changed_between(&self, one: &str, other: &str) -> Result<Vec<String>, DreamError> {
        let names = self.git(&["diff", "--name-only", "-z", one, other])?;
        Ok(split(&names).collect())
    }

    fn git(&self, args: &[&str]) -> Result<String, DreamError> {
        let output = self
            .command(args)
            .output()
            .map_err(|err| failed(args, err.to_string()))?;
        if !output.status.success() {
            return Err(failed(args, String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        String::from_utf8(output.stdout).map_err(|err| failed(args, err.to_string()))
    }

    /// git as it is everywhere: without the person's hooks, signatures, line ends and pagers, and blind to a repository
    /// that this process was started in.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root);
        for setting in [
            "core.hooksPath=/dev/null",
            "core.excludesFile=/dev/null",
            "core.autocrlf=false",
            "core.quotePath=false",
            "commit.gpgSign=false",
            "gc.auto=0",
            "user.name=notesoup",
            "user.email=notesoup@localhost",
        ] {
            command.args(["-c", setting]);
        }
        for variable in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_PREFIX",
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
        ] {
            command.env_remove(variable);
        }
        command
            .args(args)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            // Ctrl-C in the terminal is for the dream, not for a commit that is being made.
            .process_group(0);
        command
    }
}

fn split(names: &str) -> impl Iterator<Item = String> + '_ {
    names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned)
}

fn failed(args: &[&str], reason: String) -> DreamError {
    DreamError::Git {
        command: args.first().copied().unwrap_or_default().to_owned(),
        reason,
    }
}
