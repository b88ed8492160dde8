//! Uninstall: the mirror of install. Notes, settings and side files stay.

use super::client::Client;
use super::install::{Request, Scope, State, Step, is_ours};
use super::store::Store;
use super::{NAME, PLUGIN_ID, PackageError};
use crate::paths::tilde;

/// Takes back what [`super::install::install`] did in this scope. Marketplace and files go with the last scope.
///
/// Works without a client too: then only the files go, and the step about the client says what is left to do.
pub fn uninstall(request: &Request, report: &mut dyn FnMut(Step)) -> Result<(), PackageError> {
    let store = Store::locate()?;
    let still_used = match Client::find() {
        Ok(client) => from_client(&store, &client, request, report)?,
        Err(PackageError::NoClient) => {
            report(Step {
                what: "client",
                state: State::Warned,
                line: format!("no Claude Code here; should one come back: claude plugin uninstall {PLUGIN_ID}"),
            });
            false
        }
        Err(err) => return Err(err),
    };
    if still_used {
        return Ok(());
    }
    let step = |state| Step {
        what: "files",
        state,
        line: taken(state, &format!("plugin and program in {}", tilde(store.root()))),
    };
    if !store.exists() {
        report(step(State::Kept));
        return Ok(());
    }
    if request.dry_run {
        report(step(State::Would));
        return Ok(());
    }
    let lock = store.lock()?;
    store.remove(lock)?;
    report(step(State::Done));
    Ok(())
}

/// What became of a thing that was to go.
fn taken(state: State, what: &str) -> String {
    match state {
        State::Kept => format!("there is no {what}"),
        State::Would => format!("take out {what}"),
        State::Done | State::Warned => format!("took out {what}"),
    }
}

/// Returns whether another scope still uses the plugin.
fn from_client(
    store: &Store,
    client: &Client,
    request: &Request,
    report: &mut dyn FnMut(Step),
) -> Result<bool, PackageError> {
    let scope = request.scope.name();
    let (here, elsewhere): (Vec<_>, Vec<_>) = client
        .plugins()?
        .into_iter()
        .filter(|plugin| plugin.id == PLUGIN_ID)
        .partition(|plugin| is_ours(plugin, request.scope, &request.cwd));
    let act = |wanted: bool, args: &[&str]| -> Result<State, PackageError> {
        match (wanted, request.dry_run) {
            (false, _) => Ok(State::Kept),
            (true, true) => Ok(State::Would),
            (true, false) => client.act(args).map(|()| State::Done),
        }
    };
    let state = act(!here.is_empty(), &["plugin", "uninstall", PLUGIN_ID, "--scope", scope])?;
    report(Step {
        what: "plugin",
        state,
        line: taken(state, &format!("{PLUGIN_ID} ({scope})")),
    });
    if let Some(other) = elsewhere.first() {
        let whose = match (&other.project_path, request.scope) {
            (Some(path), _) => format!("{} scope of {}", other.scope, tilde(path)),
            (None, Scope::Project | Scope::User) => format!("{} scope", other.scope),
        };
        report(Step {
            what: "marketplace",
            state: State::Kept,
            line: format!("it and the files stay, still used in the {whose}"),
        });
        return Ok(true);
    }
    let current = store.current();
    let ours = client
        .marketplaces()?
        .iter()
        .any(|market| market.name == NAME && market.path.as_deref() == Some(&*current));
    let state = act(ours, &["plugin", "marketplace", "remove", NAME])?;
    report(Step {
        what: "marketplace",
        state,
        line: taken(state, NAME),
    });
    Ok(false)
}
