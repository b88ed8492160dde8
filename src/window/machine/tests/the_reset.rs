use super::*;

#[test]
fn follows_one_close_out_in_the_same_turn() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    assert!(session.watch().pending);
    assert_eq!(session.feed(Input::ToolBatch), vec![], "the close-out is the warning");
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
    assert_eq!(session.feed(Input::Measured), vec![], "one is on its way");
    session.reset_runs("reset-1", 1);
    assert!(!session.window().warned && !session.window().closed_out);
}

#[test]
fn stays_owed_silently_when_a_turn_runs_and_closes_out_no_second_time() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.turn_starts("t2", "typed ahead");
    assert_eq!(session.settle("reset-1", Err(RUNS)), vec![]);
    assert_eq!(session.feed(Input::Measured), vec![], "a turn runs");
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    session.reset_runs("reset-2", 1);
}

#[test]
fn is_tried_again_at_the_next_measure_when_no_turn_runs() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(session.settle("reset-1", Err(RUNS)), vec![]);
    assert_eq!(session.feed(Input::Measured), vec![compact("reset-2")]);
}

#[test]
fn does_not_follow_an_interruption_and_is_not_lost_by_it() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    assert_eq!(session.turn_ends(TurnEnd::Aborted), vec![]);
    session.turn_starts("t2", "go on");
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    assert_eq!(session.turn_ends(TurnEnd::Aborted), vec![]);
    session.turn_starts("t3", "go on");
    assert_eq!(session.feed(Input::Stop), vec![], "closed out already");
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
}

#[test]
fn waits_for_a_close_out_after_a_resume_above_the_mark() {
    let mut session = Session::unbound();
    session.fill = Some(950.0);
    session.bind(BoundBy::Resume, Standing::default());
    assert_eq!(session.feed(Input::Measured), vec![]);
    session.turn_starts("t1", "go");
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
}

#[test]
fn comes_without_a_close_out_when_two_turns_end_unheard() {
    let mut session = Session::started();
    session.fill = Some(950.0);
    session.turn_starts("t1", "go");
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert!(session.watch().pending);
    session.turn_starts("t2", "go");
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
}

#[test]
fn is_void_when_the_marks_moved_away() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.marks = MarksNow::Are(Marks {
        reset_at: 5000.0,
        ..MARKS
    });
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert_eq!(session.state.pending, None);
}

#[test]
fn needs_two_completed_turns_since_the_last_one() {
    let mut session = Session::started();
    session.completed = 5;
    session.state.last_reset = Some(5);
    session.fill = Some(950.0);
    session.turn_starts("t6", "go");
    let too_soon = Output::Say(Line::TooSoon { done: 0, needed: 2 });
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
    assert_eq!(session.feed(Input::Stop), vec![too_soon]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![], "said once");
    assert_eq!(session.watch().reset_at, Some(900.0), "turns pass without a process");
    session.turn_starts("t7", "go");
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(0)], "this turn is the second");
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
}

#[test]
fn does_not_come_in_a_window_that_began_above_its_mark() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.reset_runs("reset-1", 1);
    assert_eq!(session.watch().warn_at, Some(0.0), "any figure");
    session.completed += 5;
    session.fill = Some(930.0);
    session.turn_starts("t2", "go");
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
    let line = Line::BornFull {
        fill: 930.0,
        reset_at: 900.0,
    };
    assert_eq!(session.feed(Input::Stop), vec![Output::Say(line)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert_eq!(
        session.compaction_asked(Trigger::Auto, None, "engine"),
        vec![Output::Pass]
    );
    assert_eq!(session.watch(), wire::Watch::default());
}

#[test]
fn goes_by_the_command_in_a_headless_session() {
    let mut session = Session::started();
    session.headless = true;
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    let asked = Output::CompactByCommand {
        id: "reset-1".to_owned(),
        args: "notesoup-reset n1".to_owned(),
    };
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![asked]);
    let wrong = session.compaction_asked(Trigger::Manual, Some("notesoup-reset other"), "engine");
    assert_eq!(wrong, vec![Output::Veto(Line::VetoSpent)]);
    let out = session.compaction_asked(Trigger::Manual, Some("notesoup-reset n1"), "engine");
    assert_eq!(out, vec![answer(1, Trigger::Manual, true, true)]);
    assert_eq!(session.compaction_stands(), vec![boot(1, Some(7))]);
    assert_eq!(session.settled("reset-1"), vec![]);
    assert_eq!(session.state.pending, None);
    let late = session.compaction_asked(Trigger::Manual, Some("notesoup-reset n1"), "engine");
    assert_eq!(late, vec![Output::Veto(Line::VetoSpent)]);
}

#[test]
fn goes_by_the_command_when_the_call_is_refused_and_gives_up_when_that_is_too() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    let refused = Err("$.session.compact: not available in a headless (-p / SDK) session yet");
    let asked = Output::CompactByCommand {
        id: "reset-2".to_owned(),
        args: "notesoup-reset n1".to_owned(),
    };
    assert_eq!(session.settle("reset-1", refused), vec![asked]);
    let out = session.settle("reset-2", Err("no command named /compact"));
    assert!(matches!(out[..], [Output::Say(Line::Refused { .. })]));
    session.turn_starts("t2", "go");
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert_eq!(session.watch(), wire::Watch::default());
}

#[test]
fn that_fails_for_another_reason_stays_owed_and_says_so_once() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    let out = session.settle("reset-1", Err("the hook ran out of time"));
    assert!(matches!(out[..], [Output::Say(Line::ResetFailed { .. })]));
    assert_eq!(session.feed(Input::Measured), vec![compact("reset-2")]);
    assert_eq!(session.settle("reset-2", Err("the hook ran out of time")), vec![]);
    assert!(session.watch().pending);
}

#[test]
fn that_was_skipped_or_interrupted_leaves_everything_as_it_was() {
    for result in [Ok(Some("another plugin says no")), Err("aborted")] {
        let mut session = Session::started();
        session.turn_starts("t1", "go");
        session.fill = Some(950.0);
        session.feed(Input::Stop);
        session.turn_ends(TurnEnd::Answer);
        session.compaction_asked(Trigger::Plugin, None, PLUGIN);
        let before = session.window().clone();
        assert_eq!(session.settle("reset-1", result), vec![]);
        assert_eq!(*session.window(), before);
        assert!(session.watch().pending, "owed");
    }
}

#[test]
fn that_was_skipped_or_interrupted_is_not_begun_again_before_another_turn() {
    for result in [Ok(Some("no")), Err("aborted")] {
        let mut session = Session::started();
        session.turn_starts("t1", "go");
        session.fill = Some(950.0);
        session.feed(Input::Stop);
        assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
        assert_eq!(session.settle("reset-1", result), vec![]);
        assert_eq!(session.feed(Input::Measured), vec![]);
        session.turn_starts("t2", "go");
        assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    }
}

#[test]
fn with_a_boot_that_cannot_be_built_is_vetoed_and_tried_again_with_the_same_paragraph() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.compaction_asked(Trigger::Plugin, None, PLUGIN);
    let reason = "notes unreadable".to_owned();
    let out = session.feed(Input::ResetUnbuildable { reason: reason.clone() });
    let line = Line::ResetWaitsForBoot { reason };
    assert_eq!(out, vec![Output::Say(line.clone()), Output::Veto(line)]);
    session.settle("reset-1", Ok(Some("no reset")));
    session.choice = 3;
    session.turn_starts("t2", "go");
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    session.reset_runs("reset-2", 1);
}

#[test]
fn survives_a_reload_between_its_decision_and_its_outcome() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(session.feed(Input::Reloaded), vec![]);
    assert!(session.watch().pending);
    // Either it comes all the same, and once …
    let saved = session.state.clone();
    session.reset_runs("reset-1", 1);
    // … or it never does, and is asked for again.
    session.state = saved;
    session.fill = Some(950.0);
    assert_eq!(session.feed(Input::Measured), vec![compact("reset-2")]);
    session.reset_runs("reset-2", 1);
    let late = session.compaction_asked(Trigger::Plugin, None, PLUGIN);
    assert_eq!(late, vec![Output::Veto(Line::VetoSpent)]);
}

#[test]
fn is_not_lost_when_the_helper_crashed_while_it_ran() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.turn_starts("t2", "go");
    session.feed(Input::Stop);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
}

#[test]
fn counts_once_though_both_the_event_and_the_outcome_tell_of_it() {
    // The outcome first.
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    session.compaction_asked(Trigger::Plugin, None, PLUGIN);
    session.fill = None;
    assert_eq!(session.settled("reset-1"), vec![]);
    assert_eq!(session.window().id, id_of(1));
    assert!(session.watch().pending, "its boot is missing");
    assert_eq!(session.compaction_stands(), vec![boot(1, Some(7))]);
    assert_eq!(session.window().id, id_of(1));
}

#[test]
fn gives_way_to_another_compaction_in_its_place_and_says_so_to_the_person() {
    let mut session = Session::started();
    command(&mut session, "");
    session.settled("close-out-1");
    session.turn_starts("t1", CLOSE_OUT_TAG);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    session.compaction_asked(Trigger::Plugin, None, PLUGIN);
    let out = session.feed(Input::SessionBound {
        by: BoundBy::Compact,
        session_id: "s".to_owned(),
        standing: Standing::default(),
        ours: Some(false),
    });
    assert_eq!(out, vec![boot(1, None)]);
    assert_eq!(session.settled("reset-2"), vec![Output::Say(Line::Replaced)]);
    assert_eq!(session.state.pending, None);
}
