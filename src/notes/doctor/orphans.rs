//! Project homes whose folder is gone: notes that nobody will see again unless somebody is told.

use super::{Finding, HomeFolder, Level};
use crate::notes::home::Homes;
use crate::notes::projects;

/// Names project homes that no folder leads to any more.
pub(super) fn examine(homes: &Homes, folders: &[HomeFolder], findings: &mut Vec<Finding>) {
    let current = homes.project().ok();
    let has_home = current.is_some_and(|current| {
        folders
            .iter()
            .any(|home| home.key == format!("project/{}", current.key))
    });
    for home in folders {
        let Some(key) = home.key.strip_prefix("project/") else {
            continue;
        };
        if current.is_some_and(|current| current.key == key) {
            continue;
        }
        let known = projects::folder_of(homes, key);
        if known.as_ref().is_some_and(|folder| folder.exists()) {
            continue;
        }
        let name = key.rsplit_once('-').map_or(key, |(name, _)| name);
        let like_current = current.is_some_and(|current| {
            !has_home
                && current
                    .folder
                    .file_name()
                    .is_some_and(|folder| folder.to_string_lossy() == name)
        });
        let (level, line) = match (&known, like_current) {
            (Some(folder), true) => (
                Level::Wrong,
                format!(
                    "project/{key} has the notes of {}, which is gone, and this project of the same name has none",
                    folder.display()
                ),
            ),
            (None, true) => (
                Level::Wrong,
                format!("project/{key} has notes of a project called like this one, which has none"),
            ),
            (Some(folder), false) => (
                Level::Note,
                format!("project/{key} has the notes of {}, which is gone", folder.display()),
            ),
            // Another program's, or older than what is remembered: nothing is known to be wrong.
            (None, false) => continue,
        };
        let remedy = format!("if it was moved, set project = \"{key}\" under [notes] in the config of the new place");
        findings.push(
            Finding::new(level, "orphan_project", line)
                .at(&home.folder)
                .remedy(remedy),
        );
    }
}
