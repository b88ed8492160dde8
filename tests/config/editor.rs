//! What an editor says of a file by its first line: the taplo language tools against the schema that the table names.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that is asked for.
const TAPLO: &str = "@taplo/cli@0.7.0";

/// The tool, from `target/taplo`, where npm puts it if need be; it needs no network after that.
fn taplo() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/taplo");
    let program = folder.join("node_modules/.bin/taplo");
    if !program.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let npm = Command::new("npm")
            .args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"])
            .arg(&folder)
            .arg(TAPLO)
            .output();
        if !npm.is_ok_and(|npm| npm.status.success()) {
            let _ = writeln!(
                std::io::stderr(),
                "left out: the editor's tools, since npm cannot install {TAPLO}"
            );
            return None;
        }
    }
    Some(program)
}

fn check(program: &Path, file: &Path) -> (bool, String) {
    let output = Command::new(program)
        .args(["check", "--colors", "never"])
        .arg(file)
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn an_editor_finds_the_schema_by_the_first_line_and_marks_a_slip() {
    let Some(program) = taplo() else { return };
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("schemas")).unwrap();
    let file = folder.path().join("hooks.toml");
    let write = |draft: &str, margin: &str, run: &str| {
        let name = format!("schemas/{draft}.schema.json");
        std::fs::copy(top.join(&name), folder.path().join(&name)).unwrap();
        let text = format!(
            "#:schema ./{name}\n[window]\nreset_margin_tokens = {margin}\n\
             [hooks.mine]\nevent = 'session.compact'\nrun = '{run}'\norder = 70\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    write("hooks.draft-07", "5", "handoff");
    let (is_good, said) = check(&program, &file);
    assert!(is_good, "{said}");
    write("hooks", "'x'", "boot");
    let (is_good, said) = check(&program, &file);
    assert!(!is_good, "{said}");
    assert!(said.contains("\"x\" is not of type \"integer\""), "{said}");
    assert!(said.contains("\"boot\" is not one of"), "{said}");
}
