//! Which project a folder belongs to: the git checkout around it, a linked worktree counting as its main checkout.

use std::fs;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

/// The most bytes of a folder name that every file system takes.
const MAX_NAME_BYTES: usize = 255;

/// A project: its key (a legal folder name) and the folder the key was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// `<basename>-<first 8 hex digits of the SHA-1 of the path>`, or the key the person chose.
    pub key: String,
    /// The main checkout, or the working folder outside of git.
    pub folder: PathBuf,
}

/// The project of a working folder; `chosen` replaces the key that is found.
///
/// # Errors
/// When the chosen key cannot be a folder name, or when there is no working folder.
pub fn find(cwd: &Path, chosen: Option<&str>) -> Result<Project, String> {
    let chosen = chosen.map(str::trim).filter(|key| !key.is_empty());
    if cwd.as_os_str().is_empty() && chosen.is_none() {
        return Err("the working folder is not known".to_owned());
    }
    // The same folder reached by a link is the same project.
    let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    let folder = main_checkout(&cwd).unwrap_or(cwd);
    let key = match chosen {
        Some(key) if is_folder_name(key) => key.to_owned(),
        Some(key) => {
            let key = key.escape_debug();
            return Err(format!(
                "the setting notes.project is `{key}`, which cannot be a folder name"
            ));
        }
        None => key_of(&folder),
    };
    Ok(Project { key, folder })
}

/// The key of a project folder.
pub fn key_of(folder: &Path) -> String {
    let digest = Sha1::digest(folder.as_os_str().as_encoded_bytes());
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let mut legal: String = name
        .chars()
        .map(|c| if is_name_character(c) { c } else { '-' })
        .collect();
    legal.truncate(legal.floor_char_boundary(MAX_NAME_BYTES - 1 - hash.len()));
    if legal.is_empty() {
        legal.push_str("root");
    }
    format!("{legal}-{hash}")
}

/// What no file system of a person's machine takes amiss: the key travels with the notes folder.
fn is_name_character(character: char) -> bool {
    !character.is_control() && !"<>:\"/\\|?*\u{fffd}".contains(character)
}

fn is_folder_name(key: &str) -> bool {
    key.len() <= MAX_NAME_BYTES && key != "." && key != ".." && key.chars().all(is_name_character)
}

/// The main checkout of the git repository that holds `start`; for a bare one with worktrees, the repository itself.
fn main_checkout(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(|folder| {
        let dot_git = folder.join(".git");
        let metadata = fs::metadata(&dot_git).ok()?;
        if metadata.is_dir() {
            // Git passes over a `.git` that is no repository, and so does this.
            return dot_git.join("HEAD").exists().then(|| folder.to_path_buf());
        }
        let pointer = fs::read_to_string(&dot_git).ok()?;
        let git_dir = folder.join(pointer.strip_prefix("gitdir:")?.trim());
        // Only a linked worktree has a `commondir`; a submodule is a project of its own.
        let Ok(common) = fs::read_to_string(git_dir.join("commondir")) else {
            return Some(folder.to_path_buf());
        };
        let common = fs::canonicalize(git_dir.join(common.trim_end())).ok()?;
        match common.parent() {
            Some(checkout) if common.ends_with(".git") => Some(checkout.to_path_buf()),
            _ => Some(common),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(folder: &Path) {
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_folder_in_a_checkout_a_worktree_and_a_submodule() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let main = base.join("main");
        repository(&main);
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir_all(main.join(".git/worktrees/w")).unwrap();
        fs::write(main.join(".git/worktrees/w/commondir"), "../..\n").unwrap();
        let linked = base.join("linked");
        fs::create_dir(&linked).unwrap();
        let git_dir = main.join(".git/worktrees/w");
        fs::write(linked.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        let module = main.join("vendor/module");
        fs::create_dir_all(&module).unwrap();
        fs::create_dir_all(main.join(".git/modules/module")).unwrap();
        fs::write(module.join(".git"), "gitdir: ../../.git/modules/module\n").unwrap();

        for (cwd, folder) in [
            (main.join("src/deep"), &main),
            (linked, &main),
            (module.clone(), &module),
            (base.clone(), &base),
        ] {
            assert_eq!(find(&cwd, None).unwrap().folder, *folder);
        }
    }

    #[test]
    fn a_key_is_a_legal_folder_name() {
        assert_eq!(key_of(Path::new("/home/me/notesoup")), "notesoup-44519652");
        assert!(key_of(Path::new("/a:b\\c")).starts_with("a-b-c-"));
        assert!(key_of(Path::new("/")).starts_with("root-"));
        assert!(key_of(Path::new(&format!("/{}", "é".repeat(200)))).len() <= 255);
    }

    #[test]
    fn a_chosen_key_is_taken_when_it_is_a_folder_name() {
        assert_eq!(find(Path::new("/"), Some("old-1a2b3c4d")).unwrap().key, "old-1a2b3c4d");
        assert!(find(Path::new("/"), Some("../x")).is_err());
    }
}
