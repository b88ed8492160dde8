use super::*;

#[test]
fn comes_in_the_middle_of_a_turn_once_a_window() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(799.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
    assert_eq!(session.watch().warn_at, Some(800.0));
    session.fill = Some(800.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(0)]);
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
    assert_eq!(session.watch().warn_at, None);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
    assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
}

#[test]
fn comes_with_the_next_prompt_when_the_last_step_crossed_the_mark() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(850.0);
    assert_eq!(session.feed(Input::Stop), vec![]);
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(session.feed(Input::PromptSubmitted), vec![warn(0)]);
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
}

#[test]
fn comes_again_in_the_next_window() {
    let mut session = Session::started();
    session.quiet_turn("t1");
    session.turn_starts("t2", "go");
    session.fill = Some(950.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(0)]);
    assert_eq!(session.feed(Input::Stop), vec![close_out(0, Requester::Mark)]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![compact("reset-1")]);
    session.reset_runs("reset-1", 1);
    session.fill = Some(50.0);
    session.quiet_turn("t3");
    session.turn_starts("t4", "go");
    session.fill = Some(820.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![warn(1)]);
}

#[test]
fn is_known_from_the_transcript_after_a_resume() {
    let mut session = Session::unbound();
    let standing = Standing {
        marker: Some("claude:s:0".to_owned()),
        marker_is_live: true,
        warned: true,
        ..Standing::default()
    };
    assert_eq!(session.bind(BoundBy::Resume, standing), vec![]);
    session.fill = Some(850.0);
    assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
}

#[test]
fn never_comes_where_no_reset_can_follow() {
    let cases: [fn(&mut Session); 6] = [
        |session| session.disabled = true,
        |session| session.switches.reset = false,
        |session| session.switches.warning = false,
        |session| session.state.refused = true,
        |session| session.marks = MarksNow::Absent,
        |session| session.state.last_reset = Some(0),
    ];
    for change in cases {
        let mut session = Session::started();
        change(&mut session);
        session.fill = Some(950.0);
        assert_eq!(session.feed(Input::ToolBatch), vec![]);
        assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
    }
}

#[test]
fn is_not_given_beside_a_close_out_turn() {
    let mut session = Session::started();
    session.fill = Some(850.0);
    command(&mut session, "");
    assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
    session.turn_starts("t1", CLOSE_OUT_TAG);
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
}
