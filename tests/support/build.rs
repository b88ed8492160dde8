//! The builds of the client that the tests run, where they come from, and how many may run at once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::{Rc, Weak};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, fmt, io, thread};

/// One build of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Build {
    /// As npm knows it.
    pub version: &'static str,
}

impl Build {
    /// The oldest build that the plugin promises to work with.
    pub const OLDEST: Self = Self { version: "2.1.295" };
    /// The newest build that was tried.
    pub const NEWEST: Self = Self { version: "2.1.332" };
    /// Both.
    pub const ALL: [Self; 2] = [Self::OLDEST, Self::NEWEST];

    /// Whether this is the older of the two.
    pub fn is_oldest(self) -> bool {
        self == Self::OLDEST
    }

    /// Runs a scenario with this build, or says on stderr that it is left out, and why.
    pub fn run(self, scenario: impl FnOnce(Self)) {
        match self.program() {
            Ok(_) => scenario(self),
            Err(why) => {
                left_out(&format!("no Claude Code {self} here ({why})"));
            }
        }
    }

    /// The client's program, installed when need be.
    ///
    /// 1. `NOTESOUP_CLAUDE`, a path: the only client then. It stands for the build whose version it reports, or for
    ///    the newest when it reports another; tests of the other build are left out.
    /// 2. `target/clients/<version>`, where an earlier run put it.
    /// 3. `claude` on the PATH, when it reports exactly this version.
    /// 4. `npm install` into `target/clients/<version>`, pinned, one process at a time.
    ///
    /// # Errors
    /// One line that says why there is none.
    pub fn program(self) -> Result<PathBuf, String> {
        static FOUND: Mutex<BTreeMap<&str, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
        let mut found = FOUND.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        found.entry(self.version).or_insert_with(|| self.find()).clone()
    }

    fn find(self) -> Result<PathBuf, String> {
        if let Some(chosen) = env::var_os("NOTESOUP_CLAUDE").filter(|path| !path.is_empty()) {
            let chosen = PathBuf::from(chosen);
            let reported = reported_version(&chosen)
                .ok_or_else(|| format!("NOTESOUP_CLAUDE: {} reports no version", chosen.display()))?;
            let stands_for = Self::ALL
                .into_iter()
                .find(|build| build.version == reported)
                .unwrap_or(Self::NEWEST);
            return if stands_for == self {
                Ok(chosen)
            } else {
                Err(format!("NOTESOUP_CLAUDE is {reported} and the only client"))
            };
        }
        let folder = clients().join(self.version);
        if let Some(program) = program_below(&folder) {
            return Ok(program);
        }
        let on_path = env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join("claude"))
            .find(|program| program.is_file() && reported_version(program).as_deref() == Some(self.version));
        match on_path {
            Some(program) => Ok(program),
            None => self.install(&folder),
        }
    }

    fn install(self, folder: &Path) -> Result<PathBuf, String> {
        let package = format!("@anthropic-ai/claude-code@{}", self.version);
        npm_install(folder, &package, "about 400 MB", program_below)
    }
}

/// The TypeScript compiler's script, for Node; installed like a client.
///
/// # Errors
/// One line that says why there is none.
pub fn typescript() -> Result<PathBuf, String> {
    const VERSION: &str = "5.9.3";
    let script = |folder: &Path| Some(folder.join("node_modules/typescript/lib/tsc.js")).filter(|path| path.is_file());
    let folder = clients().join(format!("typescript-{VERSION}"));
    script(&folder).map_or_else(
        || npm_install(&folder, &format!("typescript@{VERSION}"), "about 25 MB", script),
        Ok,
    )
}

/// Installs a pinned package, one process at a time.
fn npm_install(
    folder: &Path,
    package: &str,
    size: &str,
    look: impl Fn(&Path) -> Option<PathBuf>,
) -> Result<PathBuf, String> {
    let lock = open_lock(&clients().join("install.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if let Some(found) = look(folder) {
        return Ok(found); // Another process was faster.
    }
    let _ = writeln!(io::stderr(), "installing {package} into {} ({size})", folder.display());
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let output = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(folder)
        .args(["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])
        .arg(package)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm cannot be started: {error}"))?;
    look(folder).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!(
            "npm install failed: {}",
            said.lines().next().unwrap_or("it said nothing")
        )
    })
}
impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version)
    }
}

/// Says on stderr that the running test, or a part of it, is left out.
pub fn left_out(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // Written past the harness, which hides what a passing test prints.
    let _ = writeln!(io::stderr(), "LEFT OUT {test}: {why}");
}

/// The folder `target/` of this build.
pub fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a folder above target/tmp")
        .to_owned()
}

fn clients() -> PathBuf {
    target().join("clients")
}

/// The native program in the platform package; it needs no Node to run.
fn program_below(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules/@anthropic-ai")).ok()?;
    packages
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("claude-code-"))
        .map(|entry| entry.path().join("claude"))
        .find(|program| program.is_file())
}

fn reported_version(program: &Path) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.split_whitespace().next().map(str::to_owned)
}

/// How many clients run at once, over all test processes that share this `target/`.
const AT_ONCE: usize = 2;

/// The right to run a client. One thread never waits for itself: it shares the slot it holds.
pub struct Slot {
    _lock: File,
}

thread_local! {
    static HELD: RefCell<Weak<Slot>> = const { RefCell::new(Weak::new()) };
}

impl Slot {
    pub fn take() -> Rc<Self> {
        if let Some(held) = HELD.with_borrow(Weak::upgrade) {
            return held;
        }
        let mut locks: Vec<File> = (0..AT_ONCE)
            .map(|n| open_lock(&clients().join(format!("slot-{n}.lock"))).expect("a lock file below target/clients"))
            .collect();
        loop {
            if let Some(free) = locks.iter().position(|lock| lock.try_lock().is_ok()) {
                let slot = Rc::new(Self {
                    _lock: locks.swap_remove(free),
                });
                HELD.set(Rc::downgrade(&slot));
                return slot;
            }
            // Locks of files cannot be waited for two at a time.
            thread::sleep(Duration::from_millis(30));
        }
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}
