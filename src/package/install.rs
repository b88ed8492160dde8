//! Install: files first, then the client's own commands, each only where it changes something.

use std::path::{Path, PathBuf};

use super::client::{Client, InstalledPlugin, Verdict, Version};
use super::store::Store;
use super::{NAME, PLUGIN_ID, PackageError, VERSION};
use crate::paths::tilde;

/// For whom the plugin is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Scope {
    /// In every project of this person.
    #[default]
    User,
    /// In the project of the current folder, for everybody who works on it (its `.claude/settings.json`).
    Project,
}

impl Scope {
    /// As the client spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// What to install, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// For whom.
    pub scope: Scope,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Bring the files up to date, and leave the client's own records alone.
    pub files_only: bool,
    /// The program to put beside the plugin.
    pub program: PathBuf,
    /// The folder that scope `project` means.
    pub cwd: PathBuf,
}

/// One thing that install or uninstall looks after.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// What it is about, e.g. `files`, `marketplace`.
    pub what: &'static str,
    /// What became of it.
    pub state: State,
    /// One line for a person.
    pub line: String,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was as it should be.
    Kept,
    /// It was done.
    Done,
    /// A dry run: it would be done.
    Would,
    /// It was done, and something is to be said about it.
    Warned,
}

/// Installs, and tells `report` each step when it is done. Steps that are not needed are reported as kept.
pub fn install(request: &Request, report: &mut dyn FnMut(Step)) -> Result<(), PackageError> {
    let store = Store::locate()?;
    let client = Client::find()?;
    let version = client.version()?;
    report(Step {
        what: "client",
        state: State::Kept,
        line: format!("Claude Code {version} at {}", tilde(client.path())),
    });
    if version < Version::FIRST_WITH_MODS {
        return Err(PackageError::NoMods { version });
    }

    files(&store, &client, request, report)?;
    if request.files_only {
        return Ok(());
    }
    marketplace(&store, &client, request, report)?;
    plugin(&client, request, report)
}

fn files(store: &Store, client: &Client, request: &Request, report: &mut dyn FnMut(Step)) -> Result<(), PackageError> {
    let before = store.current_version();
    let current = store.current();
    let step = |state, line| Step {
        what: "files",
        state,
        line,
    };
    if store.is_up_to_date(&request.program) {
        report(step(
            State::Kept,
            format!("plugin {VERSION} and program in {}", tilde(&current)),
        ));
        return Ok(());
    }
    let in_place_of = before.map(|name| format!(" in place of {name}")).unwrap_or_default();
    let line = format!("plugin {VERSION} and program to {}{in_place_of}", tilde(&current));
    if request.dry_run {
        report(step(State::Would, line));
        return Ok(());
    }
    let lock = store.lock()?;
    let staged = store.stage(&request.program, &lock)?;
    let (state, said) = match client.validate(&staged.plugin())? {
        Verdict::Sound => (State::Done, "passes `claude plugin validate --strict`".to_owned()),
        // A newer client may warn about what it did not warn about before; that must not keep a person from it.
        Verdict::Warnings(said) => (
            State::Warned,
            format!("the client accepts it with warnings: {}", indent(&said)),
        ),
        Verdict::Unsound(reason) => return Err(PackageError::Invalid { reason }),
    };
    report(Step {
        what: "validation",
        state,
        line: said,
    });
    store.switch(staged, &lock)?;
    report(step(State::Done, line));
    Ok(())
}

fn marketplace(
    store: &Store,
    client: &Client,
    request: &Request,
    report: &mut dyn FnMut(Step),
) -> Result<(), PackageError> {
    let current = store.current();
    let known = client.marketplaces()?.into_iter().find(|market| market.name == NAME);
    let elsewhere = match known {
        Some(market) if market.path.as_deref() == Some(&*current) => {
            report(marketplace_step(State::Kept, &current, None));
            return Ok(());
        }
        Some(market) => market.path,
        None => None,
    };
    if request.dry_run {
        report(marketplace_step(State::Would, &current, elsewhere.as_deref()));
        return Ok(());
    }
    let folder = current.as_os_str();
    client.act(["plugin".as_ref(), "marketplace".as_ref(), "add".as_ref(), folder])?;
    report(marketplace_step(State::Done, &current, elsewhere.as_deref()));
    Ok(())
}

fn marketplace_step(state: State, current: &Path, elsewhere: Option<&Path>) -> Step {
    let instead = elsewhere
        .map(|path| format!(" (it pointed at {})", tilde(path)))
        .unwrap_or_default();
    Step {
        what: "marketplace",
        state,
        line: format!("{NAME} at {}{instead}", tilde(current)),
    }
}

fn plugin(client: &Client, request: &Request, report: &mut dyn FnMut(Step)) -> Result<(), PackageError> {
    let scope = request.scope.name();
    let installed = client
        .plugins()?
        .into_iter()
        .find(|plugin| is_ours(plugin, request.scope, &request.cwd));
    let (mut commands, mut line) = match &installed {
        Some(plugin) if plugin.enabled => (vec![], format!("{PLUGIN_ID} installed and enabled ({scope})")),
        Some(_) => (vec!["enable"], format!("{PLUGIN_ID} enabled ({scope})")),
        None => (vec!["install"], format!("{PLUGIN_ID} installed and enabled ({scope})")),
    };
    // The client loads what is in the folder; its record of the version is another matter.
    let on_record = installed.and_then(|plugin| plugin.version);
    if let Some(version) = on_record.filter(|version| version != VERSION) {
        commands.push("update");
        line.push_str(&format!(", {VERSION} in place of {version}"));
    }
    let state = match (commands.is_empty(), request.dry_run) {
        (true, _) => State::Kept,
        (false, true) => State::Would,
        (false, false) => {
            for command in commands {
                client.act(["plugin", command, PLUGIN_ID, "--scope", scope])?;
            }
            State::Done
        }
    };
    report(Step {
        what: "plugin",
        state,
        line,
    });
    Ok(())
}

/// Whether this is our plugin in that scope (and, for a project, in that project).
pub(super) fn is_ours(plugin: &InstalledPlugin, scope: Scope, cwd: &Path) -> bool {
    let here = || plugin.project_path.as_deref().is_none_or(|path| same_folder(path, cwd));
    plugin.id == PLUGIN_ID && plugin.scope == scope.name() && (scope == Scope::User || here())
}

/// Whether two paths lead to one folder.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    real(one) == real(other)
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("\n    {line}")).collect()
}
