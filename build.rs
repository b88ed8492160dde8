//! Embeds the plugin: writes a list of its files, each with `include_bytes!`, for `src/package/embedded.rs`.
//!
//! Left out is what is built or what a client writes into the folder when it loads it: `bin/`, the client's type
//! declarations, its `tsconfig.json`, and the plugin's own tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const LEFT_OUT: &[&str] = &[
    "plugin/bin",
    "plugin/.claude-plugin/types",
    "plugin/tsconfig.json",
    "plugin/node_modules",
    "plugin/tests",
];

fn main() -> io::Result<()> {
    let top = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut names = vec![".claude-plugin/marketplace.json".to_owned()];
    collect(&top, "plugin", &mut names)?;
    names.sort();

    let mut list = String::from("&[\n");
    for name in &names {
        let path = top.join(name);
        let _ = writeln!(list, "    ({name:?}, include_bytes!({path:?})),");
        println!("cargo::rerun-if-changed={name}");
    }
    list.push_str("]\n");
    println!("cargo::rerun-if-changed=build.rs");

    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("embedded.rs");
    fs::write(out, list)
}

/// Adds the files below `folder`, and has cargo watch it for new ones where the client does not write.
fn collect(top: &Path, folder: &str, names: &mut Vec<String>) -> io::Result<()> {
    if !matches!(folder, "plugin" | "plugin/.claude-plugin") {
        println!("cargo::rerun-if-changed={folder}");
    }
    for entry in fs::read_dir(top.join(folder))? {
        let entry = entry?;
        let Ok(file_name) = entry.file_name().into_string() else {
            continue;
        };
        let name = format!("{folder}/{file_name}");
        if LEFT_OUT.contains(&name.as_str()) || name.ends_with(".test.ts") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(top, &name, names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}
