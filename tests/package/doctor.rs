//! `notesoup doctor`: what it finds, and what it puts right.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::bench::{Bench, program};

/// What the stand-in answers when the plugin is installed and enabled.
fn installed(bench: &Bench) -> String {
    let current = bench.data().join("current");
    format!(
        "'plugin list --json') echo '[{{\"id\":\"notesoup@notesoup\",\"scope\":\"user\",\"version\":\"0.0.9\",\"enabled\":true}},\
         {{\"id\":\"compact-shaper@x\",\"scope\":\"user\",\"enabled\":true}}]';;\n\
         'plugin marketplace list --json') echo '[{{\"name\":\"notesoup\",\"path\":\"{}\"}}]';;",
        current.display()
    )
}

/// Installs, with a client that knows of it from then on.
fn bench() -> Bench {
    let bench = Bench::with_stand_in("2.1.332", "");
    bench.run(&["install"]).ok();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n--version) echo '2.1.332 (Claude Code)';;\n{}\nesac\n",
        installed(&bench)
    );
    fs::write(bench.root().join("claude"), script).unwrap();
    bench
}

/// The findings of a part, as `level line`.
fn findings(told: &Value, part: &str) -> Vec<String> {
    told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["part"] == part)
        .map(|finding| {
            format!(
                "{} {}",
                finding["level"].as_str().unwrap(),
                finding["line"].as_str().unwrap()
            )
        })
        .collect()
}

#[track_caller]
fn has(findings: &[String], words: &str) {
    assert!(
        findings.iter().any(|line| line.contains(words)),
        "{words}: {findings:#?}"
    );
}

#[test]
fn an_installation_that_is_well_is_called_so() {
    let bench = bench();
    let told = bench.run(&["doctor", "--json"]).ok().json();
    assert_eq!(told["ok"], true);
    let program = findings(&told, "program");
    has(&program, "well notesoup 0.1.0 at");
    has(&program, "current/plugin/bin/notesoup answers the client's requests");
    has(&program, "well side files in");
    has(&findings(&told, "client"), "well Claude Code 2.1.332");
    let plugin = findings(&told, "plugin");
    has(&plugin, "well plugin 0.1.0 in ~/.local/share/notesoup/current");
    has(&plugin, "well notesoup@notesoup is enabled: user scope");
    has(&plugin, "well passes `claude plugin validate --strict`");
    has(&plugin, "note the client has it on record as 0.0.9: user scope");
    has(&plugin, "note compact-shaper@x is enabled too");
    has(&findings(&told, "config"), "well profile \"both\"");
    has(&findings(&told, "notes"), "well none yet");
    assert!(!plugin.iter().any(|line| line.starts_with("wrong")), "{plugin:?}");
}

#[test]
fn what_is_missing_is_named_with_the_way_out() {
    let mut bench = Bench::new(None);
    bench.set("NOTESOUP_BIN", "/nowhere/notesoup");
    let said = bench.run(&["doctor"]);
    assert_eq!(said.code, Some(1));
    for words in [
        "NOTESOUP_BIN names /nowhere/notesoup, which is not a program",
        "Claude Code was not found on the PATH",
        "no plugin is installed in",
        "-> notesoup install",
        "things are wrong",
    ] {
        assert!(said.stdout.contains(words), "{words}:\n{}", said.stdout);
    }
}

#[test]
fn files_that_are_not_those_of_this_program_are_found_and_put_right() {
    let bench = bench();
    let file = bench.data().join("current/plugin/playbooks/dream.md");
    fs::write(&file, "older").unwrap();
    let told = bench.run(&["doctor", "--json"]).json();
    assert_eq!(told["ok"], false);
    has(
        &findings(&told, "plugin"),
        "wrong the installed files are of another build of 0.1.0 than this program",
    );

    let told = bench.run(&["doctor", "--fix", "--json"]).json();
    has(&findings(&told, "plugin"), "fixed files brought up to 0.1.0");
    assert_ne!(fs::read_to_string(&file).unwrap(), "older");
}

#[test]
fn a_mistake_in_the_config_is_told_with_its_line() {
    let bench = bench();
    let folder = bench.home().join(".config/notesoup");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hooks.toml"), "[window]\nreset_margin_token = 3\n").unwrap();
    let said = bench.run(&["doctor"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("hooks.toml:2:1"), "{}", said.stdout);
    assert!(
        said.stdout.contains("did you mean `reset_margin_tokens`?"),
        "{}",
        said.stdout
    );
}

#[test]
fn the_notes_alone_are_looked_at_when_asked() {
    let bench = bench();
    let root = bench.home().join(".agents/notes");
    fs::create_dir_all(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let told = bench.run(&["doctor", "--notes", "--json"]).ok().json();
    assert!(findings(&told, "program").is_empty());
    has(&findings(&told, "notes"), "others than you may read");

    bench.run(&["doctor", "--notes", "--fix"]).ok();
    let mode = fs::metadata(&root).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

#[test]
fn variables_that_change_what_works_are_named() {
    let mut bench = bench();
    bench.set("DISABLE_COMPACT", "1");
    let told = bench.run(&["doctor", "--json"]).json();
    has(
        &findings(&told, "client"),
        "note DISABLE_COMPACT=1 is set in this shell: no window is reset",
    );
}

#[test]
fn what_the_clients_settings_hold_for_us_is_looked_at() {
    let bench = bench();
    let write = |path: std::path::PathBuf, text: String| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let options = serde_json::json!({ "profile": "notesoup", "keepHeadChars": "many" });
    let settings = serde_json::json!({
        "pluginConfigs": { "notesoup@notesoup": { "options": options } },
        "notesoup": { "resetMarginTokens": 9000 },
    });
    write(bench.home().join(".claude/settings.json"), settings.to_string());
    write(
        bench.project().join(".claude/settings.json"),
        serde_json::json!({ "env": { "NOTESOUP_BIN": "/bin/false" } }).to_string(),
    );
    write(bench.project().join(".claude/settings.local.json"), "{".to_owned());
    let told = bench.run(&["doctor", "--json"]).json();
    let config = findings(&told, "config");
    has(&config, "well profile \"notesoup\"");
    has(&config, "keepHeadChars");
    has(&config, "the variable NOTESOUP_BIN is refused");
    has(&config, "settings.local.json: is not JSON");
}

#[test]
fn a_log_that_was_asked_for_is_named_with_its_file() {
    let mut bench = bench();
    bench.set("NOTESOUP_LOG", "debug");
    let told = bench.run(&["doctor", "--json"]).ok().json();
    has(
        &findings(&told, "program"),
        "sessions log to ~/.local/state/notesoup/log/notesoup.jsonl",
    );
    for nonsense in ["verbose", "a=b=c"] {
        bench.set("NOTESOUP_LOG", nonsense);
        let said = bench.run(&["doctor"]);
        assert_eq!(said.code, Some(1), "{nonsense}: {}", said.stdout);
        assert!(said.stdout.contains("logs nothing"), "{nonsense}: {}", said.stdout);
    }
}

#[test]
fn a_checkout_that_serves_as_marketplace_is_no_fault() {
    let bench = bench();
    let checkout = bench.root().join("checkout");
    fs::create_dir_all(checkout.join("plugin")).unwrap();
    let script = fs::read_to_string(bench.root().join("claude")).unwrap();
    let installed = bench.data().join("current").display().to_string();
    let script = script.replace(&installed, &checkout.display().to_string());
    fs::write(bench.root().join("claude"), script).unwrap();
    fs::remove_dir_all(bench.data()).unwrap();
    let told = bench.run(&["doctor", "--json"]).ok().json();
    let plugin = findings(&told, "plugin");
    has(&plugin, "note no plugin is installed in ~/.local/share/notesoup");
    has(
        &plugin,
        &format!("note the client takes the plugin from {}", checkout.display()),
    );
    has(&plugin, "well notesoup@notesoup is enabled");
    has(&plugin, "well passes `claude plugin validate --strict`");
}

/// Switched on for one project only, it is no fault that it is off elsewhere.
#[test]
fn a_plugin_of_another_project_is_no_fault_of_this_folder() {
    let bench = bench();
    let elsewhere = bench.root().join("elsewhere");
    let script = fs::read_to_string(bench.root().join("claude")).unwrap();
    let theirs = format!(
        "\"scope\":\"project\",\"projectPath\":\"{}\",\"version\":\"{}\",\"enabled\":false",
        elsewhere.display(),
        env!("CARGO_PKG_VERSION")
    );
    let script = script.replace("\"scope\":\"user\",\"version\":\"0.0.9\",\"enabled\":true", &theirs);
    assert!(script.contains(&theirs), "{script}");
    fs::write(bench.root().join("claude"), script).unwrap();
    let told = bench.run(&["doctor", "--json"]).ok().json();
    has(
        &findings(&told, "plugin"),
        "note notesoup@notesoup is for another project, not for this folder",
    );
    // In that project it is switched off, and that is wrong there.
    fs::create_dir(&elsewhere).unwrap();
    let mut there = bench.command(&program(), &["doctor", "--json"]);
    let output = there.current_dir(&elsewhere).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("installed but switched off"));
}
