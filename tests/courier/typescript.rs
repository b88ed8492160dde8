//! The TypeScript compiler, pinned, and the declarations that a build of the client writes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, target};

/// The version that the courier is checked with.
const VERSION: &str = "5.9.3";

/// A compiler that is there.
pub struct Compiler {
    program: PathBuf,
}

/// The compiler below `target/`, installed when need be; none without npm, and stderr says so.
pub fn compiler() -> Option<Compiler> {
    let folder = target().join("typescript");
    match install(&folder) {
        Ok(program) => Some(Compiler { program }),
        Err(why) => {
            // Written past the harness, which hides what a passing test prints.
            let _ = writeln!(
                io::stderr(),
                "LEFT OUT the typecheck of the courier: no TypeScript {VERSION} ({why})"
            );
            None
        }
    }
}

fn install(folder: &Path) -> Result<PathBuf, String> {
    let said = |error: io::Error| error.to_string();
    fs::create_dir_all(folder).map_err(said)?;
    let lock = fs::File::create(folder.join("install.lock")).map_err(said)?;
    lock.lock().map_err(said)?;
    let program = folder.join("node_modules/typescript/bin/tsc");
    if program.is_file() {
        return Ok(program);
    }
    let output = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(folder)
        .args(["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])
        .arg(format!("typescript@{VERSION}"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm cannot be started: {error}"))?;
    if program.is_file() {
        return Ok(program);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "npm install failed: {}",
        stderr.lines().next().unwrap_or("it said nothing")
    ))
}

impl Compiler {
    /// Fails with what the compiler says, unless the plugin's modules and tests fit the declarations in its folder.
    #[track_caller]
    pub fn check(&self, plugin: &Path) {
        let project = plugin.join("tsconfig.json");
        fs::write(&project, r#"{ "extends": "./.claude-plugin/types/tsconfig.json" }"#).unwrap();
        let output = Command::new("node")
            .arg(&self.program)
            .arg("--project")
            .arg(&project)
            .stdin(Stdio::null())
            .output()
            .expect("node, which npm came with");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
    }
}

/// Waits until the client has written its declarations beside the plugin; it does so in an interactive session alone.
#[track_caller]
pub fn wait_for_declarations(plugin: &Path) {
    let config = plugin.join(".claude-plugin/types/tsconfig.json");
    let declarations = plugin.join(".claude-plugin/types/claude-code/index.d.ts");
    let until = Instant::now() + PATIENCE;
    while !(config.is_file() && is_whole(&declarations)) {
        assert!(Instant::now() < until, "no declarations in {}", plugin.display());
        thread::sleep(Duration::from_millis(50));
    }
}

/// Whether the file is there to its end, which closes a module.
fn is_whole(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.len() > 100_000 && text.trim_end().ends_with('}'))
}
