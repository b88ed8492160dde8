//! Install and uninstall where the client plays no part, or a stand-in does: every way it can go wrong.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;

use crate::bench::{Bench, program, tree};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn version_folder(bench: &Bench) -> String {
    let target = fs::read_link(bench.data().join("current")).unwrap();
    target.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn install_writes_these_files_and_no_others() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let current = fs::canonicalize(bench.data().join("current")).unwrap();
    let files: Vec<_> = tree(&current)
        .into_keys()
        .filter(|name| !current.join(name).is_dir())
        .collect();
    let listed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/package/installed-files.txt");
    let found = files.join("\n") + "\n";
    if std::env::var_os("NOTESOUP_GENERATE").is_some() {
        fs::write(listed, &found).unwrap();
    }
    assert_eq!(
        found,
        fs::read_to_string(listed).unwrap(),
        "if these are meant: NOTESOUP_GENERATE=1 cargo test --test package install_writes"
    );
    let mode = |name: &str| fs::metadata(current.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("plugin/bin/notesoup"), 0o755);
    assert_eq!(mode("plugin/.claude-plugin/plugin.json"), 0o644);
}

#[test]
fn install_asks_the_client_for_what_is_needed_and_for_nothing_else() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let calls = bench.calls();
    let current = bench.data().join("current");
    assert_eq!(calls[0], "--version");
    assert!(calls[1].starts_with("plugin validate --strict "), "{calls:?}");
    assert_eq!(calls[2], "plugin marketplace list --json");
    assert_eq!(calls[3], format!("plugin marketplace add {}", current.display()));
    assert_eq!(calls[4], "plugin list --json");
    assert_eq!(calls[5], "plugin install notesoup@notesoup --scope user");
    assert_eq!(calls.len(), 6);
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_would_be_done() {
    let bench = Bench::with_stand_in("2.1.332", "");
    let said = bench.run(&["install", "--dry-run"]).ok();
    assert!(!bench.data().exists());
    for word in [
        "would  files",
        "would  marketplace",
        "would  plugin",
        "Nothing was changed",
    ] {
        assert!(said.stdout.contains(word), "{word}: {}", said.stdout);
    }
    assert!(
        !bench
            .calls()
            .iter()
            .any(|call| call.contains("add") || call.contains("install"))
    );
}

#[test]
fn without_a_client_nothing_is_written_and_the_way_out_is_named() {
    let bench = Bench::new(None);
    let said = bench
        .run(&["install"])
        .fails_with("Claude Code was not found on the PATH");
    assert!(
        said.stderr.contains("NOTESOUP_CLAUDE=/path/to/claude"),
        "{}",
        said.stderr
    );
    assert!(!bench.data().exists());
}

#[test]
fn a_client_named_by_the_variable_has_to_be_a_program() {
    let mut bench = Bench::new(None);
    bench.set("NOTESOUP_CLAUDE", "/nowhere/claude");
    bench
        .run(&["install"])
        .fails_with("NOTESOUP_CLAUDE names /nowhere/claude, which is not a program");
}

#[test]
fn a_client_from_before_mods_is_told_apart_and_nothing_is_written() {
    let bench = Bench::with_stand_in("2.1.286", "");
    let said = bench
        .run(&["install"])
        .fails_with("Claude Code 2.1.286 has no mods yet; they came with 2.1.287");
    assert!(said.stderr.contains("what works there"), "{}", said.stderr);
    assert!(said.stderr.contains("what does not"), "{}", said.stderr);
    assert!(!bench.data().exists());

    Bench::with_stand_in("2.1.287", "").run(&["install"]).ok();
}

#[test]
fn warnings_of_the_client_are_shown_and_do_not_stop_the_install() {
    let bench = Bench::with_stand_in(
        "2.9.0",
        "'plugin validate --strict'*) echo 'a new kind of warning'; exit 1;;",
    );
    let said = bench.run(&["install"]).ok();
    assert!(said.stdout.contains("a new kind of warning"), "{}", said.stdout);
    assert!(bench.data().join("current/plugin/bin/notesoup").exists());
}

#[test]
fn a_plugin_that_the_client_refuses_leaves_the_installed_one_alone() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let current = bench.data().join("current");
    // An older file stands for an older version, so that there is something to bring up to date.
    fs::write(current.join("plugin/playbooks/dream.md"), "older").unwrap();
    let before = tree(&bench.data());
    fs::write(
        bench.root().join("claude"),
        "#!/bin/sh\ncase \"$*\" in --version) echo '2.1.332';; *validate*) echo 'broken manifest' >&2; exit 1;; *) echo '[]';; esac\n",
    )
    .unwrap();
    bench
        .run(&["install"])
        .fails_with("the client does not accept the plugin: broken manifest");
    let mut after = tree(&bench.data());
    // Only the folder that the refused version was written into has a new time.
    after.insert("versions".to_owned(), before["versions"].clone());
    assert!(before == after, "{:?}", after.keys().collect::<Vec<_>>());
}

#[test]
fn a_command_of_the_client_that_fails_is_named_with_its_words() {
    let bench = Bench::with_stand_in(
        "2.1.332",
        "'plugin marketplace add'*) echo 'policy forbids it' >&2; exit 1;;",
    );
    let said = bench.run(&["install"]).fails_with("policy forbids it");
    assert!(said.stderr.contains("plugin marketplace add"), "{}", said.stderr);
}

#[test]
fn a_home_that_cannot_be_written_is_a_clear_refusal() {
    let bench = Bench::with_stand_in("2.1.332", "");
    fs::set_permissions(bench.home(), fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere, so that the program is run as somebody else then.
    let copy = bench.root().join("notesoup");
    fs::copy(program(), &copy).unwrap();
    let mut command = bench.command(&copy, &["install"]);
    if fs::write(bench.home().join("probe"), "").is_ok() {
        fs::remove_file(bench.home().join("probe")).unwrap();
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write"), "{stderr}");
    assert!(stderr.contains(".local/share/notesoup"), "{stderr}");
    assert!(stderr.contains("XDG_DATA_HOME"), "{stderr}");
    assert!(tree(&bench.home()).is_empty());
}

#[test]
fn a_file_in_place_of_a_folder_is_a_clear_refusal() {
    let bench = Bench::with_stand_in("2.1.332", "");
    fs::write(bench.home().join(".local"), "a file").unwrap();
    bench.run(&["install"]).fails_with("cannot write");
    assert_eq!(fs::read(bench.home().join(".local")).unwrap(), b"a file");
}

#[test]
fn a_folder_that_is_not_ours_is_not_replaced() {
    let bench = Bench::with_stand_in("2.1.332", "");
    fs::create_dir_all(bench.data().join("current")).unwrap();
    fs::write(bench.data().join("current/mine.txt"), "mine").unwrap();
    bench.run(&["install"]).fails_with("is in the way");
    assert_eq!(fs::read(bench.data().join("current/mine.txt")).unwrap(), b"mine");
}

#[test]
fn two_installs_do_not_run_at_once() {
    let bench = Bench::with_stand_in("2.1.332", "");
    fs::create_dir_all(bench.data()).unwrap();
    let held = File::create(bench.data().join("install.lock")).unwrap();
    held.lock().unwrap();
    bench
        .run(&["install"])
        .fails_with("another install or uninstall is running");
    drop(held);
    bench.run(&["install"]).ok();
}

#[test]
fn an_upgrade_keeps_the_version_before_for_running_sessions_and_no_older_one() {
    let bench = Bench::with_stand_in("2.1.332", "");
    let versions = bench.data().join("versions");
    for name in ["0.0.1.1", "0.0.2.1", ".staging-killed"] {
        fs::create_dir_all(versions.join(name).join("plugin")).unwrap();
    }
    symlink("versions/0.0.2.1", bench.data().join("current")).unwrap();
    let said = bench.run(&["install"]).ok();
    assert!(said.stdout.contains("in place of 0.0.2.1"), "{}", said.stdout);
    let mut names: Vec<_> = fs::read_dir(&versions)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["0.0.2.1", &format!("{VERSION}.1")]);
    assert_eq!(version_folder(&bench), format!("{VERSION}.1"));
}

#[test]
fn a_damaged_installation_is_made_whole_by_installing_again() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    fs::write(bench.data().join("current/plugin/bin/notesoup"), "torn").unwrap();
    bench.run(&["install"]).ok();
    let installed = fs::read(bench.data().join("current/plugin/bin/notesoup")).unwrap();
    assert!(installed == fs::read(program()).unwrap());
    assert_eq!(version_folder(&bench), format!("{VERSION}.2"));
}

#[test]
fn the_installed_copy_can_install_itself_again() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let before = tree(&bench.data());
    let copy = bench.data().join("current/plugin/bin/notesoup");
    let output = bench.command(&copy, &["install"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(before == tree(&bench.data()));
}

#[test]
fn json_names_each_step_and_what_became_of_it() {
    let bench = Bench::with_stand_in("2.1.332", "");
    let told = bench.run(&["install", "--json"]).ok().json();
    assert_eq!(told["ok"], true);
    assert_eq!(told["changed"], true);
    let steps: Vec<_> = told["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{} {}", step["what"].as_str().unwrap(), step["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        steps,
        [
            "client kept",
            "validation done",
            "files done",
            "marketplace done",
            "plugin done"
        ]
    );
    let refused = Bench::new(None).run(&["install", "--json"]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.json()["ok"], false);
}

#[test]
fn uninstall_without_a_client_takes_the_files_and_says_what_is_left() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let mut command = bench.command(&program(), &["uninstall"]);
    let output = command.env_remove("NOTESOUP_CLAUDE").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!bench.data().exists());
    assert!(String::from_utf8_lossy(&output.stdout).contains("claude plugin uninstall notesoup@notesoup"));
}

#[test]
fn uninstall_leaves_what_a_person_put_beside_our_files() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    fs::write(bench.data().join("mine.txt"), "mine").unwrap();
    bench.run(&["uninstall"]).ok();
    assert_eq!(tree(&bench.data()).into_keys().collect::<Vec<_>>(), ["mine.txt"]);
}

#[test]
fn uninstall_says_what_went_and_a_second_one_that_nothing_was_there() {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let said = bench.run(&["uninstall", "--dry-run"]).ok();
    assert!(
        said.stdout
            .contains("take out plugin and program in ~/.local/share/notesoup"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains("Nothing was changed. `notesoup uninstall` does it."),
        "{}",
        said.stdout
    );
    assert!(bench.data().exists());
    let said = bench.run(&["uninstall"]).ok();
    assert!(said.stdout.contains("took out plugin and program"), "{}", said.stdout);
    assert!(said.stdout.contains("cargo uninstall notesoup"), "{}", said.stdout);
    let said = bench.run(&["uninstall"]).ok();
    assert!(
        said.stdout.contains("there is no plugin and program"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains("was not installed (user scope); nothing was changed"),
        "{}",
        said.stdout
    );
}

#[test]
fn the_end_names_this_scope_and_where_the_notes_really_are() {
    let bench = Bench::with_stand_in("2.1.332", "");
    let config = bench.home().join(".config/notesoup");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("hooks.toml"), "[notes]\nhome = \"~/my notes\"\n").unwrap();
    let said = bench.run(&["install", "--scope", "project", "--dry-run"]).ok();
    assert!(
        said.stdout.contains("`notesoup install --scope project` does it"),
        "{}",
        said.stdout
    );
    let said = bench.run(&["install", "--scope", "project"]).ok();
    for words in [
        "each window in this project",
        "Take it back: `notesoup uninstall --scope project`",
        "your notes stay in ~/my notes",
        "whoever else works on the project",
    ] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let said = bench.run(&["uninstall", "--scope", "project"]).ok();
    assert!(said.stdout.contains("your notes in ~/my notes"), "{}", said.stdout);
}
