//! Every kind of slip, in each layer: file, line, key and remedy, and the session goes on.

use std::fmt::Write as _;

use notesoup::config::DEFAULT_TEXT;
use serde_json::json;

use crate::support::Bench;

/// Loads each of these as the person's file and writes down what is said; nothing of them may count.
fn said_of(files: &[&str]) -> String {
    let mut said = String::new();
    for text in files {
        let bench = Bench::new().user(text);
        let loaded = bench.load();
        assert!(!loaded.problems.is_empty(), "{text}");
        assert_eq!(loaded.config, Bench::new().load().config, "{text}");
        for problem in &loaded.problems {
            assert!(problem.help.is_some(), "{text}");
            assert!(
                problem.place.line.is_some() && problem.place.source.ends_with("hooks.toml"),
                "{text}"
            );
            let _ = writeln!(said, "{}", bench.message(problem).replace("home/", ""));
        }
        said.push('\n');
    }
    said
}

#[test]
fn what_is_not_toml() {
    insta::assert_snapshot!(said_of(&[
        "window = \n",
        "[window\nreset_margin_tokens = 1\n",
        "[window]\nreset_margin_tokens = 1\nreset_margin_tokens = 2\n",
        "window.reset_margin_tokens = 01\n",
        "a = 'unfinished\nb = \"so is this\n",
        "{\"window\": {}}\n",
        "just words\n",
        "[hooks.boot]\nenabled = yes\n",
    ]));
}

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(said_of(&[
        "windows = 1\n",
        "[window]\nreset_margin_token = 1\n",
        "[prune]\nfrobnicate = 1\n",
        "[hooks.boot]\nordr = 1\n",
        "[hooks.Boot_1]\nenabled = false\n",
        "[hooks.bot]\nenabled = false\n",
        "[hooks.quite-new]\nevent = 'session.start'\n",
        "[hooks.\"a.b\"]\nenabled = false\n",
        "[texts.forced_rest]\npool = ['x']\n",
        "[texts.no_such_text_at_all]\npool = ['x']\n",
        "[texts.handoff]\npols = ['x']\n",
        "[texts.handoff]\npool = [{ txt = 'x', text = 'y' }]\n",
        "[profiles.both]\nprofile = 'x'\n",
        "[profiles.both.hooks.boot]\nenabld = true\n",
    ]));
}

#[test]
fn wrong_types_and_ranges() {
    insta::assert_snapshot!(said_of(&[
        "schema_version = 2\n",
        "schema_version = 'one'\n",
        "profile = 1\n",
        "profile = 'bothh'\n",
        "language = true\n",
        "window = 1\n",
        "[window]\nreset_margin_tokens = '8192'\n",
        "[window]\nreset_margin_tokens = 'many'\n",
        "[window]\nreset_margin_tokens = 0\n",
        "[window]\nreset_margin_tokens = -1\n",
        "[window]\nreset_margin_tokens = 1.5\n",
        "[window]\nreset_margin_tokens = 8192.0\n",
        "[window]\nreset_margin_tokens = nan\n",
        "[window]\nreset_margin_tokens = inf\n",
        "[window]\nreset_margin_tokens = 99999999999999999999999\n",
        "[window]\nreset_margin_tokens = 0xffff_ffff_ffff_ffff\n",
        "[window]\nreset_margin_tokens = true\n",
        "[window]\nreset_margin_tokens = [1]\n",
        "[window]\nreset_margin_tokens = { a = 1 }\n",
        "[window]\nreset_margin_tokens = 1979-05-27\n",
        "[boot]\nbudget_chars = 10\n",
        "[helper]\ntimeout_ms = 1000000\ncompaction_timeout_ms = 1\n",
        "[notes]\nhome = 1\n",
        "hooks = []\n",
        "[hooks]\nboot = false\n",
        "[hooks.boot]\nenabled = 'no'\norder = -1\nevent = 1\nrun = []\nwhy = 1\nwhen = 'x'\noptions = 1\n",
        "[hooks.boot]\norder = 5000000000\n",
        "[hooks.boot]\nwhen = { source = 1, model = [1], headless = { a = 1 } }\n",
        "[texts]\nhandoff = 'just a text'\n",
        "[texts.handoff]\npool = 'just a text'\nadd = 1\n",
        "[texts.handoff]\npool = [1, { text = 2, weight = -1, lang = 3 }, { weight = 1 }]\n",
        "profiles = 1\n",
        "[profiles]\nboth = 1\n",
    ]));
}

#[test]
fn what_no_schema_says() {
    insta::assert_snapshot!(said_of(&[
        "[hooks.boot]\nevent = 'session.compacted'\n",
        "[hooks.boot]\nevent = 'weather'\n",
        "[hooks.boot]\nrun = 'boots'\n",
        "[hooks.boot]\nevent = 'weather'\nrun = 'boots'\n",
        "[hooks.handoff]\nevent = 'session.start'\n",
        "[hooks.precompute]\noptions = { txt = 'x' }\n",
        "[hooks.precompute]\noptions = { text = 1 }\n",
        "[hooks.handoff]\noptions = { text = 'x' }\n",
        "[hooks.new]\nevent = 'session.compact'\nrun = 'veto'\norder = 99\n",
        "[hooks.prune]\nwhen = { triger = 'manual' }\n",
        "[hooks.boot]\nwhen = { agent = 'mian' }\n",
        "[hooks.boot]\nwhen = { agent = true }\n",
        "[hooks.prune]\nwhen = { instructions = 'prune(' }\n",
        "[hooks.prune]\nwhen = { instructions = '(?<=look)behind' }\n",
        "[hooks.prune]\norder = 60\n",
        "[hooks.ladder]\nenabled = true\norder = 40\n",
        "[hooks.a]\nevent = 'session.compact'\nrun = 'handoff'\norder = 1\n[hooks.b]\nevent = 'session.compact'\nrun = 'handoff'\norder = 1\n",
        "[texts.handoff]\npool = []\n",
        "[texts.handoff]\npool = ['', '  \\n ']\n",
        "[texts.handoff]\npool = [{ text = 'x', weight = 0 }]\n",
        "[texts.handoff]\npool = [{ text = 'x', lang = 'de' }]\n",
        "[texts.handoff]\npool = ['Hello {window_id}']\n",
        "[texts.handoff]\npool = [{ text = 'x', when = { headless = true } }]\n",
        "[texts.handoff]\npool = ['x', { text = 'y', when = { model = 'haiku(' } }]\n",
        "[texts.handoff]\npool = ['x', { text = 'y', when = { modle = 'haiku' } }, { text = 'z', when = { headless = 'yes' } }]\n",
        "[texts.reset_head]\npool = ['fine {window_id}', '''bad\n{windowid}\n{tokns} {x}''']\n",
        "[hooks.mine]\nevent = 'session.compact'\nrun = 'exec'\norder = 5\n",
    ]));
}

#[test]
fn every_slip_of_a_file_is_told_at_once() {
    insta::assert_snapshot!(said_of(&[
        "windw = 1\n[window]\nreset_margin_tokens = 'x'\nunheard = 1\n\n[hooks.boot]\nevent = 'x'\nwhen = { agnt = 'main' }\n\n[hooks.prune]\nordr = 1\nrun = 'prun'\n\n[texts.handoff]\npool = ['{a} {b}', '']\n\n[profiles.both.hooks.boot]\nrun = 'nothing'\n",
    ]));
}

#[test]
fn encodings_and_sizes() {
    let mut said = String::new();
    let big = "x".repeat(2_000_000);
    let long = format!("why = '{}'\n", "word ".repeat(500));
    let deep = format!("a = {}1{}\n", "[".repeat(5000), "]".repeat(5000));
    for bytes in [
        b"[window]\n# caf\xe9\nreset_margin_tokens = 1\n".to_vec(),
        b"\xff\xfe[\0w\0".to_vec(),
        b"[window]\nreset_margin_tokens = 1\0\n".to_vec(),
        big.into_bytes(),
        long.into_bytes(),
        deep.into_bytes(),
        "[window]\nгод = 1\n\"ключ\" = 2\n".into(),
        "\u{feff}[window]\nunheard = 1\n".into(),
        "[window]\r\nreset_margin_tokens = 1\r\nunheard = 1\r\n".into(),
    ] {
        let bench = Bench::new().user(&bytes);
        let loaded = bench.load();
        assert!(!loaded.problems.is_empty());
        assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
        for problem in &loaded.problems {
            let _ = writeln!(said, "{}", bench.message(problem).replace("home/", ""));
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn what_comes_through_the_client_is_named_by_source_and_key_and_left_out_alone() {
    let bench = Bench::new()
        .older("user", "compact-shaper@market", json!({ "preserveRecentMessages": "NaN", "keepHeadChars": 111, "unheard": 1 }))
        .older("policy", "compact-shaper@market", json!({ "keepHeadChars": -1 }))
        .options(json!({ "profile": "bothh", "resetMarginTokens": 0.5, "warningRunwayTokens": 1e300, "preserveRecentMessages": 3 }))
        .object(json!({ "resetMarginTokens": 222, "warningRunwayTokens": "Infinity", "resetMargin": 1 }))
        .variable("NOTESOUP_CONFIG__WINDOW__WARNING_RUNWAY_TOKENS", "NaN")
        .variable("NOTESOUP_CONFIG__WINDOW__RUNWAY", "1")
        .variable("NOTESOUP_CONFIG__HOOKS__PRUNE__ORDER", "60")
        .variable("NOTESOUP_CONFIG__HOOKS__NEW__RUN", "boot")
        .variable("NOTESOUP_CONFIG__BOOT__FRESHEST_NOTES", "7");
    let loaded = bench.load();
    assert_eq!(loaded.config.prune.keep_head_chars, 111);
    assert_eq!(loaded.config.prune.preserve_recent_messages, 3);
    assert_eq!(loaded.config.window.reset_margin_tokens, 222);
    assert_eq!(loaded.config.window.warning_runway_tokens, 16384);
    assert_eq!(loaded.config.boot.freshest_notes, 7);
    assert_eq!(loaded.config.profile, "both");
    assert_eq!(loaded.config.hooks["prune"].order, 20);
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));

    let bench = Bench::new().object(json!("8192"));
    insta::assert_snapshot!(bench.messages(&bench.load()).join("\n"));
}

#[test]
fn a_layer_that_does_not_go_with_the_others_gives_way_and_no_other() {
    // The person's file and the command line's each bring a row; together they clash.
    let row = |id: &str| {
        format!(
            "[hooks.{id}]\nevent = 'session.compact'\nrun = 'handoff'\norder = 5\n[window]\nreset_margin_tokens = 9\n"
        )
    };
    let bench = Bench::new().user(row("mine")).command_line(&row("once"));
    let loaded = bench.load();
    assert!(loaded.config.hooks.contains_key("mine") && !loaded.config.hooks.contains_key("once"));
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));

    // A row that is asleep clashes with nothing; what wakes it is at fault.
    let asleep = "[hooks.mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 60\nenabled = false\n[window]\nreset_margin_tokens = 9\n";
    let bench = Bench::new()
        .user(asleep)
        .variable("NOTESOUP_CONFIG__HOOKS__MINE__ENABLED", "true")
        .variable("NOTESOUP_CONFIG__PRUNE__KEEP_HEAD_CHARS", "5");
    let loaded = bench.load();
    assert!(!loaded.config.hooks["mine"].enabled);
    assert_eq!(loaded.config.window.reset_margin_tokens, 9);
    assert_eq!(loaded.config.prune.keep_head_chars, 5);
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));

    // A profile that the person's file brings is at fault with the file.
    let bench = Bench::new()
        .plugin(&DEFAULT_TEXT.replace("order = 60", "order = 61"))
        .user("[profiles.both.hooks.ladder]\nenabled = true\norder = 40\n[window]\nreset_margin_tokens = 9\n");
    let loaded = bench.load();
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    assert_eq!(loaded.config.hooks["handoff"].order, 61);
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));

    // The options of a row do not fit the handler that the profile gives it.
    let bench = Bench::new().user("profile = 'notesoup'\n[hooks.handoff]\noptions = { txt = 'veto_compact' }\n");
    let loaded = bench.load();
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));
}

#[test]
fn a_row_that_starts_programs_is_the_persons_own() {
    let row = "[hooks.policy]\nevent = 'session.compact'\nrun = 'exec'\norder = 5\noptions = { argv = ['true'] }\n";
    let loaded = Bench::new().user(row).load();
    assert!(loaded.problems.is_empty());
    assert_eq!(loaded.config.hooks["policy"].run, "exec");

    let bench = Bench::new().command_line(row);
    insta::assert_snapshot!(bench.messages(&bench.load()).join("\n"));
    let bench = Bench::new().plugin(&format!("{DEFAULT_TEXT}\n{row}"));
    insta::assert_snapshot!(bench.messages(&bench.load()).join("\n"));
    let bench = Bench::new().project(row);
    assert_eq!(bench.load().problems.len(), 4);
    // Its command is not to be changed from elsewhere; it may be switched off.
    let bench = Bench::new()
        .user(row)
        .variable("NOTESOUP_CONFIG__HOOKS__POLICY__OPTIONS__ARGV", "['rm']")
        .variable("NOTESOUP_CONFIG__HOOKS__POLICY__ENABLED", "false");
    let loaded = bench.load();
    assert_eq!(
        json!(loaded.config.hooks["policy"].options),
        json!({ "argv": ["true"] })
    );
    assert!(!loaded.config.hooks["policy"].enabled);
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));
}
