//! What is kept of the merged config between two events is the same config, and is not believed when it is damaged.

use std::fs;

use notesoup::config::cache::Snapshot;

use crate::support::{Bench, catalog, load_well};

#[test]
fn what_is_kept_is_the_merged_config() {
    let bench = Bench::new().user(
        "[window]\nreset_margin_tokens = 3\n[hooks.mine]\nevent = 'session.compact'\nrun = 'veto'\norder = 5\n\
         when = { trigger = 'manual' }\noptions = { text = 'veto_compact' }\n[texts.reset_head]\npool = ['one line']\n",
    );
    let state = bench.path("state");
    let made = Snapshot::take(&bench.sources, Some(&state), &catalog());
    let kept = Snapshot::take(&bench.sources, Some(&state), &catalog());
    let loaded = load_well(&bench).config;
    for snapshot in [&made, &kept] {
        assert_eq!(snapshot.config().window, loaded.window);
        assert_eq!(snapshot.config().texts, loaded.texts);
        let live = loaded.hooks.values().filter(|row| row.enabled).count();
        assert_eq!(snapshot.config().hooks.len(), live);
        let rows = snapshot.rows_of("session.compact");
        assert_eq!(rows[0].0, "mine");
        let below = loaded.rows_of("session.compact");
        assert_eq!(rows.len(), below.len());
        for ((id, row), (id_below, row_below)) in rows.iter().zip(below) {
            assert_eq!(
                (id.as_str(), &row.when, &row.options),
                (id_below, &row_below.when, &row_below.options)
            );
        }
        assert_eq!(snapshot.rows_of("no.event"), []);
    }
    assert_eq!(made.events().collect::<Vec<_>>(), kept.events().collect::<Vec<_>>());
}

#[test]
fn a_damaged_one_is_made_again_or_stands_as_it_is_compiled_in() {
    let bench = Bench::new().user("window.reset_margin_tokens = 3\n");
    let state = bench.path("state");
    let take = || Snapshot::take(&bench.sources, Some(&state), &catalog());
    let file = state.join("config").join(&take().fingerprint);
    let whole = fs::read_to_string(&file).unwrap();
    let rows = take().rows_of("session.compact");

    for cut in (0..whole.len()).step_by(101) {
        fs::write(&file, &whole[..cut]).unwrap();
        assert_eq!(take().config().window.reset_margin_tokens, 3, "cut off at byte {cut}");
        assert_eq!(fs::read_to_string(&file).unwrap(), whole, "made again");
    }
    fs::write(&file, whole.replace('{', "<")).unwrap();
    let damaged = take();
    assert_eq!(damaged.rows_of("session.compact"), rows);
    assert_eq!(damaged.config().window.reset_margin_tokens, 8192);
}
