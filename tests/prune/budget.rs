//! `/compact prune 120k`.

use notesoup::prune::{Asked, PruneOutcome, Verdict, asked, is_cut};
use serde_json::json;

use crate::talk::{Talk, eager, long, rebuild, result_of};

fn talk() -> Talk {
    let mut talk = Talk::new();
    talk.prompt("go");
    for (step, size) in [7_000, 700, 35_000, 700, 7_000].into_iter().enumerate() {
        talk.step(
            &format!("toolu_{step}"),
            "Bash",
            json!({ "command": "make" }),
            &long(size),
        );
    }
    talk.ending();
    talk
}

/// Which outputs are cut for this target.
fn cut_to(target: u64) -> (Vec<bool>, bool) {
    let talk = talk();
    let PruneOutcome::Answer { messages, report, .. } = talk.prune_to(&eager(), Some(target)) else {
        panic!("not cut")
    };
    let messages = rebuild(&talk.entries, &messages);
    let cut = (0..5)
        .map(|step| is_cut(result_of(&messages, &format!("toolu_{step}"))))
        .collect();
    (cut, report.target.unwrap().met)
}

#[test]
fn cuts_go_on_until_the_target_is_met_and_stop_there() {
    // 50,400 code points of output are about 14.5k tokens.
    assert_eq!(cut_to(8_000), (vec![false, false, true, false, false], true));
    assert_eq!(cut_to(3_000), (vec![true, false, true, false, false], true));
    assert_eq!(cut_to(1_300), (vec![true, false, true, false, true], true));
}

#[test]
fn a_target_out_of_reach_is_said_with_what_is_left() {
    let talk = talk();
    let PruneOutcome::Answer { report, .. } = talk.prune_to(&eager(), Some(100)) else {
        panic!("not cut")
    };
    let target = report.target.as_ref().unwrap();
    assert!(!target.met);
    assert!(report.tokens_after > 100);
    assert_eq!(target.rest[0].what, "heads, notes and short output");
    assert!(notesoup::prune::cut_line(&report).contains("out of reach"));
}

#[test]
fn under_the_target_nothing_is_done() {
    let PruneOutcome::Skip { reason, report } = talk().prune_to(&eager(), Some(120_000)) else {
        panic!("cut")
    };
    assert_eq!(report.unwrap().verdict, Verdict::UnderTarget);
    assert!(reason.contains("under the target"), "{reason}");
}

#[test]
fn a_target_is_met_though_it_saves_little() {
    let options = notesoup::prune::PruneOptions {
        min_saving_percent: 90,
        ..eager()
    };
    assert!(matches!(
        talk().prune_to(&options, Some(14_000)),
        PruneOutcome::Answer { .. }
    ));
}

#[test]
fn the_words_behind_compact() {
    assert_eq!(asked(Some("prune 120k")), Asked::Budget(120_000));
    assert_eq!(asked(Some("focus on the API")), Asked::Summary);
}
