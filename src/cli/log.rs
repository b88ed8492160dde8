//! Logs of the hook path: JSON lines in the state directory, only where `NOTESOUP_LOG` asks for them, never on
//! standard output.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging to `<state dir>/log/notesoup.jsonl` when `NOTESOUP_LOG` is set, e.g. to `debug` or
/// `notesoup=debug`. A log that cannot be opened is done without.
pub(super) fn start(state_dir: Option<&Path>) {
    let Some(wanted) = std::env::var_os("NOTESOUP_LOG") else {
        return;
    };
    let Some(targets) = wanted.to_str().and_then(|wanted| wanted.parse::<Targets>().ok()) else {
        return;
    };
    let Some(folder) = state_dir.map(|dir| dir.join("log")) else {
        return;
    };
    if fs::create_dir_all(&folder).is_err() {
        return;
    }
    let Ok(file) = OpenOptions::new()
        .create(true)
        .append(true)
        // It may tell of what was said.
        .mode(0o600)
        .open(folder.join("notesoup.jsonl"))
    else {
        return;
    };
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_writer(Mutex::new(file));
    let _ = tracing_subscriber::registry().with(lines).with(targets).try_init();
}
