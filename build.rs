//! Embeds the plugin: writes a list of its files, each with `include_bytes!`, for `src/package/embedded.rs`.
//!
//! Left out is what is built or what a client writes into the folder when it loads it: `bin/`, the client's type
//! declarations, its `tsconfig.json`, and the plugin's own tests.
//!
//! And links the program for a fast start, where that can be had.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
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
    fs::write(out, list)?;
    link_for_a_fast_start()
}

/// Links the optimised program statically and at a fixed address on Linux x86-64 with glibc: the client starts it for
/// every event, and the dynamic loader and its relocations take 0.4 ms of a start of 0.9 ms.
///
/// `-C target-feature=+crt-static` would do the same, but without `--target` it reaches proc macros too, which cannot
/// be built so. Here the linker finds scripts under the names of the shared libraries, which name the static ones.
/// Where these are not installed, the program is linked as usual.
fn link_for_a_fast_start() -> io::Result<()> {
    let target = ["OS", "ARCH", "ENV"].map(|part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default());
    if target != ["linux", "x86_64", "gnu"] || env::var("PROFILE").as_deref() != Ok("release") {
        return Ok(());
    }
    const LIBRARIES: &[&str] = &["libc.a", "libm.a", "libgcc.a", "libgcc_eh.a"];
    if !LIBRARIES.iter().all(|name| is_installed(name)) {
        return Ok(());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("static");
    fs::create_dir_all(&folder)?;
    const SCRIPTS: &[(&str, &str)] = &[
        ("c", "GROUP ( -l:libc.a -l:libgcc_eh.a -l:libgcc.a )"),
        ("gcc_s", "GROUP ( -l:libgcc_eh.a -l:libgcc.a -l:libc.a )"),
        ("m", "GROUP ( -l:libm.a )"),
        // Part of libc.a since glibc 2.34.
        ("util", "/* */"),
        ("rt", "/* */"),
        ("pthread", "/* */"),
        ("dl", "/* */"),
    ];
    for (library, script) in SCRIPTS {
        fs::write(folder.join(format!("lib{library}.so")), script)?;
    }
    let order = folder.join("hook-order.ld");
    fs::write(&order, hook_order()?)?;
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", order.display());
    // The example is what the program's start is compared with.
    for kind in ["bins", "examples"] {
        println!("cargo::rustc-link-arg-{kind}=-L{}", folder.display());
        println!("cargo::rustc-link-arg-{kind}=-static");
        println!("cargo::rustc-link-arg-{kind}=-no-pie");
    }
    Ok(())
}

/// A linker script that puts the functions of the hook path side by side. The kernel maps a program 16 pages at a time
/// as they are touched; scattered over ten megabytes, these functions cost twice as many such steps.
fn hook_order() -> io::Result<String> {
    const LIST: &str = "link/hook-order.txt";
    println!("cargo::rerun-if-changed={LIST}");
    let mut script = String::from("SECTIONS\n{\n  .text.hook :\n  {\n");
    for name in fs::read_to_string(LIST)?.lines().filter(|line| !line.starts_with('#')) {
        let _ = writeln!(script, "    *(\".text.{name}\")");
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    Ok(script)
}

/// Whether the C compiler finds this library; it answers with the bare name when it does not.
fn is_installed(library: &str) -> bool {
    Command::new("cc")
        .arg(format!("-print-file-name={library}"))
        .output()
        .is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
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
