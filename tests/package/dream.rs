//! A dream, with a stand-in for the client that changes notes as a model would by the tools.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::{Bench, program, tree};

const INIT: &str = r#"echo '{"type":"system","subtype":"init","tools":["mcp__notesoup__notes_list","mcp__notesoup__notes_read","mcp__notesoup__notes_search","mcp__notesoup__notes_update","mcp__notesoup__notes_write"]}'"#;
const CALL: &str = r#"echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"mcp__notesoup__notes_update","input":{"address":"@human/tea.md"}}]}}'"#;
const RESULT: &str =
    r#"printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"\n# Dream report\n\n1 home"}'"#;

/// A bench with five notes, whose client dreams by running `steps` in the notes folder.
fn bench(steps: &str) -> Bench {
    let bench = Bench::with_stand_in("2.1.332", "");
    dreaming(&bench, steps);
    for name in ["tea", "coffee", "water", "milk", "juice"] {
        write(&bench, &format!("human/{name}.md"), &format!("# {name}\n\nhot\n"));
    }
    bench
}

/// The client dreams by running `steps` from now on. What it was given lies in `args`, `prompt` and `env`.
fn dreaming(bench: &Bench, steps: &str) {
    let root = bench.root().display();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n--print*) printf '%s\\n' \"$@\" > '{root}/args'; cat > '{root}/prompt'; env > '{root}/env'\n\
         {steps}\n;;\n'plugin list --json') echo '[{{\"id\":\"other@market\",\"enabled\":true}}]';;\nesac\n"
    );
    fs::write(bench.root().join("claude"), script).unwrap();
}

fn notes(bench: &Bench) -> PathBuf {
    bench.home().join(".agents/notes")
}

fn write(bench: &Bench, path: &str, text: &str) {
    let file = notes(bench).join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(bench: &Bench, path: &str) -> String {
    fs::read_to_string(notes(bench).join(path)).unwrap()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn subjects(bench: &Bench) -> Vec<String> {
    let log = git(&notes(bench), &["log", "--format=%s"]);
    log.lines().map(str::to_owned).collect()
}

fn successful(change: &str) -> String {
    format!("{INIT}\n{CALL}\n{change}\n{RESULT}")
}

#[test]
fn a_dream_is_a_commit_before_one_after_and_a_report() {
    let bench = bench(&successful("echo cold > human/tea.md"));
    let said = bench.run(&["dream", "--init"]).ok();
    assert!(said.stdout.contains("# Dream report"), "{}", said.stdout);
    assert!(said.stdout.contains("1 note changed"), "{}", said.stdout);
    assert!(said.stdout.contains("  @human/tea.md"), "{}", said.stdout);
    assert!(said.stderr.contains("1 notes update @human/tea.md"), "{}", said.stderr);
    assert_eq!(subjects(&bench), ["A dream: 1 note changed", "Notes before a dream"]);

    let before = git(&notes(&bench), &["show", "HEAD^:human/tea.md"]);
    assert_eq!(before, "# tea\n\nhot\n");
    assert_eq!(git(&notes(&bench), &["status", "--porcelain"]), "");
    let reports: Vec<_> = fs::read_dir(notes(&bench).join("dreams")).unwrap().collect();
    assert_eq!(reports.len(), 1);
    let report = fs::read_to_string(reports[0].as_ref().unwrap().path()).unwrap();
    assert!(
        report.contains("1 home\n\n## Files that changed\n\n- `@human/tea.md`\n"),
        "{report}"
    );
}

#[test]
fn the_model_gets_the_playbook_and_the_five_notes_tools_and_nothing_else() {
    let bench = bench(&successful(""));
    write(&bench, "human/.versions/tea.md/1", "old");
    bench.run(&["dream", "--init", "--model", "sonnet"]).ok();
    let args = fs::read_to_string(bench.root().join("args")).unwrap();
    let args: Vec<_> = args.lines().collect();
    let after = |flag: &str| args[args.iter().position(|arg| *arg == flag).unwrap() + 1];
    let five = "mcp__notesoup__notes_list,mcp__notesoup__notes_read,mcp__notesoup__notes_search,\
                mcp__notesoup__notes_update,mcp__notesoup__notes_write";
    assert_eq!(after("--tools"), five);
    assert_eq!(after("--allowedTools"), five);
    assert_eq!(after("--permission-mode"), "dontAsk");
    assert_eq!(after("--setting-sources"), "user");
    assert_eq!(after("--settings"), r#"{"enabledPlugins":{"other@market":false}}"#);
    assert_eq!(after("--model"), "sonnet");
    assert!(args.contains(&"--strict-mcp-config"));

    let prompt = fs::read_to_string(bench.root().join("prompt")).unwrap();
    let playbook = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/playbooks/dream.md")).unwrap();
    assert!(prompt.starts_with(&playbook));
    assert!(
        prompt.contains("Review `@project/`, `@human/`, `@self/` and `@model/`"),
        "{prompt}"
    );

    let environment = fs::read_to_string(bench.root().join("env")).unwrap();
    let root = notes(&bench);
    assert!(
        environment.contains(&format!("NOTESOUP_HOME={}\n", root.display())),
        "{environment}"
    );
    assert!(
        environment.contains("NOTESOUP_CONFIG__NOTES__PROJECT=project-"),
        "{environment}"
    );
    assert!(
        environment.contains(&format!("PWD={}\n", root.display())),
        "{environment}"
    );
    let tracked = git(&root, &["ls-files"]);
    assert!(!tracked.contains(".versions"), "{tracked}");
}

#[test]
fn a_relative_notes_folder_is_the_one_seen_from_here() {
    let bench = bench(&successful("echo cold > human/tea.md"));
    fs::rename(notes(&bench), bench.project().join("soup")).unwrap();
    bench.run(&["dream", "--init", "--notes-home", "soup"]).ok();
    let environment = fs::read_to_string(bench.root().join("env")).unwrap();
    let root = bench.project().join("soup");
    assert!(
        environment.contains(&format!("NOTESOUP_HOME={}\n", root.display())),
        "{environment}"
    );
    assert_eq!(fs::read_to_string(root.join("human/tea.md")).unwrap(), "cold\n");
}

#[test]
fn a_folder_that_is_no_repository_is_made_one_only_when_asked() {
    let bench = bench(&successful(""));
    bench.run(&["dream"]).fails_with("is not a git repository");
    assert!(!notes(&bench).join(".git").exists());
    assert!(!bench.root().join("args").exists());
}

#[test]
fn a_repository_of_something_else_is_left_alone() {
    let bench = bench(&successful(""));
    git(&bench.home(), &["init", "--quiet"]);
    bench.run(&["dream", "--init"]).fails_with("lies within the repository");
    assert!(!notes(&bench).join(".git").exists());
}

#[test]
fn gates_keep_a_dream_away_until_it_is_worth_it_and_force_opens_them() {
    let bench = bench(&successful("echo cold > human/tea.md"));
    fs::remove_file(notes(&bench).join("human/juice.md")).unwrap();
    // Neither notes of a conversation nor those of other projects and agents count.
    for other in [
        "pi/session/x/a.md",
        "project/other-1/a.md",
        "agents/pi/a.md",
        "dreams/a.md",
    ] {
        write(&bench, other, "x");
    }
    let said = bench.run(&["dream", "--init"]).ok();
    assert!(said.stderr.contains("4 notes are there in all"), "{}", said.stderr);
    assert!(!notes(&bench).join(".git").exists());

    bench.run(&["dream", "--init", "--force"]).ok();
    let said = bench.run(&["dream"]).ok();
    assert!(
        said.stderr.contains("the last one was less than an hour ago"),
        "{}",
        said.stderr
    );
    assert_eq!(subjects(&bench).len(), 2);

    write(&bench, "human/juice.md", "new");
    let told = bench.run(&["dream", "--dry-run", "--json"]).ok().json();
    assert_eq!(told["changed"], serde_json::json!(["@human/juice.md"]));
    bench.run(&["dream", "--force"]).ok();
    let prompt = fs::read_to_string(bench.root().join("prompt")).unwrap();
    assert!(
        prompt.contains("look at these first:\n\n- `@human/juice.md`\n"),
        "{prompt}"
    );
}

#[test]
fn a_dry_run_changes_nothing() {
    let bench = bench(&successful("echo cold > human/tea.md"));
    let before = tree(&notes(&bench));
    let said = bench.run(&["dream", "--dry-run"]).ok();
    assert!(said.stdout.contains("new      5 notes"), "{}", said.stdout);
    assert!(said.stdout.contains("a dream is worth it now"), "{}", said.stdout);
    assert!(said.stdout.contains("claude --print"), "{}", said.stdout);
    assert!(before == tree(&notes(&bench)));
    assert!(!bench.root().join("args").exists());
}

#[test]
fn undo_takes_a_dream_back_and_keeps_what_was_written_since() {
    let bench = bench(&successful(
        "echo cold > human/tea.md; rm human/milk.md; echo new > human/cocoa.md",
    ));
    bench.run(&["dream", "--init"]).ok();
    write(&bench, "human/water.md", "written since");
    let said = bench.run(&["dream", "--undo"]).ok();
    assert!(said.stdout.contains("3 files are as before"), "{}", said.stdout);
    assert_eq!(read(&bench, "human/tea.md"), "# tea\n\nhot\n");
    assert_eq!(read(&bench, "human/milk.md"), "# milk\n\nhot\n");
    for note in ["human/tea.md", "human/milk.md"] {
        let mode = fs::metadata(notes(&bench).join(note)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{note} is the owner's alone");
    }
    assert_eq!(read(&bench, "human/water.md"), "written since");
    assert!(!notes(&bench).join("human/cocoa.md").exists());
    assert_eq!(
        fs::read_dir(notes(&bench).join("dreams")).unwrap().count(),
        1,
        "the report stays"
    );
    assert_eq!(git(&notes(&bench), &["status", "--porcelain"]), "");

    bench
        .run(&["dream", "--undo"])
        .fails_with("there is no dream to take back");
    // What was taken back does not keep the next one away.
    bench.run(&["dream"]).ok();
    assert_eq!(read(&bench, "human/tea.md"), "cold\n");
}

#[test]
fn an_undo_that_would_overwrite_later_words_changes_nothing() {
    let bench = bench(&successful("echo cold > human/tea.md; echo cold > human/milk.md"));
    bench.run(&["dream", "--init"]).ok();
    write(&bench, "human/tea.md", "iced\n");
    let said = bench.run(&["dream", "--undo"]).fails_with("human/tea.md");
    assert!(said.stderr.contains("notesoup notes undo"), "{}", said.stderr);
    assert_eq!(read(&bench, "human/tea.md"), "iced\n");
    assert_eq!(read(&bench, "human/milk.md"), "cold\n");
}

#[test]
fn what_a_failed_dream_had_changed_can_be_taken_back() {
    let bench = bench(&format!(
        "{INIT}\necho half > human/tea.md\necho '{{\"type\":\"result\",\"subtype\":\"error\",\"is_error\":true,\"result\":\"overloaded\"}}'"
    ));
    bench
        .run(&["dream", "--init"])
        .fails_with("the client failed: overloaded");
    assert_eq!(
        subjects(&bench),
        ["A dream that was broken off", "Notes before a dream"]
    );
    bench.run(&["dream", "--undo"]).ok();
    assert_eq!(read(&bench, "human/tea.md"), "# tea\n\nhot\n");
}

#[test]
fn a_client_that_ends_without_a_report_is_told_by_its_own_words() {
    let bench = bench("echo 'no credit' >&2; exit 1");
    bench
        .run(&["dream", "--init"])
        .fails_with("the client failed: no credit");
    assert_eq!(subjects(&bench), ["Notes before a dream"]);
}

#[test]
fn a_client_that_offers_other_tools_is_stopped_at_once() {
    let bench = bench(&format!(
        "echo '{{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[\"Bash\"]}}'\nsleep 30\necho hot > human/tea.md\n{RESULT}"
    ));
    bench
        .run(&["dream", "--init"])
        .fails_with("the client offered the tools Bash");
    assert_eq!(read(&bench, "human/tea.md"), "# tea\n\nhot\n");
}

#[test]
fn one_dream_at_a_time_and_a_killed_one_does_not_block_the_next() {
    let bench = bench(&format!("{INIT}\n{CALL}\nexec sleep 60"));
    let mut first = bench
        .command(&program(), &["dream", "--init"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut heard = BufReader::new(first.stderr.take().unwrap()).lines();
    assert_eq!(heard.next().unwrap().unwrap(), "dreaming");
    bench
        .run(&["dream", "--force"])
        .fails_with("a dream is running over these notes already");
    bench
        .run(&["dream", "--undo"])
        .fails_with("a dream is running over these notes already");
    first.kill().unwrap();
    first.wait().unwrap();

    dreaming(&bench, &successful("echo cold > human/tea.md"));
    bench.run(&["dream"]).ok();
    assert_eq!(read(&bench, "human/tea.md"), "cold\n");
}

#[test]
fn a_dream_that_is_stopped_is_ended_whole_and_committed_as_far_as_it_came() {
    let bench = bench(&format!(
        "{INIT}\necho cold > human/tea.md\n{CALL}\n(sleep 1; echo late > human/milk.md) &\nsleep 60"
    ));
    let mut dream = bench
        .command(&program(), &["dream", "--init"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut heard = BufReader::new(dream.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(heard.next().unwrap(), "dreaming");
    assert!(heard.next().unwrap().contains("@human/tea.md"));
    let id = rustix::process::Pid::from_raw(i32::try_from(dream.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let said: Vec<_> = heard.collect();
    assert!(said[0].starts_with("stopped;"), "{said:?}");
    assert!(said[1].contains("notesoup dream --undo"), "{said:?}");
    assert_eq!(dream.wait().unwrap().code(), Some(130));
    assert_eq!(
        subjects(&bench),
        ["A dream that was broken off", "Notes before a dream"]
    );
    assert_eq!(git(&notes(&bench), &["status", "--porcelain"]), "");
    assert!(!notes(&bench).join(".git/index.lock").exists());

    // The lock is free, and nothing that the client had started wrote on.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    bench.run(&["dream", "--undo"]).ok();
    assert_eq!(read(&bench, "human/tea.md"), "# tea\n\nhot\n");
    assert_eq!(read(&bench, "human/milk.md"), "# milk\n\nhot\n");
}

#[test]
fn a_layer_of_the_command_line_holds_for_the_client_that_dreams_too() {
    let bench = bench(&successful(&format!(
        "\"$NOTESOUP_BIN\" config explain window.reset_margin_tokens > '{root}/told' 2>&1",
        root = "$ROOT"
    )));
    let script = fs::read_to_string(bench.root().join("claude")).unwrap();
    let script = script.replace("$ROOT", &bench.root().display().to_string());
    fs::write(bench.root().join("claude"), script).unwrap();
    let layer = bench.project().join("it's over.toml");
    fs::write(
        &layer,
        "[window]\nreset_margin_tokens = 4321\n[dream]\nmodel = \"haiku\"\n",
    )
    .unwrap();
    bench.run(&["dream", "--init", "--config", "it's over.toml"]).ok();
    let told = fs::read_to_string(bench.root().join("told")).unwrap();
    assert!(told.contains("4321") && told.contains("it's over.toml"), "{told}");
    let args = fs::read_to_string(bench.root().join("args")).unwrap();
    assert!(args.contains("--model\nhaiku\n"), "{args}");
}

#[test]
fn the_persons_own_git_settings_do_not_get_in_the_way() {
    let bench = bench(&successful("echo cold > human/tea.md"));
    let hooks = bench.root().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::write(hooks.join("pre-commit"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::write(
        bench.home().join(".gitconfig"),
        format!(
            "[commit]\ngpgsign = true\n[core]\nautocrlf = true\nhooksPath = {}\nexcludesFile = {}\n",
            hooks.display(),
            bench.root().join("ignored").display()
        ),
    )
    .unwrap();
    fs::write(bench.root().join("ignored"), "*.md\n").unwrap();
    bench.run(&["dream", "--init"]).ok();
    assert_eq!(subjects(&bench).len(), 2);
    assert!(git(&notes(&bench), &["ls-files"]).contains("human/tea.md"));
}

#[test]
fn a_note_that_vanished_is_named() {
    let bench = bench(&successful("rm human/tea.md; mv human/milk.md human/oat-milk.md"));
    let told = bench.run(&["dream", "--init", "--json"]).ok().json();
    assert_eq!(told["gone"], serde_json::json!(["@human/tea.md"]));
}
