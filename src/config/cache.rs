//! The merged config between two hook runs.
//!
//! Merging the layers takes about a millisecond, most events are answered by no row, and the client starts this
//! program for each: so the merged result is kept in the state directory under a name that is the fingerprint of
//! everything it was made from. It is kept in sections, a line each, and of these an event parses what it needs: its
//! own live rows first; the values when one of these runs; the texts when one of them is asked for.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::check::Catalog;
use super::fingerprint::Fingerprint;
use super::last_good::LastGood;
use super::load::{Loaded, load, load_keeping};
use super::problem::Problem;
use super::sources::Sources;
use super::{Config, Row};
use crate::texts::{Scene, Texts};

/// How many fingerprints are kept: a few projects and settings that are used in turn.
const KEPT: usize = 16;

/// Begins the line of the values, as its event's name does a line of rows.
const VALUES: &str = "values";
/// Begins the line of the texts, the last one.
const TEXTS: &str = "texts";

/// The config of one event, parsed as far as it is asked for.
#[derive(Debug)]
pub struct Snapshot {
    /// Changes when anything that the config was made from changes.
    pub fingerprint: String,
    /// The sections: a name, a tab, JSON, a line feed.
    text: Rc<String>,
    values: OnceCell<Box<Values>>,
    /// The session that the texts are for.
    scene: Option<Scene>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Values {
    config: Config,
    problems: Vec<Problem>,
}

impl Snapshot {
    /// The config for these sources: from the cache, else merged and put there.
    ///
    /// Without a `state_dir` nothing is kept. A cache that cannot be read or written is no fault: it only costs time.
    pub fn take(sources: &Sources, state_dir: Option<&Path>, catalog: &Catalog<'_>) -> Self {
        let fingerprint = fingerprint(sources);
        let file = state_dir.map(|dir| dir.join("config").join(&fingerprint));
        let text = file.as_deref().and_then(read).unwrap_or_else(|| {
            let loaded = load_keeping(sources, catalog, &LastGood::in_state_dir(state_dir));
            let text = sections(loaded);
            if let Some(file) = file {
                // A cache that cannot be written is tried again next time.
                let _ = write(&file, &text);
            }
            text
        });
        Self {
            fingerprint,
            text: Rc::new(text),
            values: OnceCell::new(),
            scene: None,
        }
    }

    /// The same with the texts of this session.
    pub fn for_scene(self, scene: Scene) -> Self {
        Self {
            values: OnceCell::new(),
            scene: Some(scene),
            ..self
        }
    }

    /// The live rows of an event, in their order, each with its id.
    pub fn rows_of(&self, event: &str) -> Vec<(String, Row)> {
        match self.section(event).map(serde_json::from_str) {
            None => Vec::new(),
            Some(Ok(rows)) => rows,
            // Damaged: as it is compiled in.
            Some(Err(_)) => owned_rows_of(&compiled_in().config, event),
        }
    }

    /// The names of the events that have a live row.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        let names = self.text.lines().filter_map(|line| Some(line.split_once('\t')?.0));
        names.filter(|name| ![VALUES, TEXTS].contains(name))
    }

    /// The whole config; of its rows the live ones, and of these no more than event, handler and order. A damaged cache
    /// gives the one that is compiled in.
    pub fn config(&self) -> &Config {
        &self.values().config
    }

    /// What was wrong with layers or values that were left out.
    pub fn problems(&self) -> &[Problem] {
        &self.values().problems
    }

    fn values(&self) -> &Values {
        self.values.get_or_init(|| {
            let kept = self.section(VALUES).and_then(|json| serde_json::from_str(json).ok());
            let mut values = kept
                .map(|mut values: Box<Values>| {
                    // The last section, without its line feed.
                    let begin = self.text.rfind('\t').map_or(0, |tab| tab + 1);
                    let place = begin..self.text.len().saturating_sub(1);
                    values.config.texts = Texts::read_later(Rc::clone(&self.text), place);
                    values
                })
                .unwrap_or_else(|| {
                    Box::new(Values {
                        config: compiled_in().config,
                        problems: Vec::new(),
                    })
                });
            if let Some(scene) = &self.scene {
                values.config.texts.suit(scene.clone());
            }
            values
        })
    }

    fn section(&self, name: &str) -> Option<&str> {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))
    }
}

fn compiled_in() -> Loaded {
    load(&Sources::default(), &Catalog { handlers: &[] })
}

fn owned_rows_of(config: &Config, event: &str) -> Vec<(String, Row)> {
    let rows = config.rows_of(event).into_iter();
    rows.map(|(id, row)| {
        (
            id.to_owned(),
            Row {
                why: None,
                ..row.clone()
            },
        )
    })
    .collect()
}

/// The text of a cache.
fn sections(loaded: Loaded) -> String {
    let Loaded {
        mut config, problems, ..
    } = loaded;
    let mut text = String::new();
    let mut add = |name: &str, json: serde_json::Result<String>| {
        // What has no JSON is left out, and then counts as damaged.
        if let Ok(json) = json {
            text.extend([name, "\t", &json, "\n"]);
        }
    };
    let live = config.hooks.values().filter(|row| row.enabled);
    let events: BTreeSet<String> = live.map(|row| row.event.clone()).collect();
    for event in &events {
        add(event, serde_json::to_string(&owned_rows_of(&config, event)));
    }
    let texts = std::mem::take(&mut config.texts);
    // What a profile lays over the rest has been.
    config.profiles.clear();
    config.hooks.retain(|_, row| row.enabled);
    for row in config.hooks.values_mut() {
        row.when.clear();
        row.options.clear();
        row.why = None;
    }
    add(VALUES, serde_json::to_string(&Values { config, problems }));
    add(TEXTS, serde_json::to_string(&texts));
    text
}

fn read(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    // A file that was cut short has no closing line feed, or no last section.
    let last = text.strip_suffix('\n')?.rsplit('\n').next()?;
    last.starts_with(TEXTS).then_some(text)
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let mut temp = tempfile::NamedTempFile::new_in(folder)?;
    temp.write_all(text.as_bytes())?;
    temp.persist(file)?;
    forget_the_oldest(folder, KEPT, |_| true)
}

/// Takes away the oldest files of a folder until `kept` are left, of those whose name is meant.
pub(super) fn forget_the_oldest(folder: &Path, kept: usize, is_meant: impl Fn(&str) -> bool) -> std::io::Result<()> {
    let mut files: Vec<(std::time::SystemTime, PathBuf)> = fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let is_meant = entry.file_name().to_str().is_some_and(&is_meant);
            is_meant.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(kept);
    for (_, path) in files.into_iter().take(surplus) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// The fingerprint of everything that the config is made from: files by size and time, settings and variables by
/// value, and this program's own build.
pub fn fingerprint(sources: &Sources) -> String {
    let mut fingerprint = Fingerprint::default();
    let mut add = |part: &[u8]| fingerprint.add(part);
    add(env!("CARGO_PKG_VERSION").as_bytes());
    // Another build may read the cache in another way.
    let program = std::env::current_exe().ok();
    for file in program.into_iter().chain(sources.files()) {
        add(file.as_os_str().as_encoded_bytes());
        match fs::metadata(&file) {
            Ok(data) => {
                for number in [
                    data.size(),
                    data.mtime() as u64,
                    data.mtime_nsec() as u64,
                    // Rights and owner are part of what is said about a file.
                    data.ctime() as u64,
                    data.ctime_nsec() as u64,
                    data.ino(),
                ] {
                    add(&number.to_le_bytes());
                }
            }
            Err(error) => add(error.kind().to_string().as_bytes()),
        }
    }
    for (name, value) in &sources.variables {
        add(name.as_bytes());
        add(value.as_encoded_bytes());
    }
    add(&serde_json::to_vec(&sources.settings).unwrap_or_default());
    fingerprint.finish()
}
