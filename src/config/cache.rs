//! The merged config between two hook runs.
//!
//! Merging the layers takes about a millisecond, most events are answered by no row, and the client starts this
//! program for each: so the merged result is kept in the state directory under a name that is the fingerprint of
//! everything it was made from. The first line is the live rows alone; the rest is only parsed when one of them runs.

use std::cell::OnceCell;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::check::Catalog;
use super::last_good::LastGood;
use super::load::{Loaded, load, load_keeping};
use super::problem::Problem;
use super::sources::Sources;
use super::{Config, Row};
use crate::texts::Scene;

/// How many fingerprints are kept: a few projects and settings that are used in turn.
const KEPT: usize = 16;

/// The config of one event: the live rows at once, everything else when it is asked for.
#[derive(Debug)]
pub struct Snapshot {
    /// Changes when anything that the config was made from changes.
    pub fingerprint: String,
    rows: Vec<(String, Row)>,
    /// The file's text, whose second line is the body; empty where the body was just made.
    text: String,
    body: OnceCell<Box<Body>>,
    /// The session that the texts are for.
    scene: Option<Scene>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Body {
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
        if let Some(kept) = file.as_deref().and_then(|file| Self::read(file, &fingerprint)) {
            return kept;
        }
        let Loaded { config, problems, .. } = load_keeping(sources, catalog, &LastGood::in_state_dir(state_dir));
        let rows = live_rows(&config);
        let body = Body { config, problems };
        if let Some(file) = file {
            // A cache that cannot be written is tried again next time.
            let _ = write(&file, &rows, &body);
        }
        Self {
            fingerprint,
            rows,
            text: String::new(),
            body: OnceCell::from(Box::new(body)),
            scene: None,
        }
    }

    fn read(file: &Path, fingerprint: &str) -> Option<Self> {
        let text = fs::read_to_string(file).ok()?;
        let (rows, _) = text.split_once('\n')?;
        // A file that was cut short has no closing newline.
        let rows = serde_json::from_str(rows).ok().filter(|_| text.ends_with('\n'))?;
        Some(Self {
            fingerprint: fingerprint.to_owned(),
            rows,
            text,
            body: OnceCell::new(),
            scene: None,
        })
    }

    /// The same with the texts of this session: variants that are not for it are taken out.
    pub fn for_scene(mut self, scene: Scene) -> Self {
        if let Some(body) = self.body.get_mut() {
            body.config.texts.suit(&scene);
        }
        self.scene = Some(scene);
        self
    }

    /// The live rows of an event, in their order.
    pub fn rows_of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = (&'a str, &'a Row)> {
        self.rows
            .iter()
            .filter(move |(_, row)| row.event == event)
            .map(|(id, row)| (id.as_str(), row))
    }

    /// The names of the events that have a live row.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(_, row)| row.event.as_str())
    }

    /// The whole config. A damaged cache gives the one that is compiled in.
    pub fn config(&self) -> &Config {
        &self.body().config
    }

    /// What was wrong with layers or values that were left out.
    pub fn problems(&self) -> &[Problem] {
        &self.body().problems
    }

    fn body(&self) -> &Body {
        self.body.get_or_init(|| {
            let body = self
                .text
                .split_once('\n')
                .and_then(|(_, body)| serde_json::from_str(body).ok());
            let mut body: Box<Body> = body.unwrap_or_else(|| {
                let loaded = load(&Sources::default(), &Catalog { handlers: &[] });
                Box::new(Body {
                    config: loaded.config,
                    problems: Vec::new(),
                })
            });
            if let Some(scene) = &self.scene {
                body.config.texts.suit(scene);
            }
            body
        })
    }
}

fn live_rows(config: &Config) -> Vec<(String, Row)> {
    let mut rows: Vec<_> = config
        .hooks
        .iter()
        .filter(|(_, row)| row.enabled)
        .map(|(id, row)| {
            (
                id.clone(),
                Row {
                    why: None,
                    ..row.clone()
                },
            )
        })
        .collect();
    rows.sort_by_key(|(_, row)| row.order);
    rows
}

fn write(file: &Path, rows: &[(String, Row)], body: &Body) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let mut temp = tempfile::NamedTempFile::new_in(folder)?;
    let text = format!("{}\n{}\n", serde_json::to_string(rows)?, serde_json::to_string(body)?);
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
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    };
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
    hash.finalize().to_hex()[..32].to_owned()
}
