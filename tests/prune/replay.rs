//! `notesoup replay`: a recorded conversation through the table.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::talk::{Talk, eager, long};

fn notesoup(arguments: &[&str], home: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Runs it on one conversation under these settings.
fn replay(talk: &Talk, settings: &str, more: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let file = talk.transcript();
    let config = home.path().join("try.toml");
    fs::write(&config, settings).unwrap();
    let mut arguments = vec!["replay", file.path().to_str().unwrap(), "--json"];
    arguments.extend(["--config", config.to_str().unwrap()]);
    arguments.extend(more);
    let out = notesoup(&arguments, home.path());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut told: Value = serde_json::from_slice(&out.stdout).unwrap();
    told["conversations"][0].take()
}

/// Turns of two calls each; the window grows by as many tokens with each response.
fn work(talk: &mut Talk, turns: std::ops::Range<u64>, mut tokens: u64, more: u64) -> u64 {
    for turn in turns {
        talk.prompt(&format!("step {turn}"));
        for call in 0..2 {
            talk.tokens(tokens);
            let id = format!("toolu_{turn}_{call}");
            let output = long(usize::try_from(more).unwrap() * 4);
            talk.step(&id, "Bash", json!({ "command": format!("make {id}") }), &output);
            tokens += more;
        }
        talk.tokens(tokens).respond().says(&format!("done {turn}"));
        tokens += 10;
    }
    tokens
}

/// What happened, in order.
fn moments(told: &Value) -> Vec<&str> {
    let moments = told["moments"].as_array().unwrap();
    moments.iter().map(|moment| moment["what"].as_str().unwrap()).collect()
}

fn did(told: &Value, row: &str) -> u64 {
    let rows = told["rows"].as_array().unwrap();
    let found = rows.iter().find(|found| found["id"] == row);
    found.unwrap_or_else(|| panic!("no row {row}"))["did"].as_u64().unwrap()
}

fn numbers(told: &Value, name: &str) -> Vec<u64> {
    let fill = told["fill"].as_array().unwrap();
    fill.iter().map(|point| point[name].as_u64().unwrap()).collect()
}

/// Without a boot the replayed figures are the recorded ones, as long as nothing happens.
const NO_BOOT: &str = "[hooks.boot]\nenabled = false\n[hooks.boot-again]\nenabled = false\n";

#[test]
fn warning_close_out_and_reset_come_at_their_marks() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let told = replay(&talk, NO_BOOT, &["--window", "200k"]);
    assert_eq!(
        told["marks"],
        json!({ "unit": "tokens", "point": 167_000.0, "reset_at": 158_808.0, "warn_at": 142_424.0 })
    );
    assert_eq!(moments(&told), ["warning", "close_out", "reset"], "{told:#}");
    let tokens: Vec<u64> = (0..3)
        .map(|at| told["moments"][at]["tokens"].as_u64().unwrap())
        .collect();
    let (recorded, replayed) = (numbers(&told, "recorded"), numbers(&told, "replayed"));
    let first = recorded.iter().find(|tokens| **tokens >= 142_424).unwrap();
    assert_eq!(tokens[0], *first, "the first figure above the mark");
    assert_eq!(told["moments"][0]["row"], "warning");
    assert!(
        tokens[1] >= 158_808 && tokens[2] > tokens[1],
        "{tokens:?}: the close-out's text counts"
    );
    assert_eq!(
        (
            did(&told, "close-out"),
            did(&told, "reset-after-turn"),
            did(&told, "our-reset")
        ),
        (1, 1, 1)
    );

    let reset = &told["moments"][2];
    let after = reset["tokens_after"].as_u64().unwrap();
    assert!(after < 40_000, "{reset}");
    assert!(reset["cut_would_leave"].as_u64().unwrap() < tokens[2], "{reset}");
    let at = usize::try_from(reset["response"].as_u64().unwrap()).unwrap();
    assert_eq!(recorded.len(), 36);
    assert_eq!(replayed[..10], recorded[..10], "nothing had happened yet");
    assert_eq!(replayed[at], after + recorded[at] - recorded[at - 1]);
    let grown = |tokens: &[u64]| tokens[at + 3] - tokens[at];
    assert_eq!(
        grown(&replayed),
        grown(&recorded),
        "the fresh window grows by what the recorded one grew"
    );
    assert_eq!(
        (&told["windows_recorded"], &told["windows_replayed"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(told["input_recorded"], json!(recorded.iter().sum::<u64>()));
    assert_eq!(told["input_replayed"], json!(replayed.iter().sum::<u64>()));
}

#[test]
fn margins_of_the_person_move_the_marks() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let settings = format!("{NO_BOOT}[window]\nreset_margin_tokens = 60000\nwarning_runway_tokens = 20000\n");
    let told = replay(&talk, &settings, &["--window", "200k"]);
    let warned = told["moments"][0]["tokens"].as_u64().unwrap();
    assert!((87_000..95_100).contains(&warned), "{told:#}");
    assert_eq!(told["marks"]["warn_at"], 87_000.0);
    assert_eq!(moments(&told)[..3], ["warning", "close_out", "reset"]);
}

/// A window of a million is not full: nothing but the boot.
#[test]
fn below_the_marks_no_row_is_asked() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let told = replay(&talk, "", &["--window", "1m"]);
    assert_eq!(moments(&told), [""; 0]);
    let rows = told["rows"].as_array().unwrap();
    let asked: Vec<&str> = rows
        .iter()
        .filter(|row| row["asked"] != 0)
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["boot"], "an event that does nothing starts no process");
    let boot = numbers(&told, "replayed")[0] - numbers(&told, "recorded")[0];
    assert!(boot > 300, "a boot of {boot} tokens");
}

/// In the middle of a turn the client compacts by itself: the ladder's cut, then what stands behind it.
#[test]
fn the_ladder_cuts_and_a_profile_summarises() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let rows = "[hooks.close-out]\nenabled = false\n[hooks.reset-after-turn]\nenabled = false\n[hooks.reset-at-measure]\nenabled = false\n";
    let ladder = format!("{NO_BOOT}{rows}[hooks.ladder]\nenabled = true\n");
    let told = replay(&talk, &ladder, &["--window", "200k"]);
    assert!(moments(&told).contains(&"cut"), "{told:#}");
    assert_eq!((did(&told, "ladder"), did(&told, "auto-reset")), (1, 0));
    let cut = told["moments"]
        .as_array()
        .unwrap()
        .iter()
        .find(|moment| moment["what"] == "cut")
        .unwrap();
    assert!(cut["tokens"].as_u64().unwrap() >= 167_000, "{cut}");
    assert!(
        cut["tokens_after"].as_u64().unwrap() < 100_200,
        "under 60 % of the point: {cut}"
    );

    let told = replay(&talk, "profile = \"compact-shaper\"\n", &["--window", "200k"]);
    assert_eq!(moments(&told), ["summary"], "{told:#}");
    assert_eq!(told["moments"][0]["row"], "handoff");
    assert!(told["remarks"].to_string().contains("taken to need 5000 tokens"));
}

/// Compactions that were typed go through the table as they did: a summary, a cut, a near miss.
#[test]
fn what_was_typed_is_typed_again() {
    let mut talk = Talk::new();
    let mut tokens = work(&mut talk, 0..3, 20_000, 8_000);
    for (turn, typed) in [(3, "keep the names"), (7, "prune"), (11, "prune please")] {
        let before = talk.rows.last().unwrap()["uuid"].clone();
        talk.row(json!({
            "type": "system", "subtype": "compact_boundary", "logicalParentUuid": before,
            "compactMetadata": { "trigger": "manual" },
        }));
        talk.rows.last_mut().unwrap()["parentUuid"] = Value::Null;
        talk.row(
            json!({ "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": "so far" } }),
        );
        let echo = format!("<command-name>/compact</command-name>\n<command-args>{typed}</command-args>");
        talk.row(json!({ "type": "user", "message": { "role": "user", "content": echo } }));
        tokens = work(&mut talk, turn..turn + 4, tokens / 3, 4_000);
    }
    let told = replay(&talk, NO_BOOT, &["--window", "200k"]);
    assert_eq!(moments(&told), ["summary", "cut", "refused"], "{told:#}");
    assert_eq!((did(&told, "handoff"), did(&told, "prune")), (1, 2));
    assert!(told["moments"][2]["line"].as_str().unwrap().contains("prune please"));
    assert_eq!(
        (&told["windows_recorded"], &told["windows_replayed"]),
        (&json!(4), &json!(3))
    );
    let (recorded, replayed) = (numbers(&told, "recorded"), numbers(&told, "replayed"));
    assert_eq!(
        replayed[9], recorded[9],
        "behind the client's own summary both windows begin alike"
    );
    assert_eq!(told["turns"], 15);
}

/// A turn that was broken off is not closed out; a prompt typed meanwhile begins no turn of its own.
#[test]
fn an_interrupted_turn_ends_without_a_close_out() {
    let mut talk = Talk::new();
    talk.tokens(160_000).prompt("go");
    talk.respond()
        .calls("toolu_1", "Bash", json!({ "command": "sleep" }))
        .failed("toolu_1", "killed");
    talk.prompt("[Request interrupted by user for tool use]")
        .prompt("and now?");
    talk.tokens(161_000).respond().says("yes");
    let told = replay(&talk, NO_BOOT, &["--window", "200k"]);
    let of: Vec<(&str, u64)> = told["moments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moment| (moment["what"].as_str().unwrap(), moment["turn"].as_u64().unwrap()))
        .collect();
    assert_eq!(of, [("warning", 1), ("close_out", 2), ("reset", 2)], "{told:#}");
    assert_eq!(told["turns"], 1, "one was answered");
}

/// Rows that a cut wrote again, and our own texts, are no news.
#[test]
fn what_a_cut_wrote_again_is_not_replayed_twice() {
    let mut talk = Talk::new();
    work(&mut talk, 0..4, 20_000, 8_000);
    let (rebuilt, _) = talk.cut(&eager());
    let before = talk.rows.last().unwrap()["uuid"].clone();
    talk.row(json!({
        "type": "system", "subtype": "compact_boundary", "logicalParentUuid": before,
        "compactMetadata": { "trigger": "manual" },
    }));
    talk.rows.last_mut().unwrap()["parentUuid"] = Value::Null;
    let boundary = talk.rows.last().unwrap()["uuid"].clone();
    let copies = Talk::after(&rebuilt);
    talk.rows.extend(copies.rows.clone());
    let first = talk.rows.len() - copies.rows.len();
    talk.rows[first]["parentUuid"] = boundary;
    talk.go_on_from(talk.rows.last().unwrap()["uuid"].clone());
    work(&mut talk, 4..5, 30_000, 8_000);
    let told = replay(&talk, NO_BOOT, &["--window", "200k"]);
    assert_eq!(told["turns"], 5, "{told:#}");
    assert_eq!(numbers(&told, "recorded").len(), 15);
    assert_eq!(
        moments(&told),
        [""; 0],
        "a cut of a plugin's own comes from the table alone"
    );
}

#[test]
fn a_window_that_is_not_named_is_assumed_and_said() {
    let mut small = Talk::new();
    work(&mut small, 0..2, 20_000, 8_000);
    let told = replay(&small, "", &[]);
    assert_eq!(
        (&told["window"], &told["window_is_assumed"]),
        (&json!(200_000), &json!(true))
    );
    assert!(
        told["remarks"]
            .to_string()
            .contains("no request had more than 52.0k tokens"),
        "{told:#}"
    );
    let mut large = Talk::new();
    work(&mut large, 0..2, 300_000, 8_000);
    assert_eq!(replay(&large, "", &[])["window"], 1_000_000);
}

#[test]
fn same_in_same_out_and_nothing_is_written() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let (home, file) = (tempfile::tempdir().unwrap(), talk.transcript());
    let before = fs::read(file.path()).unwrap();
    let path = file.path().to_str().unwrap();
    let first = notesoup(&["replay", path, "--json"], home.path());
    let second = notesoup(&["replay", path, "--json"], home.path());
    assert!(first.status.success());
    assert_eq!(text(&first.stdout), text(&second.stdout));
    assert_eq!(fs::read(file.path()).unwrap(), before);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn the_page_has_figures_picture_moments_and_rows() {
    let mut talk = Talk::new();
    work(&mut talk, 0..12, 24_000, 8_000);
    let (home, file) = (tempfile::tempdir().unwrap(), talk.transcript());
    let out = notesoup(
        &["replay", file.path().to_str().unwrap(), "--window", "200k"],
        home.path(),
    );
    let page = text(&out.stdout);
    assert!(
        page.contains("warning at 142k, reset at 159k, the client compacts at 167k."),
        "{page}"
    );
    assert!(page.contains("Windows: 2, where one was recorded."), "{page}");
    let marks = page.lines().find(|line| line.trim_start().starts_with('w')).unwrap();
    assert_eq!(marks.split_whitespace().collect::<String>(), "wR", "{page}");
    assert!(page.contains('█') && page.contains('░'));
    for heading in ["What would have happened", "Rows"] {
        assert!(page.lines().any(|line| line == heading), "{page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    assert!(!page.contains('\u{1b}'));
}

#[test]
fn the_newest_of_this_folder_are_found() {
    let home = tempfile::tempdir().unwrap();
    let none = notesoup(&["replay", "--last"], home.path());
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("There is no conversation of ~ below ~/.claude/projects. Name a transcript."));

    let folder = fs::canonicalize(home.path()).unwrap();
    let name = folder
        .to_string_lossy()
        .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let projects = home.path().join(".claude/projects").join(name);
    fs::create_dir_all(&projects).unwrap();
    for (place, name) in ["old", "middle", "new", "agent-side"].iter().enumerate() {
        let mut talk = Talk::new();
        work(&mut talk, 0..1, 20_000, 1_000);
        let path = projects.join(format!("{name}.jsonl"));
        fs::copy(talk.transcript().path(), &path).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000 * place as u64);
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let names = |arguments: &[&str]| {
        let out = notesoup(arguments, home.path());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let told: Value = serde_json::from_slice(&out.stdout).unwrap();
        let found = told["conversations"].as_array().unwrap().iter();
        let name = |told: &Value| {
            Path::new(told["transcript"].as_str().unwrap())
                .file_stem()
                .unwrap()
                .to_owned()
        };
        found.map(|told| name(told).into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["replay", "--last", "--json"]), ["new"]);
    assert_eq!(names(&["replay", "--last", "2", "--json"]), ["middle", "new"]);
    assert_eq!(names(&["replay", "--last", "9", "--json"]), ["old", "middle", "new"]);

    // From a folder below it is the same conversation, and a preview of a cut finds it as well.
    let below = home.path().join("src/ü");
    fs::create_dir_all(&below).unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_notesoup"))
        .args(["prune", "--preview"])
        .env_clear()
        .env("HOME", home.path())
        .current_dir(&below)
        .output()
        .unwrap();
    let said = text(&out.stdout);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(said.contains("/new.jsonl"), "{said}");
}

#[test]
fn what_cannot_be_replayed_is_said_and_the_rest_is_done() {
    let home = tempfile::tempdir().unwrap();
    let mut talk = Talk::new();
    work(&mut talk, 0..1, 20_000, 1_000);
    let file = talk.transcript();
    let mut unanswered = Talk::new();
    unanswered.prompt("hello?");
    let unanswered = unanswered.transcript();
    let out = notesoup(
        &[
            "replay",
            "nowhere.jsonl",
            unanswered.path().to_str().unwrap(),
            file.path().to_str().unwrap(),
        ],
        home.path(),
    );
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stderr).contains("cannot read the transcript nowhere.jsonl"),
        "{}",
        text(&out.stderr)
    );
    assert!(
        text(&out.stderr).contains("holds no response of the model"),
        "{}",
        text(&out.stderr)
    );
    assert!(
        text(&out.stdout).contains("1 turn, 3 responses"),
        "{}",
        text(&out.stdout)
    );
    for (arguments, said) in [
        (vec!["replay"], "required"),
        (vec!["replay", "x", "--window", "huge"], "such as 200k"),
        (vec!["replay", "--last", "0"], "invalid value"),
    ] {
        let out = notesoup(&arguments, home.path());
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(said), "{}", text(&out.stderr));
    }
}
