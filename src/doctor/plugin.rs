//! The installed plugin: its files, and what the client knows of it.

use std::path::Path;

use super::{Examination, Finding, Part, Report};
use crate::package::client::{Client, Verdict};
use crate::package::install::{Request, Scope, install, same_folder};
use crate::package::store::Store;
use crate::package::{NAME, PLUGIN_ID, PackageError, VERSION};
use crate::paths::tilde;

const PART: Part = Part::Plugin;
const REMEDY: &str = "notesoup install";

pub(super) fn examine(examination: &Examination, client: Option<&Client>, report: Report<'_>) {
    let Ok(store) = Store::locate() else {
        report(Finding::wrong(
            PART,
            PackageError::NoHome.to_string(),
            PackageError::NoHome.hint(),
        ));
        return;
    };
    let Some(version) = store.current_version() else {
        let said = format!("no plugin is installed in {}", tilde(store.root()));
        // A checkout that was added as a marketplace serves as well; the program is then found on the PATH.
        match client.filter(|client| takes_it_from_elsewhere(client, &store)) {
            Some(client) => {
                report(Finding::note(PART, said).remedy(format!("{REMEDY} keeps plugin and program together")));
                tell(known_to(examination, client, &store, report), report);
            }
            None => report(Finding::wrong(PART, said, REMEDY)),
        }
        return;
    };
    let is_up_to_date = store.is_up_to_date(&examination.program);
    if !is_up_to_date && examination.fix {
        repair(examination, report);
    } else if is_up_to_date {
        report(Finding::well(
            PART,
            format!("plugin {VERSION} in {}", tilde(&store.current())),
        ));
    } else {
        report(Finding::wrong(
            PART,
            match version.strip_prefix(VERSION) {
                Some(build) if build.is_empty() || build.starts_with('.') => {
                    format!("the installed files are of another build of {VERSION} than this program")
                }
                _ => format!("the installed files ({version}) are not those of this program ({VERSION})"),
            },
            REMEDY,
        ));
    }
    if let Some(client) = client {
        tell(known_to(examination, client, &store, report), report);
    }
}

fn tell(outcome: Result<(), PackageError>, report: Report<'_>) {
    if let Err(err) = outcome {
        report(Finding::wrong(PART, err.to_string(), err.hint()));
    }
}

fn takes_it_from_elsewhere(client: &Client, store: &Store) -> bool {
    let is_other = |path: &Path| path != store.current() && path.join("plugin").is_dir();
    client.marketplaces().is_ok_and(|markets| {
        let ours = markets.iter().find(|market| market.name == NAME);
        ours.and_then(|market| market.path.as_deref()).is_some_and(is_other)
    })
}

fn known_to(examination: &Examination, client: &Client, store: &Store, report: Report<'_>) -> Result<(), PackageError> {
    let current = store.current();
    let market = client.marketplaces()?.into_iter().find(|market| market.name == NAME);
    match market.as_ref().and_then(|market| market.path.as_deref()) {
        Some(path) if path == current => {}
        Some(path) => report(
            Finding::note(PART, format!("the client takes the plugin from {}", tilde(path)))
                .remedy(format!("{REMEDY} has it take the installed one")),
        ),
        None => report(Finding::wrong(
            PART,
            format!("the client does not know the marketplace {NAME}"),
            REMEDY,
        )),
    }
    let plugins = client.plugins()?;
    let ours: Vec<_> = plugins.iter().filter(|plugin| plugin.id == PLUGIN_ID).collect();
    if ours.is_empty() {
        report(Finding::wrong(
            PART,
            format!("{PLUGIN_ID} is not installed in the client"),
            REMEDY,
        ));
    }
    for plugin in &ours {
        let project = plugin.project_path.as_deref().map(|path| format!(" ({})", tilde(path)));
        let place = format!("{} scope{}", plugin.scope, project.unwrap_or_default());
        if let Some(older) = plugin.version.as_deref().filter(|version| *version != VERSION) {
            report(Finding::note(PART, format!("the client has it on record as {older}: {place}")).remedy(REMEDY));
        }
        let is_elsewhere = plugin
            .project_path
            .as_deref()
            .is_some_and(|path| !same_folder(path, &examination.cwd));
        if is_elsewhere && !plugin.enabled {
            report(
                Finding::note(
                    PART,
                    format!("{PLUGIN_ID} is for another project, not for this folder: {place}"),
                )
                .remedy(format!(
                    "{REMEDY} has it in every project of yours, {REMEDY} --scope project in this one, too"
                )),
            );
        } else if plugin.enabled {
            report(Finding::well(PART, format!("{PLUGIN_ID} is enabled: {place}")));
        } else {
            report(Finding::wrong(
                PART,
                format!("{PLUGIN_ID} is installed but switched off: {place}"),
                format!("claude plugin enable {PLUGIN_ID} --scope {}", plugin.scope),
            ));
        }
    }
    if let Some(older) = plugins
        .iter()
        .find(|plugin| plugin.enabled && plugin.id.split('@').next() == Some("compact-shaper"))
    {
        report(
            Finding::note(PART, format!("{} is enabled too, and both answer /compact", older.id)).remedy(format!(
                "claude plugin disable {} (its options are read by notesoup)",
                older.id
            )),
        );
    }
    let folder = market.and_then(|market| market.path).unwrap_or(current).join("plugin");
    if folder.is_dir() {
        sound(client, &folder, report)?;
    }
    Ok(())
}

fn sound(client: &Client, plugin: &Path, report: Report<'_>) -> Result<(), PackageError> {
    match client.validate(plugin)? {
        Verdict::Sound => report(Finding::well(PART, "passes `claude plugin validate --strict`")),
        Verdict::Warnings(said) => report(Finding::note(PART, format!("the client has warnings: {said}"))),
        Verdict::Unsound(said) => report(Finding::wrong(
            PART,
            format!("the client does not accept it: {said}"),
            REMEDY,
        )),
    }
    Ok(())
}

/// Brings the files up to this program; for whom the plugin is switched on stays as it is.
fn repair(examination: &Examination, report: Report<'_>) {
    let request = Request {
        scope: Scope::User,
        dry_run: false,
        files_only: true,
        program: examination.program.clone(),
        cwd: examination.cwd.clone(),
    };
    match install(&request, &mut |_| {}) {
        Ok(()) => report(Finding::fixed(PART, format!("files brought up to {VERSION}"))),
        Err(err) => report(Finding::wrong(PART, err.to_string(), err.hint())),
    }
}
