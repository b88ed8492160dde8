//! The folders and files as such: what is a home, what is no note, who may read, what dead writers left.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Finding, HomeFolder, Level};
use crate::notes::address::Address;
use crate::notes::disk;
use crate::notes::home::{Home, Homes};
use crate::notes::lock::{self, VERSIONS};

/// A temporary file older than this has no writer any more.
const ABANDONED: Duration = Duration::from_secs(600);

/// What a home's folder holds.
#[derive(Default)]
pub(super) struct Files {
    /// The notes: path in the home, and file.
    pub(super) notes: Vec<(String, PathBuf)>,
    /// What others than the owner may read.
    pub(super) open_to_others: Vec<PathBuf>,
}

/// Looks at the root; `false` when there is nothing more to look at.
pub(super) fn root(homes: &Homes, fix: bool, findings: &mut Vec<Finding>) -> bool {
    let root = homes.root();
    let shown = root.display();
    match fs::metadata(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let line = format!("no notes yet; the first makes {shown}");
            findings.push(Finding::new(Level::Well, "notes", line));
            return false;
        }
        Err(error) => {
            let finding = Finding::new(
                Level::Wrong,
                "root_unreadable",
                format!("{shown} cannot be read: {error}"),
            );
            findings.push(finding.at(root).remedy("check its permissions"));
            return false;
        }
        Ok(metadata) if !metadata.is_dir() => {
            let finding = Finding::new(Level::Wrong, "root_no_folder", format!("{shown} is not a folder"));
            findings.push(finding.at(root).remedy("move it away, or set notes.home"));
            return false;
        }
        Ok(metadata) => {
            if metadata.permissions().mode() & 0o077 != 0 {
                close(&[root.to_path_buf()], fix, findings);
            }
        }
    }
    if let Err(error) = tempfile::tempfile_in(root) {
        let finding = Finding::new(
            Level::Wrong,
            "root_read_only",
            format!("{shown} cannot be written: {error}"),
        );
        findings.push(
            finding
                .at(root)
                .remedy("make it writable; until then notes can only be read"),
        );
    }
    true
}

/// All home folders on disk, those of other conversations, projects, agents and models included.
pub(super) fn homes(homes: &Homes, findings: &mut Vec<Finding>) -> Vec<HomeFolder> {
    let root = homes.root();
    let mut folders = Vec::new();
    let mut add = |key: String, findings: &mut Vec<Finding>| {
        if let Some(folder) = inside(root, &key, findings) {
            folders.push(HomeFolder { key, folder });
        }
    };
    add("human".to_owned(), findings);
    for parent in ["pi", "project", "agents", "models"] {
        let Some(mut folder) = inside(root, parent, findings) else {
            continue;
        };
        let mut parent = parent.to_owned();
        if parent == "pi" {
            parent.push_str("/session");
            let Some(session) = inside(root, &parent, findings) else {
                continue;
            };
            folder = session;
        }
        match names(&folder) {
            Ok(names) => {
                for name in names {
                    add(format!("{parent}/{name}"), findings);
                }
            }
            Err(error) => {
                let line = format!("{} cannot be read: {error}", folder.display());
                let finding = Finding::new(Level::Wrong, "unreadable", line).at(&folder);
                findings.push(finding.remedy("check its permissions"));
            }
        }
    }
    // Beside the homes: what a repository of the notes has, and the reports of their reviews.
    let beside = [VERSIONS, ".git", ".gitignore", "dreams"];
    let known = ["pi", "project", "human", "agents", "models"];
    let others: Vec<String> = names(root)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| !known.contains(&name.as_str()) && !beside.contains(&name.as_str()))
        .collect();
    if !others.is_empty() {
        let line = format!("no part of the notes: {}", others.join(", "));
        findings.push(Finding::new(Level::Note, "strangers", line).at(root));
    }
    folders
}

/// A folder below the root, if it is one and does not lead out.
fn inside(root: &Path, key: &str, findings: &mut Vec<Finding>) -> Option<PathBuf> {
    let folder = root.join(key);
    let metadata = fs::symlink_metadata(&folder).ok()?;
    if metadata.is_symlink() {
        let resolved = fs::canonicalize(&folder).ok().zip(fs::canonicalize(root).ok());
        if let Some((target, _)) = resolved.filter(|(target, root)| target.starts_with(root) && target.is_dir()) {
            return Some(target);
        }
        let line = format!(
            "{} is a symbolic link that leads nowhere or out of the notes folder",
            folder.display()
        );
        let finding = Finding::new(Level::Wrong, "link_out", line).at(&folder);
        findings.push(finding.remedy("it is not followed: put the notes themselves there, or set notes.home"));
        return None;
    }
    if !metadata.is_dir() {
        let line = format!("{} is a file where a folder should be", folder.display());
        findings.push(
            Finding::new(Level::Wrong, "no_folder", line)
                .at(&folder)
                .remedy("move it away"),
        );
        return None;
    }
    Some(folder)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Goes through a home.
pub(super) fn walk(home: &HomeFolder, fix: bool, findings: &mut Vec<Finding>) -> Files {
    let mut files = Files::default();
    let mut strangers = 0;
    let mut pending = vec![(home.folder.clone(), String::new())];
    while let Some((folder, prefix)) = pending.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                let line = format!("{} cannot be read: {error}", folder.display());
                findings.push(
                    Finding::new(Level::Wrong, "unreadable", line)
                        .at(&folder)
                        .remedy("check its permissions"),
                );
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                continue;
            };
            let name = entry.file_name();
            let shown = format!("{prefix}{}", name.to_string_lossy());
            if lock::is_temporary_name(&path) {
                leftover(&path, fix, findings);
                continue;
            }
            if metadata.is_symlink() {
                let line = format!("{} is a symbolic link, which is not followed", path.display());
                let finding = Finding::new(Level::Note, "link", line).at(&path);
                findings.push(finding.remedy("put the note itself there"));
                continue;
            }
            if metadata.permissions().mode() & 0o077 != 0 {
                files.open_to_others.push(path.clone());
            }
            if metadata.is_dir() {
                pending.push((path, format!("{shown}/")));
                continue;
            }
            if !name.as_encoded_bytes().ends_with(b".md") {
                strangers += 1;
                continue;
            }
            if let Some(what) = disk::kind_of(&metadata) {
                let finding = Finding::new(Level::Wrong, "no_file", format!("{}: {what}", path.display())).at(&path);
                findings.push(finding.remedy("move it away"));
            } else if name.to_str().is_none() || Address::of_file(&Home::Human, &shown).is_none() {
                let finding = Finding::new(
                    Level::Wrong,
                    "unnameable",
                    format!("no address can name {}", path.display()),
                );
                findings.push(finding.at(&path).remedy("rename the file"));
            } else {
                files.notes.push((shown, path));
            }
        }
    }
    if strangers > 0 {
        let files = if strangers == 1 { "file" } else { "files" };
        let line = format!(
            "{strangers} {files} in {} that end in something else than .md: no notes",
            home.key
        );
        findings.push(Finding::new(Level::Note, "strangers", line).at(&home.folder));
    }
    files.notes.sort();
    files
}

fn leftover(path: &Path, fix: bool, findings: &mut Vec<Finding>) {
    let age = fs::symlink_metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|at| at.elapsed().ok());
    let shown = path.display();
    if age.is_none_or(|age| age < ABANDONED) {
        let line = format!("{shown} is being written, or was until minutes ago");
        findings.push(Finding::new(Level::Note, "leftover", line).at(path));
    } else if fix && fs::remove_file(path).is_ok() {
        findings.push(Finding::new(
            Level::Fixed,
            "leftover",
            format!("removed {shown}, left by a writer that died"),
        ));
    } else {
        let finding = Finding::new(
            Level::Wrong,
            "leftover",
            format!("{shown} was left by a writer that died"),
        );
        findings.push(finding.at(path).remedy("notesoup notes doctor --fix removes it"));
    }
}

/// Takes the rights of others away, or says that they have some.
pub(super) fn close(paths: &[PathBuf], fix: bool, findings: &mut Vec<Finding>) {
    let Some(first) = paths.first() else {
        return;
    };
    let shown = match paths.len() {
        1 => first.display().to_string(),
        count => format!("{} and {} more", first.display(), count - 1),
    };
    let close = |path: &PathBuf| -> io::Result<()> {
        let mode = fs::symlink_metadata(path)?.permissions().mode();
        fs::set_permissions(path, Permissions::from_mode(mode & 0o700))
    };
    if fix && paths.iter().all(|path| close(path).is_ok()) {
        findings.push(Finding::new(Level::Fixed, "open", format!("closed to others: {shown}")).at(first));
    } else {
        let finding = Finding::new(Level::Note, "open", format!("others than you may read {shown}")).at(first);
        findings.push(finding.remedy("notesoup notes doctor --fix closes it"));
    }
}

/// Half-made copies in the history.
pub(super) fn versions(root: &Path, fix: bool, findings: &mut Vec<Finding>) {
    let mut pending = vec![root.join(VERSIONS)];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                pending.push(entry.path());
            } else if entry.file_name() == "copy.tmp" {
                leftover(&entry.path(), fix, findings);
            }
        }
    }
}
