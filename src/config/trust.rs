//! Who else can read or write a layer's file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::LayerKind;
use super::problem::{Code, Place, Problem};

const OTHERS_READ: u32 = 0o004;
const OTHERS_WRITE: u32 = 0o002;
const OTHERS_ENTER: u32 = 0o001;
const GROUP_WRITE: u32 = 0o020;
const STICKY: u32 = 0o1000;

/// What is to be said about the rights of a layer's file, the worst first. Nothing for a file that is not there.
pub fn look(kind: LayerKind, path: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Ok(data) = fs::metadata(path) else { return problems };
    let me = rustix::process::geteuid().as_raw();
    let say = |code, message: String, help: String| {
        Problem::new(code, Place::source(path.display().to_string()), message)
            .help(help)
            .warning()
    };
    let shown = path.display();
    // What root has put there is part of the system.
    if data.uid() != me && data.uid() != 0 {
        problems.push(say(
            Code::ForeignOwner,
            format!("belongs to somebody else (user {})", data.uid()),
            format!("see what is in it; `chown {me} '{shown}'` makes it yours"),
        ));
    }
    if is_writable_by_others(&data) || a_folder_lets_others_swap_it(path) {
        problems.push(say(
            Code::WritableByOthers,
            "can be changed by others".to_owned(),
            format!("`chmod go-w '{shown}'`, and its folders, keeps it to you"),
        ));
    }
    let is_private = matches!(kind, LayerKind::UserFile | LayerKind::CommandLine);
    if is_private && data.mode() & OTHERS_READ != 0 && can_be_reached_by_others(path) {
        problems.push(say(
            Code::ReadableByOthers,
            "can be read by others on this machine".to_owned(),
            format!("`chmod go-r '{shown}'` keeps it to you"),
        ));
    }
    problems
}

/// Why a file may not start programs, or `None` when it may.
pub(super) fn distrust(problems: &[Problem]) -> Option<String> {
    problems
        .iter()
        .find(|problem| matches!(problem.code, Code::ForeignOwner | Code::WritableByOthers))
        .map(|problem| problem.message.clone())
}

fn is_writable_by_others(data: &Metadata) -> bool {
    let mode = data.mode();
    // A group of one's own (the same number as the user) has nobody else in it.
    let is_open_to_group = mode & GROUP_WRITE != 0 && data.gid() != data.uid();
    mode & OTHERS_WRITE != 0 || is_open_to_group
}

/// Whether the folder of the file lets others put another file in its place.
fn a_folder_lets_others_swap_it(path: &Path) -> bool {
    let Some(data) = path.parent().and_then(|folder| fs::metadata(folder).ok()) else {
        return false;
    };
    is_writable_by_others(&data) && data.mode() & STICKY == 0
}

fn can_be_reached_by_others(path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
        .all(|folder| fs::metadata(folder).is_ok_and(|data| data.mode() & OTHERS_ENTER != 0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_others_may_write_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.toml");
        fs::write(&file, "").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let codes = |mode: u32| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let problems = look(LayerKind::UserFile, &file);
            let is_distrusted = distrust(&problems).is_some();
            (
                problems.into_iter().map(|problem| problem.code).collect::<Vec<_>>(),
                is_distrusted,
            )
        };
        assert_eq!(codes(0o600), (vec![], false));
        // The folder keeps others out, so that its being readable says nothing.
        assert_eq!(codes(0o644), (vec![], false));
        assert_eq!(codes(0o602), (vec![Code::WritableByOthers], true));

        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if can_be_reached_by_others(&file) {
            assert_eq!(codes(0o644), (vec![Code::ReadableByOthers], false));
            assert!(look(LayerKind::ProjectFile, &file).is_empty());
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(codes(0o600), (vec![Code::WritableByOthers], true));
    }
}
