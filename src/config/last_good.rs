//! Each file layer as it was when it was last good, in the state directory: so that a slip in a file that is being
//! edited does not take its other values away from a running session.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::LayerKind;

/// How many projects' files are kept.
const KEPT: usize = 64;

/// The copies.
#[derive(Debug, Clone, Default)]
pub struct LastGood {
    folder: Option<PathBuf>,
    is_read_only: bool,
}

impl LastGood {
    /// No copies: a bad file is left out.
    pub fn nowhere() -> Self {
        Self::default()
    }

    /// The copies in this state directory. A good file is copied there, a file that is gone is forgotten.
    pub fn in_state_dir(state_dir: Option<&Path>) -> Self {
        Self {
            folder: state_dir.map(|dir| dir.join("last-good")),
            is_read_only: false,
        }
    }

    /// The same copies, to look at alone.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// The copy of a file: its own path, and its text.
    pub(super) fn recall(&self, kind: LayerKind, path: &Path) -> Option<(PathBuf, String)> {
        let copy = self.copy_of(kind, path)?;
        let text = fs::read_to_string(&copy).ok()?;
        Some((copy, text))
    }

    /// Keeps this text as the last good one. A copy that cannot be written is tried again next time.
    pub(super) fn remember(&self, kind: LayerKind, path: &Path, text: &str) {
        if self.is_read_only {
            return;
        }
        let Some(copy) = self.copy_of(kind, path) else { return };
        // Most often nothing has changed, and a read is cheaper than a write that reaches the disk.
        if fs::read(&copy).is_ok_and(|kept| kept == text.as_bytes()) {
            return;
        }
        if let Err(error) = write(&copy, text) {
            tracing::warn!(copy = %copy.display(), %error, "the last good config cannot be kept");
        }
    }

    /// Forgets a file that is gone: taking it away is no slip.
    pub(super) fn forget(&self, kind: LayerKind, path: &Path) {
        if let Some(copy) = self.copy_of(kind, path).filter(|_| !self.is_read_only) {
            let _ = fs::remove_file(copy);
        }
    }

    fn copy_of(&self, kind: LayerKind, path: &Path) -> Option<PathBuf> {
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        let kind = match kind {
            LayerKind::PluginFile => "plugin",
            LayerKind::UserFile => "user",
            LayerKind::ProjectFile => "project",
            _ => "other",
        };
        Some(self.folder.as_ref()?.join(format!("{kind}-{}.toml", &hash[..16])))
    }
}

/// Writes beside the copy and renames, after the text has reached the disk: whenever the machine stops, the copy is
/// the old one or the new one.
fn write(copy: &Path, text: &str) -> std::io::Result<()> {
    let Some(folder) = copy.parent() else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let mut temp = tempfile::NamedTempFile::new_in(folder)?;
    temp.write_all(text.as_bytes())?;
    temp.as_file().sync_all()?;
    temp.persist(copy)?;
    super::cache::forget_the_oldest(folder, KEPT, |name| name.starts_with("project-"))
}
