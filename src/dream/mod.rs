//! A dream: the client reviews the notes by the playbook, confined to the five notes tools, with a commit before and
//! one after, so that it can be taken back.

mod error;
mod gates;
mod repo;
mod run;
mod undo;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::DreamError;
pub use gates::Gate;
pub use run::{Progress, TOOLS, arguments};
pub use undo::{Undone, undo};

use crate::package::client::Client;
use repo::{Kind, Place, Repo};

/// The playbook, as it is compiled in.
pub const PLAYBOOK: &str = include_str!("../../playbooks/dream.md");

/// The folder of the reports, below the root of the notes.
pub const REPORTS: &str = "dreams";

/// When a dream is worth it, and how it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DreamOptions {
    /// Hours that must lie between two dreams. 0 means any.
    pub min_hours: u32,
    /// Notes that must be new or changed since the last dream. 0 means any.
    pub min_changed_notes: usize,
    /// The model that dreams, as the client names it; without it, the client's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Minutes after which a dream is broken off.
    #[schemars(range(min = 1, max = 1440))]
    pub max_minutes: u64,
}

impl Default for DreamOptions {
    fn default() -> Self {
        Self {
            min_hours: 20,
            min_changed_notes: 5,
            model: None,
            max_minutes: 60,
        }
    }
}

/// What is to be dreamt about, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// The root of the notes.
    pub root: PathBuf,
    /// The key of the project whose home is `@project/`; `None` leaves that home out.
    pub project: Option<String>,
    /// The folder of the locks.
    pub state_dir: PathBuf,
    /// This program, for the plugin to call.
    pub program: PathBuf,
    /// The plugin's folder.
    pub plugin: PathBuf,
    /// Gates, model and patience.
    pub options: DreamOptions,
    /// Go through closed gates.
    pub force: bool,
    /// Make the root a repository when it is none.
    pub init: bool,
    /// Now.
    pub now: Timestamp,
    /// Set from outside to have the dream broken off.
    pub stop: Arc<AtomicBool>,
}

/// What a dream would find, without dreaming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// The root of the notes.
    pub root: PathBuf,
    /// Whether the root is a repository of its own already.
    pub is_repository: bool,
    /// The addresses that are new or changed since the last dream, sorted.
    pub changed: Vec<String>,
    /// When the last dream was.
    pub last: Option<Timestamp>,
    /// Whether one is worth it now.
    pub gate: Gate,
}

/// What came of a dream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The report, in Markdown.
    pub report: String,
    /// The file it was written to.
    pub report_file: PathBuf,
    /// The addresses that changed, sorted.
    pub changed: Vec<String>,
    /// Live notes from before whose file is gone (they were renamed, or somebody else removed them).
    pub gone: Vec<String>,
    /// The commit that holds the dream.
    pub commit: String,
}

/// So many notes, for a person.
pub fn counted(notes: usize) -> String {
    match notes {
        0 => "no note".to_owned(),
        1 => "1 note".to_owned(),
        _ => format!("{notes} notes"),
    }
}

/// Looks at what a dream would find. Changes nothing.
pub fn survey(request: &Request) -> Result<Survey, DreamError> {
    let place = repo::place(&request.root)?;
    let repo = Repo::new(&request.root);
    let last = match place {
        Place::Own => repo.last_dream()?,
        Place::Inside(_) | Place::None => None,
    };
    let paths = match (&last, &place) {
        (Some(last), Place::Own) => repo.changed_since(&last.commit)?,
        _ => notes_below(&request.root),
    };
    let mut changed: Vec<_> = paths.iter().filter_map(|path| address(path, request)).collect();
    changed.sort();
    changed.dedup();
    let last = last.map(|dream| dream.at);
    let gate = gates::judge(last, request.now, changed.len(), &request.options);
    Ok(Survey {
        root: request.root.clone(),
        is_repository: place == Place::Own,
        changed,
        last,
        gate,
    })
}

/// Dreams. `progress` hears what happens while it does.
///
/// # Errors
/// A closed gate without `force`, a root that is no repository without `init`, another dream that runs, or a client
/// that fails. What a failed dream had changed is committed too, so that [`undo`] takes it back.
pub fn dream(request: &Request, client: &Client, progress: &mut dyn FnMut(Progress)) -> Result<Outcome, DreamError> {
    if !request.root.is_dir() {
        return Err(DreamError::NoNotes {
            root: request.root.clone(),
        });
    }
    let _lock = lock(&request.state_dir, &request.root)?;
    let survey = survey(request)?;
    if let (Gate::Closed { reason }, false) = (&survey.gate, request.force) {
        return Err(DreamError::GateClosed { reason: reason.clone() });
    }
    let repo = Repo::new(&request.root);
    match repo::place(&request.root)? {
        Place::Own => {}
        Place::Inside(other) => {
            return Err(DreamError::InsideAnother {
                root: request.root.clone(),
                repository: other,
            });
        }
        Place::None if request.init => repo.init()?,
        Place::None => {
            return Err(DreamError::NoRepository {
                root: request.root.clone(),
            });
        }
    }

    let id = request.now.strftime("%Y-%m-%dT%H%M%SZ").to_string();
    let before = repo.commit("Notes before a dream", Kind::Before, &id)?;
    let prompt = run::prompt(request, &survey);
    let told = run::run(request, client, &prompt, progress);
    let report = match told {
        Ok(report) => report,
        Err(err) => {
            repo.commit("A dream that was broken off", Kind::BrokenOff, &id)?;
            return Err(err);
        }
    };

    let mut changed: Vec<_> = repo
        .changed_since(&before)?
        .iter()
        .filter_map(|path| address(path, request))
        .collect();
    changed.sort();
    changed.dedup();
    let report_file = write_report(request, &id, &report, &changed)?;
    let subject = format!("A dream: {} changed", counted(changed.len()));
    let commit = repo.commit(&subject, Kind::After, &id)?;
    let gone = repo
        .removed_between(&before, &commit)?
        .iter()
        .filter_map(|path| address(path, request))
        .collect();
    Ok(Outcome {
        report,
        report_file,
        changed,
        gone,
        commit,
    })
}

fn write_report(request: &Request, id: &str, report: &str, changed: &[String]) -> Result<PathBuf, DreamError> {
    let folder = request.root.join(REPORTS);
    let file = folder.join(format!("{id}.md"));
    let list: String = changed.iter().map(|address| format!("- `{address}`\n")).collect();
    let files = if list.is_empty() { "none\n".to_owned() } else { list };
    let text = format!("{}\n\n## Files that changed\n\n{files}", report.trim_end());
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, text))
        .map_err(|source| DreamError::Write {
            path: file.clone(),
            source,
        })?;
    Ok(file)
}

/// Takes the lock of these notes; the system lets go of it when the process ends, however it ends.
fn lock(state_dir: &Path, root: &Path) -> Result<File, DreamError> {
    let folder = state_dir.join("dream");
    let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    let path = folder.join(format!("{}.lock", &name[..16]));
    let write = |source| DreamError::Write {
        path: path.clone(),
        source,
    };
    fs::create_dir_all(&folder).map_err(write)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(write)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DreamError::Busy),
        Err(TryLockError::Error(err)) => Err(write(err)),
    }
}

/// The address of a note's file, given relative to the root with `/`. `None` for what a dream does not look at: notes
/// of conversations, other projects, other agents, reports, versions, and files that are no notes.
fn address(path: &str, request: &Request) -> Option<String> {
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    if hidden || !path.ends_with(".md") {
        return None;
    }
    let (home, rest) = path.split_once('/')?;
    match home {
        "human" => Some(format!("@human/{rest}")),
        "models" => Some(format!("@models/{rest}")),
        "agents" => rest.strip_prefix("claude/").map(|rest| format!("@self/{rest}")),
        "project" => {
            let (key, rest) = rest.split_once('/')?;
            (Some(key) == request.project.as_deref()).then(|| format!("@project/{rest}"))
        }
        _ => None,
    }
}

/// Every file below the root by its relative path, links not followed.
fn notes_below(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        // What cannot be read is not counted: the dream itself will say so.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => {
                    let relative = path.strip_prefix(root).ok().and_then(|path| path.to_str());
                    found.extend(relative.map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    found
}
