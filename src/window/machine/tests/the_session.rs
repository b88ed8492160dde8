use super::*;

#[test]
fn gets_a_boot_unless_one_of_its_window_stands() {
    for (by, ordinal) in [(BoundBy::Startup, 0), (BoundBy::Clear, 0)] {
        let mut session = Session::unbound();
        assert_eq!(session.bind(by, Standing::default()), vec![boot(ordinal, None)]);
    }
    let standing = Standing {
        boundaries: 2,
        marker: Some("claude:s:2".to_owned()),
        marker_is_live: true,
        highest_in_file: 2,
        ..Standing::default()
    };
    let mut session = Session::unbound();
    assert_eq!(session.bind(BoundBy::Resume, standing.clone()), vec![]);
    assert_eq!(session.window().id, id_of(2));
    let mut session = Session::unbound();
    let branched = Standing {
        marker: Some("claude:before:2".to_owned()),
        ..standing.clone()
    };
    assert_eq!(session.bind(BoundBy::Fork, branched), vec![boot(2, None)]);
    let mut session = Session::unbound();
    let gone = Standing {
        marker_is_live: false,
        ..standing
    };
    assert_eq!(session.bind(BoundBy::Resume, gone), vec![boot(2, None)]);
}

#[test]
fn that_ends_is_forgotten() {
    let mut session = Session::started();
    command(&mut session, "");
    session.feed(Input::SessionEnded);
    assert_eq!(session.state.window, None);
    assert_eq!(session.state.pending, None);
    assert_eq!(session.bind(BoundBy::Clear, Standing::default()), vec![boot(0, None)]);
    command(&mut session, "");
    assert_eq!(session.settled("close-out-1"), vec![], "of the session before");
    assert!(matches!(
        session.state.pending.as_ref().unwrap().phase,
        Phase::Submitted { accepted: false, .. }
    ));
}

#[test]
fn whose_start_was_missed_is_bound_by_the_next_event() {
    let mut session = Session::unbound();
    assert!(session.state.needs_binding(Some("s")));
    let standing = Standing {
        boundaries: 1,
        warned: true,
        ..Standing::default()
    };
    assert_eq!(session.bind(BoundBy::Lazy, standing), vec![]);
    assert_eq!(session.window().id, id_of(1));
    assert!(session.window().warned);
    assert_eq!(session.feed(Input::BootWanted), vec![boot(1, None)]);

    let mut session = Session::unbound();
    session.fill = Some(850.0);
    assert_eq!(
        session.feed(Input::ToolBatch),
        vec![warn(0)],
        "even with nothing to read"
    );
}

#[test]
fn rewound_to_before_a_reset_is_what_stands() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.reset_runs("reset-1", 1);
    let lagging = Standing {
        highest_in_file: 0,
        ..Standing::default()
    };
    session.feed(Input::Reconciled { standing: lagging });
    assert_eq!(session.window().id, id_of(1), "not on disk yet is no rewind");
    let rewound = Standing {
        highest_in_file: 1,
        marker: Some("claude:s:0".to_owned()),
        marker_is_live: true,
        warned: true,
        ..Standing::default()
    };
    session.feed(Input::Reconciled { standing: rewound });
    assert_eq!(session.window().id, id_of(0));
    assert!(session.window().warned && !session.window().closed_out);
    assert_eq!(session.feed(Input::BootWanted), vec![], "its boot stands");
    session.compaction_asked(Trigger::Auto, None, "engine");
    assert_eq!(session.compaction_stands(), vec![boot(1, Some(7))]);
}

#[test]
fn rewound_to_before_its_warning_can_be_warned_again() {
    let mut session = Session::started();
    session.fill = Some(850.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(0)]);
    session.feed(Input::Reconciled {
        standing: Standing::default(),
    });
    assert_eq!(session.feed(Input::ToolBatch), vec![], "not on disk yet");
    assert_eq!(session.watch().warned_at, Some(800.0));
    session.fill = Some(300.0);
    session.feed(Input::Reconciled {
        standing: Standing::default(),
    });
    assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
    assert_eq!(
        (session.watch().warn_at, session.watch().warned_at),
        (Some(800.0), None)
    );
    session.fill = Some(850.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(0)]);
}

#[test]
fn catches_up_with_a_compaction_that_was_not_heard() {
    let mut session = Session::started();
    let ahead = Standing {
        boundaries: 2,
        highest_in_file: 2,
        ..Standing::default()
    };
    session.feed(Input::Reconciled { standing: ahead });
    assert_eq!(session.window().id, id_of(2));
    assert_eq!(session.feed(Input::BootWanted), vec![boot(2, None)]);
}

#[test]
fn keeps_its_marks_over_events_that_come_without_usage() {
    let mut session = Session::started();
    session.marks = MarksNow::NotAsked;
    assert_eq!(session.watch().reset_at, Some(900.0));
    session.feed(Input::PromptSubmitted);
    assert_eq!(session.watch().reset_at, Some(900.0));
    session.marks = MarksNow::Absent;
    session.feed(Input::Measured);
    assert_eq!(session.watch().reset_at, None);
}

#[test]
fn a_close_out_below_the_marks_is_given_once_though_its_row_is_not_on_disk_yet() {
    let mut session = Session::started();
    session.fill = Some(100.0);
    session.feed(Input::FreshWindowCommand { args: String::new() });
    session.turn_starts("t1", CLOSE_OUT_TAG);
    assert!(session.window().closed_out);
    session.feed(Input::Reconciled {
        standing: Standing::default(),
    });
    assert!(session.window().closed_out);
    assert_eq!(session.feed(Input::Stop), vec![]);
}
