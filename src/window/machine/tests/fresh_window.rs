use super::*;

#[test]
fn while_idle_takes_one_close_out_turn() {
    let mut session = Session::started();
    let submit = Output::SubmitCloseOut {
        id: "close-out-1".to_owned(),
    };
    assert_eq!(command(&mut session, ""), vec![submit, lines(Line::Begun).remove(0)]);
    assert_eq!(
        command(&mut session, ""),
        lines(Line::AlreadyPending { by: Requester::Person })
    );
    assert_eq!(session.settled("close-out-1"), vec![]);
    session.turn_starts("t1", &format!("The plugin notesoup says:\n{CLOSE_OUT_TAG} save now"));
    assert_eq!(
        command(&mut session, ""),
        lines(Line::AlreadyPending { by: Requester::Person })
    );
    assert_eq!(session.feed(Input::Stop), vec![], "the turn is the close-out");
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    assert_eq!(command(&mut session, ""), lines(Line::AlreadyRunning));
    session.reset_runs("reset-2", 1);
    assert_eq!(session.state.pending, None);
}

#[test]
fn while_busy_closes_out_in_the_running_turn() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    assert_eq!(command(&mut session, ""), lines(Line::Queued));
    assert_eq!(
        command(&mut session, " "),
        lines(Line::AlreadyPending { by: Requester::Person })
    );
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Person)]);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
    session.reset_runs("reset-1", 1);
}

#[test]
fn is_taken_back_by_cancel() {
    let mut session = Session::started();
    assert_eq!(command(&mut session, "cancel"), lines(Line::NothingToCancel));
    command(&mut session, "");
    assert_eq!(command(&mut session, " cancel "), lines(Line::Cancelled));
    assert_eq!(session.state.pending, None);
    session.turn_starts("t1", CLOSE_OUT_TAG);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert_eq!(
        command(&mut session, "now"),
        lines(Line::UnknownArgument { word: "now".to_owned() })
    );
}

#[test]
fn cannot_cancel_what_is_due_by_itself_or_runs() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(950.0);
    session.feed(Input::Stop);
    assert_eq!(command(&mut session, "cancel"), lines(Line::CancelAutomatic));
    assert_eq!(
        command(&mut session, ""),
        lines(Line::AlreadyPending { by: Requester::Mark })
    );
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(command(&mut session, "cancel"), lines(Line::CancelTooLate));
}

#[test]
fn is_dropped_and_says_so_when_the_close_out_is_interrupted_or_fails() {
    for (end, line) in [
        (TurnEnd::Aborted, Line::CloseOutAborted),
        (TurnEnd::Failed, Line::CloseOutFailed),
    ] {
        let mut session = Session::started();
        command(&mut session, "");
        session.settled("close-out-1");
        session.turn_starts("t1", CLOSE_OUT_TAG);
        assert_eq!(session.turn_ends(end), vec![Output::Say(line.clone())]);
        assert_eq!(session.state.pending, None);
        assert!(!session.window().closed_out, "what comes later is not saved yet");

        session.turn_starts("t2", "go");
        command(&mut session, "");
        session.feed(Input::Stop);
        assert_eq!(session.turn_ends(end), vec![Output::Say(line)]);
        assert_eq!(session.state.pending, None);
    }
}

#[test]
fn is_dropped_when_its_turn_is_interrupted_before_its_start_was_heard() {
    let mut session = Session::started();
    command(&mut session, "");
    session.settled("close-out-1");
    session.turn_starts("t1", "the text was not told");
    assert_eq!(
        session.turn_ends(TurnEnd::Aborted),
        vec![Output::Say(Line::CloseOutAborted)]
    );
    assert_eq!(session.state.pending, None);
}

#[test]
fn is_dropped_and_says_so_when_its_turn_cannot_be_submitted_or_the_reset_is_interrupted() {
    let mut session = Session::started();
    command(&mut session, "");
    let out = session.settle("close-out-1", Err("no prompt box"));
    assert!(matches!(out[..], [Output::Say(Line::CloseOutNotSubmitted { .. })]));
    assert_eq!(session.state.pending, None);

    command(&mut session, "");
    session.settled("close-out-2");
    session.turn_starts("t1", CLOSE_OUT_TAG);
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(
        session.settle("reset-3", Err("aborted")),
        vec![Output::Say(Line::ResetAborted)]
    );
    assert_eq!(session.state.pending, None);
}

#[test]
fn waits_for_its_own_turn_behind_a_prompt_typed_meanwhile() {
    let mut session = Session::started();
    command(&mut session, "");
    session.settled("close-out-1");
    session.turn_starts("t1", "typed meanwhile");
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    session.turn_starts("t2", CLOSE_OUT_TAG);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
}

#[test]
fn is_not_lost_when_its_turn_joined_another() {
    let mut session = Session::started();
    command(&mut session, "");
    session.settled("close-out-1");
    session.turn_starts("t1", "typed meanwhile");
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    session.turn_starts("t2", "go on");
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Person)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
}

#[test]
fn says_what_is_so_where_it_cannot_run() {
    let mut session = Session::started();
    session.headless = true;
    assert_eq!(command(&mut session, ""), lines(Line::Headless));
    session.disabled = true;
    assert_eq!(command(&mut session, ""), lines(Line::CompactDisabled));
    session.disabled = false;
    session.switches.reset = false;
    assert_eq!(command(&mut session, ""), lines(Line::NoReset));
    assert_eq!(session.state.pending, None);
}

#[test]
fn is_never_held_back_by_the_guard_on_automatic_resets() {
    let mut session = Session::started();
    session.state.last_reset = Some(0);
    session.turn_starts("t1", "go");
    assert_eq!(command(&mut session, ""), lines(Line::Queued));
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Person)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
}

#[test]
fn is_kept_over_a_summary_in_between() {
    let mut session = Session::started();
    session.switches.veto_manual = false;
    command(&mut session, "");
    session.compaction_asked(Trigger::Manual, None, "engine");
    assert_eq!(session.compaction_stands(), vec![boot(1, None)]);
    session.settled("close-out-1");
    session.turn_starts("t1", CLOSE_OUT_TAG);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-2")]);
    session.reset_runs("reset-2", 2);
}

#[test]
fn waits_for_the_next_turn_when_a_reload_lost_its_timer() {
    let mut session = Session::started();
    command(&mut session, "");
    assert_eq!(session.feed(Input::Reloaded), vec![Output::Say(Line::WaitsForNextTurn)]);
    session.turn_starts("t1", "go");
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Person)]);
}

#[test]
fn by_the_models_tool_follows_its_turn_without_another_close_out() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    let asked = Output::ToolAnswer {
        line: Line::ToolQueued,
        is_error: false,
    };
    assert_eq!(session.feed(Input::FreshWindowTool), vec![asked.clone()]);
    assert_eq!(session.feed(Input::FreshWindowTool), vec![asked]);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
    session.reset_runs("reset-1", 1);
    session.turn_starts("t2", "go");
    let out = session.feed(Input::FreshWindowTool);
    assert!(matches!(
        out[..],
        [Output::ToolAnswer {
            line: Line::TooSoon { .. },
            is_error: true
        }]
    ));
}
