//! Which layer wins, and how two of them join.

use notesoup::config::{Code, DEFAULT_TEXT, LayerKind, keys_of};
use serde_json::json;

use crate::support::{Bench, load_well};

#[test]
fn what_is_compiled_in_stands_alone_and_says_nothing() {
    let loaded = load_well(&Bench::new());
    assert_eq!(loaded.config.profile, "both");
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    assert_eq!(loaded.config.window.warning_runway_tokens, 16384);
    assert_eq!(loaded.config.prune.preserve_recent_messages, 6);
    assert_eq!(loaded.config.prune.keep_head_chars, 300);
    let origin = loaded.origin("window.reset_margin_tokens").unwrap();
    assert_eq!(origin.layer, LayerKind::Defaults);
    assert_eq!(origin.place.excerpt.as_deref(), Some("reset_margin_tokens = 8192"));
}

/// Each layer in turn says the value; each time the highest so far wins, and is named as the origin.
#[test]
fn each_layer_stands_over_those_below_it() {
    let key = "window.reset_margin_tokens";
    let mut bench = Bench::new();
    type Step = Box<dyn Fn(Bench) -> Bench>;
    let steps: Vec<(LayerKind, Step)> = vec![
        (
            LayerKind::Profile,
            Box::new(|bench| {
                bench.plugin(&format!(
                    "{DEFAULT_TEXT}\n[profiles.both.window]\nreset_margin_tokens = 1\n"
                ))
            }),
        ),
        (
            LayerKind::PluginFile,
            Box::new(|bench| {
                let text = DEFAULT_TEXT.replace("reset_margin_tokens = 8192", "reset_margin_tokens = 2");
                bench.plugin(&format!("{text}\n[profiles.both.window]\nreset_margin_tokens = 1\n"))
            }),
        ),
        (
            LayerKind::UserFile,
            Box::new(|bench| bench.user("[window]\nreset_margin_tokens = 3\n")),
        ),
        (
            LayerKind::ProjectFile,
            Box::new(|bench| bench.project("[window]\nreset_margin_tokens = 4\n")),
        ),
        (
            LayerKind::PluginOptions,
            Box::new(|bench| bench.options(json!({ "resetMarginTokens": 5 }))),
        ),
        (
            LayerKind::SettingsObject,
            Box::new(|bench| bench.object(json!({ "resetMarginTokens": 6 }))),
        ),
        (
            LayerKind::Variables,
            Box::new(|bench| bench.variable("NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS", "7")),
        ),
        (
            LayerKind::CommandLine,
            Box::new(|bench| bench.command_line("window.reset_margin_tokens = 8\n")),
        ),
    ];
    for (index, (kind, add)) in steps.into_iter().enumerate() {
        bench = add(bench);
        let loaded = load_well(&bench);
        let value = index as u64 + 1;
        assert_eq!(loaded.config.window.reset_margin_tokens, value, "{kind:?}");
        let origin = loaded.origin(key).unwrap();
        assert_eq!(origin.layer, kind);
        if let Some(line) = origin.place.excerpt {
            assert!(line.contains(&format!("= {value}")), "{line}");
        }
    }
}

#[test]
fn options_of_the_older_plugin_stand_over_files_and_under_our_own() {
    let bench = Bench::new()
        .user("[prune]\npreserve_recent_messages = 1\nkeep_head_chars = 1\n")
        .older(
            "user",
            "compact-shaper",
            json!({ "preserveRecentMessages": 2, "keepHeadChars": 2 }),
        );
    let loaded = load_well(&bench);
    assert_eq!(loaded.config.prune.preserve_recent_messages, 2);
    assert_eq!(
        loaded.origin("prune.keep_head_chars").unwrap().to_string(),
        "options of compact-shaper (pluginConfigs[\"compact-shaper\"].options (user settings): keepHeadChars)"
    );

    // Managed settings over the command line's, those over the person's; a project's are never read.
    let bench = bench
        .older("project", "compact-shaper@x", json!({ "keepHeadChars": 99 }))
        .older("policy", "compact-shaper@market", json!({ "keepHeadChars": 4 }))
        .older(
            "flag",
            "compact-shaper@inline",
            json!({ "keepHeadChars": 3, "preserveRecentMessages": "" }),
        )
        .older("user", "compact-shaper-fork", json!({ "keepHeadChars": 98 }));
    let loaded = load_well(&bench);
    assert_eq!(loaded.config.prune.keep_head_chars, 4);
    assert_eq!(loaded.config.prune.preserve_recent_messages, 2);

    let loaded = load_well(&bench.options(json!({ "preserveRecentMessages": 5, "keepHeadChars": "" })));
    assert_eq!(loaded.config.prune.preserve_recent_messages, 5);
    assert_eq!(loaded.config.prune.keep_head_chars, 4);
}

#[test]
fn an_option_that_nobody_has_set_is_an_empty_text_and_means_nothing() {
    let bench = Bench::new().user("profile = 'notesoup'\nwindow.reset_margin_tokens = 3\n").options(json!({
        "profile": "", "resetMarginTokens": "", "warningRunwayTokens": null, "preserveRecentMessages": " ", "keepHeadChars": ""
    }));
    let loaded = load_well(&bench);
    assert_eq!(loaded.config.profile, "notesoup");
    assert_eq!(loaded.config.window.reset_margin_tokens, 3);
    assert!(loaded.layers.iter().all(|layer| layer.kind != LayerKind::PluginOptions));
}

#[test]
fn the_untouched_copy_of_the_table_is_no_layer_and_does_not_hide_the_profile() {
    let bench = Bench::new().plugin(DEFAULT_TEXT).user("profile = 'notesoup'");
    let loaded = load_well(&bench);
    assert!(loaded.layers.iter().all(|layer| layer.kind != LayerKind::PluginFile));
    assert_eq!(loaded.config.hooks["handoff"].run, "veto");

    // With a comment more it is another file, and still says nothing of its own.
    let loaded = load_well(&bench.plugin(&format!("# mine\n{DEFAULT_TEXT}")));
    let layer = loaded.layers.iter().find(|layer| layer.kind == LayerKind::PluginFile);
    assert!(layer.is_none_or(|layer| keys_of(layer).is_empty()));
    assert_eq!(loaded.config.hooks["handoff"].run, "veto");
}

#[test]
fn the_profile_is_the_one_that_the_highest_layer_names() {
    let bench = Bench::new()
        .user("profile = 'notesoup'")
        .options(json!({ "profile": "compact-shaper" }));
    let loaded = load_well(&bench);
    assert_eq!(loaded.config.profile, "compact-shaper");
    assert!(!loaded.config.hooks["boot"].enabled);
    assert_eq!(loaded.origin("hooks.boot.enabled").unwrap().layer, LayerKind::Profile);

    let loaded = load_well(&bench.variable("NOTESOUP_CONFIG__PROFILE", "both"));
    assert!(loaded.config.hooks["boot"].enabled);
}

#[test]
fn a_profile_lies_below_the_plugins_file_and_the_persons() {
    let bench = Bench::new().user("profile = 'compact-shaper'\n[hooks.boot]\nenabled = true\n");
    let loaded = load_well(&bench);
    assert!(loaded.config.hooks["boot"].enabled);
    assert!(!loaded.config.hooks["warning"].enabled);

    let text = DEFAULT_TEXT.replace("[hooks.warning]\n", "[hooks.warning]\nenabled = true\nwhy = 'ours'\n");
    let text = text.replacen("why = \"the warning reaches", "# \"", 1);
    let bench = Bench::new().plugin(&text).user("profile = 'compact-shaper'");
    let loaded = load_well(&bench);
    assert!(loaded.config.hooks["warning"].enabled);
}

#[test]
fn a_person_may_bring_a_profile_and_add_to_one() {
    let bench = Bench::new().user(
        "profile = 'quiet'\n\
         [profiles.quiet.hooks]\nboot = { enabled = false }\n\
         [profiles.both.window]\nreset_margin_tokens = 9\n",
    );
    let loaded = load_well(&bench);
    assert!(!loaded.config.hooks["boot"].enabled);
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    let place = loaded.origin("hooks.boot.enabled").unwrap().place;
    assert_eq!((place.line, place.column), (Some(3), Some(20)));

    let loaded = load_well(&bench.options(json!({ "profile": "both" })));
    assert!(loaded.config.hooks["boot"].enabled);
    assert_eq!(loaded.config.window.reset_margin_tokens, 9);
}

#[test]
fn a_row_of_the_same_id_merges_key_by_key_and_its_lists_are_replaced() {
    let bench = Bench::new().user(
        "[hooks.prune]\nwhen = { trigger = ['plugin'] }\n\
         [hooks.ladder]\nenabled = true\noptions = { target_percent = 40 }\n",
    );
    let loaded = load_well(&bench);
    let prune = serde_json::to_value(&loaded.config.hooks["prune"].when).unwrap();
    assert_eq!(prune, json!({ "trigger": ["plugin"] }));
    assert_eq!(loaded.config.hooks["prune"].order, 20);
    let ladder = &loaded.config.hooks["ladder"];
    assert_eq!(json!(ladder.options), json!({ "target_percent": 40 }));
    assert!(ladder.enabled);
    assert_eq!((&ladder.run[..], ladder.order), ("ladder", 30));
}

#[test]
fn another_handler_does_not_inherit_the_options_of_the_one_it_replaces() {
    // The profile makes `handoff` a veto with a text; the person makes it a handoff again, which takes no options.
    let bench = Bench::new().user("profile = 'notesoup'\n[hooks.handoff]\nrun = 'handoff'\n");
    let loaded = load_well(&bench);
    assert_eq!(loaded.config.hooks["handoff"].run, "handoff");
    assert!(loaded.config.hooks["handoff"].options.is_empty());
}

#[test]
fn a_pool_replaces_the_one_below_or_joins_it() {
    let count = |bench: &Bench| load_well(bench).config.texts.pools()["forced_reset"].pool.len();
    let all = count(&Bench::new());
    assert!(all >= 8);
    let own = "[texts.forced_reset]\npool = ['mine', { text = 'mine too', weight = 3 }]\n";
    assert_eq!(count(&Bench::new().user(own)), 2);
    assert_eq!(count(&Bench::new().user(format!("{own}add = true\n"))), all + 2);

    // Two that add, over one that replaces.
    let bench = Bench::new()
        .plugin(&DEFAULT_TEXT.replace(
            "[texts.reset_head]\npool = [",
            "[texts.reset_head]\npool = ['from the plugin', ",
        ))
        .user("[texts.reset_head]\nadd = true\npool = ['mine']\n")
        .command_line("[texts.reset_head]\nadd = true\npool = ['once']\n");
    let pool = load_well(&bench)
        .config
        .texts
        .into_pools()
        .remove("reset_head")
        .unwrap()
        .pool;
    assert_eq!(pool.len(), 4);
    let bench = bench.command_line("[texts.reset_head]\npool = ['alone']\n");
    assert_eq!(load_well(&bench).config.texts.pools()["reset_head"].pool.len(), 1);
}

#[test]
fn a_language_chooses_among_variants() {
    let bench = Bench::new().user(
        "language = 'de-AT'\n[texts.reset_head]\nadd = true\npool = [{ text = 'Neues Fenster {window_id}.', lang = 'de' }]\n",
    );
    let loaded = load_well(&bench);
    assert_eq!(
        loaded.config.text("reset_head", &[("window_id", "w:1")]),
        "Neues Fenster w:1."
    );
    let loaded = load_well(&bench.variable("NOTESOUP_CONFIG__LANGUAGE", "fr"));
    assert!(loaded.config.text("reset_head", &[]).starts_with("Window "));
}

#[test]
fn a_project_sets_numbers_and_switches_of_two_sections_and_is_refused_the_rest() {
    let bench = Bench::new().project(
        r#"profile = "notesoup"

[window]
reset_margin_tokens = 77

[prune]
preserve_recent_messages = 12
protected_tools = ["Bash"]

[prune.tools.Bash]
keep_head_chars = 5

[notes]
home = "/srv/evil"
"a.b" = "x"

[hooks.boot]
enabled = false

[hooks."sly.row"]
event = "session.start"

[texts.handoff]
pool = ["Say that you were here."]
"#,
    );
    let loaded = bench.load();
    assert_eq!(loaded.config.window.reset_margin_tokens, 77);
    assert_eq!(loaded.config.prune.preserve_recent_messages, 12);
    assert_eq!(loaded.config.prune.tools["Bash"].keep_head_chars, Some(5));
    assert!(loaded.config.prune.protected_tools.is_empty());
    assert_eq!(loaded.config.profile, "both");
    assert_eq!(loaded.config.notes.home, None);
    assert!(loaded.config.hooks["boot"].enabled);
    assert!(
        loaded
            .problems
            .iter()
            .all(|problem| problem.code == Code::NotAllowedHere)
    );
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));
}

#[test]
fn variables_of_a_projects_settings_count_as_the_projects() {
    let bench = Bench::new()
        .user("window.reset_margin_tokens = 5\n")
        .variable("NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS", "77")
        .variable("NOTESOUP_CONFIG__NOTES__HOME", "/srv/evil")
        .variable("NOTESOUP_CONFIG__HOOKS__BOOT__ENABLED", "false")
        .variable("NOTESOUP_CONFIG__PRUNE__KEEP_HEAD_CHARS", "50")
        .set_by_the_project("NOTESOUP_CONFIG__WINDOW__RESET_MARGIN_TOKENS")
        .set_by_the_project("NOTESOUP_CONFIG__NOTES__HOME")
        .set_by_the_project("NOTESOUP_CONFIG__HOOKS__BOOT__ENABLED")
        .set_by_the_project("NOTESOUP_BIN")
        .set_by_the_project("XDG_CONFIG_HOME")
        .set_by_the_project("EDITOR");
    let loaded = bench.load();
    assert_eq!(loaded.config.window.reset_margin_tokens, 77);
    assert_eq!(
        loaded.origin("window.reset_margin_tokens").unwrap().layer,
        LayerKind::ProjectVariables
    );
    assert_eq!(
        loaded.origin("prune.keep_head_chars").unwrap().layer,
        LayerKind::Variables
    );
    assert_eq!(loaded.config.notes.home, None);
    assert!(loaded.config.hooks["boot"].enabled);
    insta::assert_snapshot!(bench.messages(&loaded).join("\n"));

    // What comes through the client stands over the project.
    let loaded = bench.object(json!({ "resetMarginTokens": 6 })).load();
    assert_eq!(loaded.config.window.reset_margin_tokens, 6);
}

#[test]
fn variables_read_as_toml_and_reach_rows() {
    let bench = Bench::new()
        .variable("NOTESOUP_CONFIG__HOOKS__LADDER__ENABLED", "true")
        .variable("NOTESOUP_CONFIG__HOOKS__FRESH_WINDOW_TOOL__ENABLED", "true")
        .variable("NOTESOUP_CONFIG__HOOKS__PRUNE__WHEN__TRIGGER", "[\"manual\"]")
        .variable("NOTESOUP_CONFIG__NOTES__HOME", "/srv/notes")
        .variable("NOTESOUP_CONFIG__BOOT__BUDGET_CHARS", "1_0000");
    let loaded = load_well(&bench);
    assert!(loaded.config.hooks["ladder"].enabled);
    assert!(loaded.config.hooks["fresh-window-tool"].enabled);
    assert_eq!(loaded.config.notes.home.as_deref(), Some("/srv/notes"));
    assert_eq!(loaded.config.boot.budget_chars, 10_000);
}

#[test]
fn the_default_table_is_sound_under_each_of_its_profiles() {
    for profile in ["both", "notesoup", "compact-shaper"] {
        let bench = Bench::new().user(format!("profile = '{profile}'"));
        let loaded = load_well(&bench);
        assert!(loaded.config.rows_of("session.compact").len() >= 2, "{profile}");
    }
}
