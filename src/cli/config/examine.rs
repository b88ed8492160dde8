//! Everything that is wrong: the checks of the layers, the published schema as a second opinion, and what would be wrong
//! under the other profiles.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::layers::Here;
use crate::config::{Code, Document, LayerKind, Loaded, Problem, Severity, Sources, key, load};
use crate::handlers::catalog;
use crate::schema::validate;

/// What was looked at, and what is wrong with it.
pub(super) struct Examined {
    pub files: Vec<PathBuf>,
    pub problems: Vec<Problem>,
}

impl Examined {
    /// How many problems are errors.
    pub fn errors(&self) -> usize {
        self.problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .count()
    }

    /// How many are warnings.
    pub fn warnings(&self) -> usize {
        self.problems.len() - self.errors()
    }
}

/// All layers of the current folder.
pub(super) fn layers(here: &Here) -> Examined {
    let mut loaded = here.load();
    let mut problems = std::mem::take(&mut loaded.problems);
    let files: Vec<_> = here.sources.files().into_iter().filter(|path| path.exists()).collect();
    for (kind, path) in [
        (LayerKind::UserFile, here.sources.user_file.clone()),
        (LayerKind::ProjectFile, here.sources.project_file()),
        (LayerKind::CommandLine, here.sources.command_line.clone()),
    ] {
        second_opinion(kind, path, &mut problems);
    }
    other_profiles(&here.sources, &loaded, &mut problems);
    Examined { files, problems }
}

/// Files by themselves, on top of the defaults. One named `notesoup.toml` is a project's, unless `as_project` says.
pub(super) fn files(paths: &[PathBuf], as_project: Option<bool>) -> Examined {
    let mut problems = Vec::new();
    for path in paths {
        let is_projects = as_project.unwrap_or_else(|| path.file_name().is_some_and(|name| name == "notesoup.toml"));
        problems.extend(file(path, is_projects));
    }
    Examined {
        files: paths.to_vec(),
        problems,
    }
}

fn file(path: &Path, is_projects: bool) -> Vec<Problem> {
    if !path.exists() {
        let place = crate::config::Place::source(path.display().to_string());
        return vec![Problem::new(Code::Unreadable, place, "there is no such file").help("name a file that is there")];
    }
    let kind = if is_projects {
        LayerKind::ProjectFile
    } else {
        LayerKind::UserFile
    };
    let sources = match kind {
        LayerKind::ProjectFile => Sources {
            project_path: Some(path.to_owned()),
            ..Sources::default()
        },
        _ => Sources {
            user_file: Some(path.to_owned()),
            ..Sources::default()
        },
    };
    let mut loaded = load(&sources, &catalog());
    let mut problems = std::mem::take(&mut loaded.problems);
    second_opinion(kind, Some(path.to_owned()), &mut problems);
    other_profiles(&sources, &loaded, &mut problems);
    for problem in &mut problems {
        // Nothing runs on a file that is only looked at.
        problem.consequence = None;
    }
    problems
}

/// What the published schema finds beyond what is known already.
fn second_opinion(kind: LayerKind, path: Option<PathBuf>, problems: &mut Vec<Problem>) {
    let Some(path) = path else { return };
    let Some(document) = std::fs::read_to_string(&path)
        .ok()
        .and_then(|text| Document::parse(&path, text).ok())
    else {
        return;
    };
    let source = path.display().to_string();
    for problem in validate::problems(kind, &document) {
        let is_known = problems.iter().any(|known| {
            known.place.source == source
                && (known.place.line == problem.place.line
                    || is_same_or_around(known.key.as_deref(), problem.key.as_deref()))
        });
        if !is_known {
            problems.push(problem);
        }
    }
}

fn is_same_or_around(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return true;
    };
    if one.is_empty() || other.is_empty() {
        return true;
    }
    let (one, other) = (key::split(one), key::split(other));
    one.iter().zip(&other).all(|(one, other)| one == other)
}

/// What would be wrong under the profiles that are not chosen: a warning, since nothing is wrong now.
fn other_profiles(sources: &Sources, loaded: &Loaded, problems: &mut Vec<Problem>) {
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return;
    }
    for name in loaded
        .config
        .profiles
        .keys()
        .filter(|name| **name != loaded.config.profile)
    {
        let mut sources = sources.clone();
        sources.settings.options.insert("profile".to_owned(), json!(name));
        for problem in load(&sources, &catalog()).problems {
            if problem.severity == Severity::Error && !problems.contains(&problem) {
                let message = format!("under the profile `{name}`: {}", problem.message);
                let mut problem = Problem { message, ..problem }.warning();
                problem.consequence = None;
                problems.push(problem);
            }
        }
    }
}
