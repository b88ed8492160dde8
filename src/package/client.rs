//! The client's own commands: which client, which version, what it has installed.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::PackageError;

/// A command of the client takes a second or two; one that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client's version, without what may follow the third number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first version that loads hooks modules.
    pub const FIRST_WITH_MODS: Self = Self(2, 1, 287);

    /// Reads `2.1.332 (Claude Code)`; `None` when the text does not begin with three numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut numbers = word.split(['.', '-', '+']).map(|part| part.parse().ok());
        Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Claude Code on this machine.
#[derive(Debug, Clone)]
pub struct Client {
    path: PathBuf,
}

/// A plugin that the client has installed, once a scope.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    /// `<plugin>@<marketplace>`.
    pub id: String,
    /// `user`, `project` or `local`.
    #[serde(default)]
    pub scope: String,
    /// The version on record, which stays behind when the folder that it is loaded from moves on.
    pub version: Option<String>,
    /// Whether it loads.
    #[serde(default)]
    pub enabled: bool,
    /// The project it is installed for, in the scopes that have one.
    pub project_path: Option<PathBuf>,
    /// The folder that it is loaded from, when that is not the client's own copy.
    pub read_from_folder: Option<PathBuf>,
}

/// A marketplace that the client knows.
#[derive(Debug, Clone, Deserialize)]
pub struct Marketplace {
    /// Its name.
    pub name: String,
    /// Its folder, when it is a local one.
    pub path: Option<PathBuf>,
}

/// What `plugin validate` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Sound.
    Sound,
    /// Sound, with warnings; the text is the gist of what the client printed.
    Warnings(String),
    /// Unsound; the text is the gist of what the client printed.
    Unsound(String),
}

impl Client {
    /// The client that `NOTESOUP_CLAUDE` names, else the first `claude` on the PATH, else the one in the places where
    /// its own installers put it.
    pub fn find() -> Result<Self, PackageError> {
        if let Some(named) = env::var_os("NOTESOUP_CLAUDE").filter(|value| !value.is_empty()) {
            let path = PathBuf::from(named);
            if !is_program(&path) {
                return Err(PackageError::NotAClient { path });
            }
            return Ok(Self { path });
        }
        let on_path = env::var_os("PATH").map(|list| env::split_paths(&list).collect::<Vec<_>>());
        let at_home = crate::paths::home()
            .map(|home| vec![home.join(".local/bin"), home.join(".claude/local")])
            .unwrap_or_default();
        on_path
            .into_iter()
            .flatten()
            .chain(at_home)
            .map(|folder| folder.join("claude"))
            .find(|path| is_program(path))
            .map(|path| Self { path })
            .ok_or(PackageError::NoClient)
    }

    /// Where its program is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version.
    pub fn version(&self) -> Result<Version, PackageError> {
        let said = self.run(["--version"])?;
        Version::parse(&said.stdout).ok_or_else(|| PackageError::ClientFailed {
            command: self.line(["--version"]),
            reason: format!("it answered {:?}, which is no version", said.stdout.trim()),
        })
    }

    /// Its installed plugins, those of other projects included.
    pub fn plugins(&self) -> Result<Vec<InstalledPlugin>, PackageError> {
        self.json(["plugin", "list", "--json"])
    }

    /// Its marketplaces.
    pub fn marketplaces(&self) -> Result<Vec<Marketplace>, PackageError> {
        self.json(["plugin", "marketplace", "list", "--json"])
    }

    /// Has it look at the plugin in `folder`, strictly first.
    pub fn validate(&self, folder: &Path) -> Result<Verdict, PackageError> {
        let folder = folder.as_os_str();
        let strict = self.run([
            OsStr::new("plugin"),
            OsStr::new("validate"),
            OsStr::new("--strict"),
            folder,
        ])?;
        if strict.success {
            return Ok(Verdict::Sound);
        }
        let lax = self.run([OsStr::new("plugin"), OsStr::new("validate"), folder])?;
        if lax.success {
            return Ok(Verdict::Warnings(digest(&strict.all())));
        }
        Ok(Verdict::Unsound(digest(&lax.all())))
    }

    /// Runs one of its commands for its effect.
    pub fn act<I, S>(&self, args: I) -> Result<(), PackageError>
    where
        I: IntoIterator<Item = S> + Clone,
        S: AsRef<OsStr>,
    {
        let said = self.run(args.clone())?;
        if said.success {
            return Ok(());
        }
        Err(PackageError::ClientFailed {
            command: self.line(args),
            reason: said.all(),
        })
    }

    fn json<T: DeserializeOwned>(
        &self,
        args: impl IntoIterator<Item = &'static str> + Clone,
    ) -> Result<T, PackageError> {
        let said = self.run(args.clone())?;
        if !said.success {
            return Err(PackageError::ClientFailed {
                command: self.line(args),
                reason: said.all(),
            });
        }
        serde_json::from_str(said.stdout.trim()).map_err(|err| PackageError::ClientFailed {
            command: self.line(args),
            reason: format!("its answer is not what was expected: {err}"),
        })
    }

    /// The command as a person would type it.
    fn line<I, S>(&self, args: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut line = self.path.display().to_string();
        for arg in args {
            line.push(' ');
            line.push_str(&arg.as_ref().to_string_lossy());
        }
        line
    }

    fn run<I, S>(&self, args: I) -> Result<Said, PackageError>
    where
        I: IntoIterator<Item = S> + Clone,
        S: AsRef<OsStr>,
    {
        let failed = |reason: String| PackageError::ClientFailed {
            command: self.line(args.clone()),
            reason,
        };
        let mut child = Command::new(&self.path)
            .args(args.clone())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|err| failed(err.to_string()))?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let begun = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if begun.elapsed() > PATIENCE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(failed(format!("no answer in {} s", PATIENCE.as_secs())));
                }
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Err(err) => return Err(failed(err.to_string())),
            }
        };
        Ok(Said {
            success: status.success(),
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
        })
    }
}

/// What a command printed, and whether it went well.
struct Said {
    success: bool,
    stdout: String,
    stderr: String,
}

impl Said {
    fn all(&self) -> String {
        format!("{}\n{}", self.stdout.trim(), self.stderr.trim())
            .trim()
            .to_owned()
    }
}

/// How many lines of a verdict are shown.
const GIST: usize = 6;

/// The lines of a verdict that say what is wrong: those below a line that counts errors or warnings. The client also
/// prints what it found in order, and what its directory of plugins would say, both of which are left out. The last
/// lines when none says so.
fn digest(said: &str) -> String {
    let mut wanted = false;
    let mut lines = Vec::new();
    for line in said.lines().map(str::trim) {
        if line.contains("Found ") {
            wanted = !line.contains("directory");
        } else if line.starts_with('\u{276f}') {
            lines.extend(wanted.then_some(line));
        } else if !line.is_empty() {
            wanted = false;
        }
    }
    if lines.is_empty() {
        lines = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.drain(..lines.len().saturating_sub(GIST));
    }
    let more = lines.len().saturating_sub(GIST);
    lines.truncate(GIST);
    let mut text = lines.join("\n");
    if more > 0 {
        text.push_str(&format!("\nand {more} more"));
    }
    text
}

/// Reads a pipe to its end beside the waiting, so that a full pipe cannot block the child.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Whether this is a file that may be started.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_cut_to_what_is_wrong() {
        let said = "Validating hooks: a.ts\n\n  \u{276f} ./a.ts hooks: turn.start\n\n\u{26a0} Found 2 warnings:\n\n  \u{276f} line 1: \
                    bad\n  \u{276f} line 2: worse\n\nProvides:\n\n  \u{276f} modules: a.ts\n\n\u{2718} Found 1 problem the plugin directory \
                    refuses:\n\n  \u{276f} README missing\n\n\u{2718} Validation failed";
        assert_eq!(digest(said), "\u{276f} line 1: bad\n\u{276f} line 2: worse");
        assert_eq!(digest("broken manifest"), "broken manifest");
        let many: String = (0..9).map(|line| format!("line {line}\n")).collect();
        assert_eq!(digest(&many), "line 3\nline 4\nline 5\nline 6\nline 7\nline 8");
    }

    #[test]
    fn a_version_is_the_first_three_numbers() {
        assert_eq!(Version::parse("2.1.332 (Claude Code)\n"), Some(Version(2, 1, 332)));
        assert_eq!(Version::parse("2.1.300-beta.1"), Some(Version(2, 1, 300)));
        assert_eq!(Version::parse("2.1"), None);
        assert_eq!(Version::parse("claude"), None);
        assert!(Version(2, 1, 286) < Version::FIRST_WITH_MODS);
        assert!(Version(2, 2, 0) > Version::FIRST_WITH_MODS);
    }
}
