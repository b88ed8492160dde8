//! The table of reasons: for every rule a case on each side of it.

use notesoup::prune::{PruneOptions, ToolOptions, is_cut};
use serde_json::{Value, json};

use crate::talk::{Talk, eager, input_of, long, result_of};

/// Whether the output of one call is cut, in a conversation around it.
fn cuts(tool: &str, input: Value, output: &str, options: &PruneOptions) -> bool {
    cuts_then(tool, input, output, options, |_| {})
}

/// As [`cuts`], with something happening later.
fn cuts_then(tool: &str, input: Value, output: &str, options: &PruneOptions, later: impl Fn(&mut Talk)) -> bool {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_big", "Bash", json!({ "command": "make" }), &long(9_000));
    talk.step("toolu_x", tool, input, output);
    later(&mut talk);
    talk.ending();
    let (messages, _) = talk.cut(options);
    assert!(is_cut(result_of(&messages, "toolu_big")));
    let text = result_of(&messages, "toolu_x");
    assert!(is_cut(text) || text == output, "changed without a note: {text}");
    is_cut(text)
}

fn bash(command: &str) -> bool {
    cuts("Bash", json!({ "command": command }), &long(4_000), &eager())
}

#[test]
fn the_newest_messages_are_pinned_and_the_next_older_is_not() {
    let mut talk = Talk::new();
    talk.prompt("go");
    for step in 0..6 {
        talk.step(
            &format!("toolu_{step}"),
            "Bash",
            json!({ "command": "make" }),
            &long(4_000),
        );
    }
    let (messages, report) = talk.cut(&eager());
    // Six messages are three calls with their results.
    let cut: Vec<bool> = (0..6)
        .map(|step| is_cut(result_of(&messages, &format!("toolu_{step}"))))
        .collect();
    assert_eq!(cut, [true, true, true, false, false, false]);
    assert_eq!(report.kept.pinned, 3);
}

#[test]
fn a_call_is_pinned_with_its_result() {
    let mut talk = Talk::new();
    talk.prompt("go");
    for step in 0..3 {
        let written = json!({ "file_path": format!("/project/{step}"), "content": long(4_000) });
        talk.step(&format!("toolu_{step}"), "Write", written, "done");
    }
    let options = PruneOptions {
        preserve_recent_messages: 3,
        ..eager()
    };
    let (messages, _) = talk.cut(&options);
    let cut: Vec<bool> = (0..3)
        .map(|step| {
            is_cut(
                input_of(&messages, &format!("toolu_{step}"))["content"]
                    .as_str()
                    .unwrap(),
            )
        })
        .collect();
    // Of the middle call only the result is among the newest three.
    assert_eq!(cut, [true, false, false]);
}

#[test]
fn nothing_pinned_but_the_first() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_x", "Bash", json!({ "command": "make" }), &long(4_000));
    let options = PruneOptions {
        preserve_recent_messages: 0,
        ..eager()
    };
    assert!(is_cut(result_of(&talk.cut(&options).0, "toolu_x")));
}

#[test]
fn agents_answers_and_skills_are_protected_and_other_tools_are_not() {
    for tool in ["Agent", "Task", "AskUserQuestion", "ExitPlanMode", "Skill"] {
        assert!(!cuts(tool, json!({}), &long(4_000), &eager()), "{tool}");
    }
    for tool in [
        "Bash",
        "Grep",
        "WebFetch",
        "mcp__server__tool",
        "TaskStop",
        "AgentOutput",
    ] {
        assert!(cuts(tool, json!({}), &long(4_000), &eager()), "{tool}");
    }
}

#[test]
fn a_failed_call_is_protected() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_big", "Bash", json!({ "command": "make" }), &long(9_000));
    talk.respond()
        .calls("toolu_f", "Bash", json!({ "command": "make" }))
        .failed("toolu_f", &long(4_000));
    talk.respond()
        .calls(
            "toolu_w",
            "Write",
            json!({ "file_path": "/project/x", "content": long(4_000) }),
        )
        .failed("toolu_w", "denied");
    talk.ending();
    let (messages, report) = talk.cut(&eager());
    assert_eq!(result_of(&messages, "toolu_f"), long(4_000));
    assert_eq!(input_of(&messages, "toolu_w")["content"], long(4_000));
    assert_eq!(report.protected[0].count, 3);
}

#[test]
fn snapshots_of_git_and_gh_are_protected_and_other_commands_are_not() {
    for command in [
        "git status",
        "git -C /x status --short",
        "A=b git  status | head",
        "cd /x && git stash list",
        "gh run view 12 --log-failed",
        "gh pr checks 3",
    ] {
        assert!(!bash(command), "{command}");
    }
    for command in [
        "git log",
        "git stash pop",
        "gh run list",
        "gh pr view 3",
        "echo git status",
        "cargo test",
    ] {
        assert!(bash(command), "{command}");
    }
}

#[test]
fn the_config_lists_commands() {
    let options = PruneOptions {
        protected_commands: vec!["kubectl get".to_owned()],
        ..eager()
    };
    let cuts = |command: &str| cuts("Bash", json!({ "command": command }), &long(4_000), &options);
    assert!(!cuts("kubectl -n prod get pods"));
    assert!(cuts("kubectl logs pod"));
    assert!(!cuts("git status"));
}

#[test]
fn the_config_lists_tools() {
    let options = PruneOptions {
        protected_tools: vec!["WebFetch".to_owned(), "mcp__db__*".to_owned()],
        ..eager()
    };
    assert!(!cuts("WebFetch", json!({}), &long(4_000), &options));
    assert!(!cuts("mcp__db__query", json!({}), &long(4_000), &options));
    assert!(cuts("mcp__dba__query", json!({}), &long(4_000), &options));
}

#[test]
fn a_tools_own_table_protects_or_frees_it() {
    let mut options = eager();
    let own = |protected| ToolOptions {
        protected: Some(protected),
        ..ToolOptions::default()
    };
    options.tools.insert("Bash".to_owned(), own(false));
    options.tools.insert("Agent".to_owned(), own(false));
    options.tools.insert("Grep".to_owned(), own(true));
    assert!(cuts("Agent", json!({}), &long(4_000), &options));
    assert!(!cuts("Grep", json!({}), &long(4_000), &options));
    // What protects a command is not its tool.
    assert!(!cuts(
        "Bash",
        json!({ "command": "git status" }),
        &long(4_000),
        &options
    ));
}

#[test]
fn the_config_lists_files_by_glob() {
    let options = PruneOptions {
        protected_paths: vec![
            "*.lock".to_owned(),
            "/srv/**".to_owned(),
            "/project/docs/*.md".to_owned(),
        ],
        ..eager()
    };
    let cuts = |path: &str| cuts("Read", json!({ "file_path": path }), &long(4_000), &options);
    assert!(!cuts("/project/deep/Cargo.lock"));
    assert!(!cuts("/srv/a/b.txt"));
    assert!(!cuts("docs/../docs/x.md"));
    assert!(cuts("/project/docs/sub/x.md"));
    assert!(cuts("/project/lock"));
}

#[test]
fn a_glob_that_cannot_be_read_is_said_and_protects_nothing() {
    let options = PruneOptions {
        protected_paths: vec!["a[".to_owned()],
        ..eager()
    };
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_x", "Read", json!({ "file_path": "/a[" }), &long(4_000))
        .ending();
    let (_, report) = talk.cut(&options);
    assert_eq!(report.faults.len(), 1);
    assert!(report.faults[0].contains("a["), "{}", report.faults[0]);
}

#[test]
fn instructions_and_memory_are_protected_and_other_files_are_not() {
    let cuts = |path: &str| cuts("Read", json!({ "file_path": path }), &long(4_000), &eager());
    for path in [
        "CLAUDE.md",
        "/project/sub/CLAUDE.local.md",
        "/project/AGENTS.md",
        "/project/.claude/rules/style.md",
        "/home/me/.claude/projects/-project/memory/notes.md",
        "/home/me/.agents/notes/x.md",
        "/project/skills/x/SKILL.md",
    ] {
        assert!(!cuts(path), "{path}");
    }
    for path in [
        "/project/README.md",
        "/project/src/claude.rs",
        "/project/.claude/settings.json",
    ] {
        assert!(cuts(path), "{path}");
    }
}

#[test]
fn an_edit_of_instructions_keeps_its_input() {
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_big", "Bash", json!({ "command": "make" }), &long(9_000));
    talk.step(
        "toolu_w",
        "Write",
        json!({ "file_path": "/project/CLAUDE.md", "content": long(4_000) }),
        "done",
    );
    talk.ending();
    assert_eq!(input_of(&talk.cut(&eager()).0, "toolu_w")["content"], long(4_000));
}

/// What a reading of `/project/a.rs` is called when it is cut, with something happening later.
fn reading_then(input: Value, later: impl Fn(&mut Talk)) -> String {
    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_x", "Read", input, &long(4_000));
    later(&mut talk);
    talk.ending();
    let (messages, _) = talk.cut(&eager());
    let text = result_of(&messages, "toolu_x");
    assert!(is_cut(text));
    let note = text.lines().last().unwrap();
    if note.contains("edited later") {
        "edited".to_owned()
    } else if note.contains("shown again") {
        "again".to_owned()
    } else {
        "cut".to_owned()
    }
}

#[test]
fn a_reading_is_superseded_by_a_later_successful_edit_only() {
    let whole = || json!({ "file_path": "/project/a.rs" });
    let edit = |path: &str| json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    for tool in ["Edit", "Write", "MultiEdit"] {
        assert_eq!(
            reading_then(whole(), |talk| _ =
                talk.step("toolu_e", tool, edit("/project/./a.rs"), "ok")),
            "edited"
        );
    }
    assert_eq!(
        reading_then(whole(), |talk| _ =
            talk.step("toolu_e", "Edit", edit("src/../a.rs"), "ok")),
        "edited"
    );
    assert_eq!(
        reading_then(whole(), |talk| _ =
            talk.step("toolu_e", "Edit", edit("/project/b.rs"), "ok")),
        "cut"
    );
    let failed = |talk: &mut Talk| {
        talk.respond()
            .calls("toolu_e", "Edit", edit("/project/a.rs"))
            .failed("toolu_e", "no match");
    };
    assert_eq!(reading_then(whole(), failed), "cut");

    let mut talk = Talk::new();
    talk.prompt("go").step("toolu_e", "Edit", edit("/project/a.rs"), "ok");
    talk.step("toolu_x", "Read", whole(), &long(4_000)).ending();
    assert!(
        !result_of(&talk.cut(&eager()).0, "toolu_x").contains("edited later"),
        "an earlier edit"
    );
}

#[test]
fn a_reading_is_superseded_by_a_later_one_that_covers_it_only() {
    let whole = || json!({ "file_path": "/project/a.rs" });
    let part = |offset: u64, limit: u64| json!({ "file_path": "/project/a.rs", "offset": offset, "limit": limit });
    let read = |input: Value| move |talk: &mut Talk| _ = talk.step("toolu_r", "Read", input.clone(), &long(4_000));
    assert_eq!(reading_then(whole(), read(whole())), "again");
    assert_eq!(reading_then(part(10, 20), read(whole())), "again");
    assert_eq!(reading_then(part(10, 20), read(part(5, 25))), "again");
    assert_eq!(reading_then(part(10, 20), read(part(10, 19))), "cut");
    assert_eq!(reading_then(whole(), read(part(1, 100))), "cut");
    assert_eq!(
        reading_then(whole(), read(json!({ "file_path": "/project/b.rs" }))),
        "cut"
    );
    let failed = |talk: &mut Talk| {
        talk.respond()
            .calls("toolu_r", "Read", whole())
            .failed("toolu_r", "no such file");
    };
    assert_eq!(reading_then(whole(), failed), "cut");
}

#[test]
fn protected_beats_superseded() {
    let input = json!({ "file_path": "/project/CLAUDE.md" });
    let edit = json!({ "file_path": "/project/CLAUDE.md", "old_string": "a", "new_string": "b" });
    assert!(!cuts_then("Read", input, &long(4_000), &eager(), |talk| {
        talk.step("toolu_e", "Edit", edit.clone(), "ok");
    }));
}

#[test]
fn a_short_reading_stays_though_it_is_superseded() {
    let input = json!({ "file_path": "/project/a.rs" });
    let edit = json!({ "file_path": "/project/a.rs", "old_string": "a", "new_string": "b" });
    assert!(!cuts_then("Read", input, &long(500), &eager(), |talk| {
        talk.step("toolu_e", "Edit", edit.clone(), "ok");
    }));
}

#[test]
fn head_and_slack_is_the_limit_counted_in_code_points() {
    let bash = |output: &str| cuts("Bash", json!({ "command": "x" }), output, &eager());
    assert!(!bash(&"🦀".repeat(500)));
    assert!(bash(&"🦀".repeat(700)));
    let longer = PruneOptions {
        keep_head_chars: 1_000,
        ..eager()
    };
    assert!(!cuts("Bash", json!({}), &long(1_200), &longer));
    assert!(cuts("Bash", json!({}), &long(1_500), &longer));
}

#[test]
fn a_tool_has_its_own_head_and_tail() {
    let mut options = eager();
    options.tools.insert(
        "Bash".to_owned(),
        ToolOptions {
            keep_head_chars: Some(10),
            keep_tail_chars: Some(20),
            protected: None,
        },
    );
    let mut talk = Talk::new();
    let output = format!("{}{}", "a".repeat(2_000), "z".repeat(20));
    talk.prompt("go")
        .step("toolu_x", "Bash", json!({ "command": "x" }), &output);
    talk.step("toolu_y", "Grep", json!({ "pattern": "x" }), &output)
        .ending();
    let (messages, _) = talk.cut(&options);
    let start = format!("{}\n[…]\n{}\n[notesoup cut Bash x: ", "a".repeat(10), "z".repeat(20));
    assert!(result_of(&messages, "toolu_x").starts_with(&start));
    assert!(result_of(&messages, "toolu_y").starts_with(&"a".repeat(300)));
}

#[test]
fn the_note_names_the_call_and_only_offers_to_run_again_what_only_reads() {
    let note = |tool: &str, input: Value| {
        let mut talk = Talk::new();
        talk.prompt("go").step("toolu_x", tool, input, &long(4_000)).ending();
        result_of(&talk.cut(&eager()).0, "toolu_x")
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    let read = note("Read", json!({ "file_path": "/project/a.rs" }));
    assert!(read.starts_with("[notesoup cut Read /project/a.rs: 3,"), "{read}");
    assert!(
        read.contains("history_read with tool_use_id \"toolu_x\"; only if that fails, read the file again"),
        "{read}"
    );
    for command in [
        "ls -l | head",
        "git -C x log",
        "find . -name x",
        "cd a && rg x 2>/dev/null",
        "sed -n 1,5p x",
    ] {
        let line = note("Bash", json!({ "command": command }));
        assert!(line.contains("run it again"), "{line}");
    }
    for command in [
        "rm -r x",
        "ls > x",
        "git push",
        "find . -delete",
        "make",
        "curl x",
        "cat x | tee y",
        "sed -i s/a/b/ x",
        "sort -o x x",
        "'",
    ] {
        let line = note("Bash", json!({ "command": command }));
        assert!(!line.contains("again"), "{line}");
    }
    assert!(!note("mcp__db__query", json!({ "query": "drop" })).contains("again"));
}

#[test]
fn the_note_has_the_address_where_it_is_known() {
    use notesoup::prune::{CompactEvent, PruneInput, PruneOutcome, run};
    let mut talk = Talk::new();
    talk.prompt("go")
        .step("toolu_x", "Bash", json!({ "command": "x" }), &long(4_000))
        .ending();
    let (event, file) = (talk.event(), talk.transcript());
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str(&event).unwrap();
    let event = CompactEvent::parse(&raw).unwrap();
    let options = eager();
    let outcome = run(&PruneInput {
        entries: &event.messages,
        transcript: Some(file.path()),
        options: &options,
        cwd: None,
        tokens: None,
        target: None,
        seq: &|id| (id == "toolu_x").then_some(41),
    });
    let PruneOutcome::Answer { messages, report, .. } = outcome else {
        panic!("not cut")
    };
    assert!(
        messages[2].tool_results[0]
            .text
            .as_ref()
            .unwrap()
            .contains("\"toolu_x\" or seq 41.")
    );
    assert_eq!(report.largest[0].seq, Some(41));
}

#[test]
fn inputs_of_edits_shrink_to_their_head_and_keep_their_path() {
    let mut talk = Talk::new();
    talk.prompt("go");
    talk.step(
        "toolu_w",
        "Write",
        json!({ "file_path": "/project/w", "content": long(4_000) }),
        "ok",
    );
    talk.step(
        "toolu_e",
        "Edit",
        json!({ "file_path": "/project/e", "old_string": long(900), "new_string": "short", "replace_all": true }),
        "ok",
    );
    let edits = json!([{ "old_string": "a", "new_string": long(2_000) }, { "old_string": "b", "new_string": "c" }]);
    talk.step(
        "toolu_m",
        "MultiEdit",
        json!({ "file_path": "/project/m", "edits": edits }),
        "ok",
    );
    talk.step(
        "toolu_n",
        "NotebookEdit",
        json!({ "notebook_path": "/project/n", "new_source": long(900) }),
        "ok",
    );
    talk.step(
        "toolu_o",
        "mcp__other__write",
        json!({ "file_path": "/project/o", "content": long(4_000) }),
        "ok",
    );
    talk.ending();
    let (messages, _) = talk.cut(&eager());
    let written = input_of(&messages, "toolu_w");
    assert_eq!(written["file_path"], "/project/w");
    let content = written["content"].as_str().unwrap();
    assert!(content.starts_with("the quick brown fox"));
    assert!(content.contains("its content: 3,"), "{content}");
    assert!(content.contains("the file had this after the write"), "{content}");
    let edited = input_of(&messages, "toolu_e");
    assert!(
        edited["old_string"]
            .as_str()
            .unwrap()
            .contains("the file had this before the edit")
    );
    assert_eq!(
        (&edited["new_string"], &edited["replace_all"]),
        (&json!("short"), &json!(true))
    );
    let many = input_of(&messages, "toolu_m");
    assert!(is_cut(many["edits"][0]["new_string"].as_str().unwrap()));
    assert_eq!(many["edits"][1], json!({ "old_string": "b", "new_string": "c" }));
    let notebook = input_of(&messages, "toolu_n");
    assert_eq!(notebook["notebook_path"], "/project/n");
    assert!(is_cut(notebook["new_source"].as_str().unwrap()));
    assert_eq!(input_of(&messages, "toolu_o")["content"], long(4_000));
}

#[test]
fn a_cut_that_saves_too_little_is_not_done() {
    let mut talk = Talk::new();
    talk.prompt(&long(100_000))
        .step("toolu_x", "Bash", json!({ "command": "x" }), &long(4_000))
        .ending();
    let options = PruneOptions::default();
    let notesoup::prune::PruneOutcome::Skip { reason, report } = talk.prune(&options) else {
        panic!("cut")
    };
    assert!(reason.contains("less than the 10 %"), "{reason}");
    assert!(report.is_some());
    let lower = PruneOptions {
        min_saving_percent: 3,
        ..options
    };
    assert!(is_cut(result_of(&talk.cut(&lower).0, "toolu_x")));
}
