//! A file that is broken stands as it was when it was last good.

use notesoup::config::cache::Snapshot;
use notesoup::config::{Consequence, LayerKind, notices};

use crate::support::{Bench, catalog};

#[test]
fn a_broken_file_stands_as_it_last_was_and_the_other_layers_are_not_touched() {
    let bench = Bench::new()
        .user("[window]\nreset_margin_tokens = 3\n[hooks.boot]\nwhy = 'mine'\n")
        .project("[prune]\nkeep_head_chars = 4\n");
    assert!(bench.load_keeping().problems.is_empty());

    let bench = bench.user("[window]\nreset_margin_tokens = 5\nwarning_runway_token = 1\n");
    let loaded = bench.load_keeping();
    assert_eq!(loaded.config.window.reset_margin_tokens, 3);
    assert_eq!(loaded.config.hooks["boot"].why.as_deref(), Some("mine"));
    assert_eq!(loaded.config.prune.keep_head_chars, 4);
    let layer = loaded
        .layers
        .iter()
        .find(|layer| layer.kind == LayerKind::UserFile)
        .unwrap();
    assert!(layer.is_last_good);
    assert_eq!(
        bench.messages(&loaded),
        [
            "home/hooks.toml:3:1: window.warning_runway_token: there is no key `warning_runway_token` here; did you mean `warning_runway_tokens`?"
        ]
    );
    assert_eq!(loaded.problems[0].consequence, Some(Consequence::LastGoodStands));

    // Mended, it stands at once; broken again in another way, this one is the last good.
    let bench = bench.user("window.reset_margin_tokens = 6\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 6);
    let bench = bench.user("window.reset_margin_tokens = \n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 6);
    let bench = bench.user(b"window.reset_margin_tokens = 7 # \xff\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 6);
}

#[test]
fn the_last_good_copy_of_a_projects_file_is_kept_for_that_project_alone() {
    let mut bench = Bench::new().project("[window]\nreset_margin_tokens = 3\n");
    bench.load_keeping();
    let bench_project = bench.sources.project.clone();
    bench.write("other/.claude/notesoup.toml", "[window]\nreset_margin_tokens = -1\n");
    bench.sources.project = Some(bench.path("other"));
    let loaded = bench.load_keeping();
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    assert_eq!(loaded.problems[0].consequence, Some(Consequence::FileIgnored));

    bench.sources.project = bench_project;
    let bench = bench.project("[window]\nreset_margin_tokens = 1.5\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 3);
}

#[test]
fn without_a_copy_the_file_is_left_out() {
    let bench = Bench::new().user("window.reset_margin_tokens = 3\nnonsense = 1\n");
    let loaded = bench.load_keeping();
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    assert_eq!(loaded.problems[0].consequence, Some(Consequence::FileIgnored));
    assert_eq!(loaded.refused.len(), 1);
}

#[test]
fn a_file_that_was_taken_away_is_forgotten_and_an_emptied_one_is_empty() {
    let bench = Bench::new().user("window.reset_margin_tokens = 3\n");
    bench.load_keeping();
    let bench = bench.user("# nothing\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 8192);
    let bench = bench.user("window = 3\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 8192);

    let bench = bench.user("window.reset_margin_tokens = 3\n");
    bench.load_keeping();
    std::fs::remove_file(bench.path("home/hooks.toml")).unwrap();
    assert!(bench.load_keeping().problems.is_empty());
    let bench = bench.user("window = 3\n");
    assert_eq!(bench.load_keeping().config.window.reset_margin_tokens, 8192);
}

#[test]
fn a_file_that_is_good_alone_but_not_with_the_others_gives_way_too() {
    let good = "[hooks.mine]\nevent = 'session.compact'\nrun = 'handoff'\norder = 70\n";
    let bench = Bench::new().user(good);
    assert_eq!(bench.load_keeping().config.hooks["mine"].order, 70);
    let bench = bench.user(good.replace("70", "60"));
    let loaded = bench.load_keeping();
    assert_eq!(loaded.config.hooks["mine"].order, 70);
    assert_eq!(loaded.problems[0].consequence, Some(Consequence::LastGoodStands));
    assert_eq!(
        bench.messages(&loaded),
        [
            "home/hooks.toml:4:9: hooks.mine.order: `handoff` has order 60 for session.compact already; give each live row of an event its own order; taken: 10 (our-reset), 20 (prune), 40 (auto-reset), 50 (precompute), 60 (handoff), 60 (mine)"
        ]
    );
}

#[test]
fn a_damaged_copy_is_no_layer() {
    let bench = Bench::new().user("window.reset_margin_tokens = 3\n");
    bench.load_keeping();
    for file in std::fs::read_dir(bench.path("state/last-good")).unwrap() {
        std::fs::write(file.unwrap().path(), "window.reset_margin").unwrap();
    }
    let bench = bench.user("window = 3\n");
    let loaded = bench.load_keeping();
    assert_eq!(loaded.config.window.reset_margin_tokens, 8192);
    assert_eq!(loaded.problems.len(), 1);
}

#[test]
fn the_session_is_told_once_with_the_first_error_and_the_way_to_see_all() {
    let bench = Bench::new().user("window.reset_margin_tokens = 3\n");
    let state = bench.path("state");
    let take = |bench: &Bench| Snapshot::take(&bench.sources, Some(&state), &catalog());
    let first = take(&bench);
    assert_eq!(notices(first.problems(), Some(&state)), Vec::<String>::new());

    let bench = bench.user("[window]\nreset_margin_tokens = 'x'\nunheard = 1\n");
    let broken = take(&bench);
    assert_ne!(broken.fingerprint, first.fingerprint);
    assert_eq!(broken.config().window.reset_margin_tokens, 3);
    // The second event reads what the first has kept.
    let again = take(&bench);
    assert_eq!(again.fingerprint, broken.fingerprint);
    assert_eq!(again.config().window.reset_margin_tokens, 3);
    let lines = notices(again.problems(), Some(&state));
    let folder = format!("{}/", bench.path("").display()).replace("//", "/");
    assert_eq!(
        lines.iter().map(|line| line.replace(&folder, "")).collect::<Vec<_>>(),
        [
            "home/hooks.toml:2:23: window.reset_margin_tokens: found the text `x`; give a whole number, 1 or more; the file stands as it was when it was last good (and 1 more: `notesoup config check` shows all)"
        ]
    );
}
