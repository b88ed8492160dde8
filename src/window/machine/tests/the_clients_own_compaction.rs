use super::*;

#[test]
fn becomes_a_reset_in_the_middle_of_a_turn() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.fill = Some(1200.0);
    assert_eq!(
        session.compaction_asked(Trigger::Auto, None, "engine"),
        vec![answer(1, Trigger::Auto, false, true)]
    );
    assert_eq!(session.compaction_stands(), vec![boot(1, Some(7))]);
    assert_eq!(session.state.flight, None);
    session.fill = Some(50.0);
    assert_eq!(session.feed(Input::ToolBatch), vec![]);
    assert_eq!(session.window().first_fill, Some(50.0));
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
}

#[test]
fn meets_the_request_that_was_pending() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    assert_eq!(command(&mut session, ""), lines(Line::Queued));
    session.compaction_asked(Trigger::Auto, None, "engine");
    session.compaction_stands();
    session.fill = Some(50.0);
    assert_eq!(session.feed(Input::Stop), vec![]);
    assert_eq!(session.turn_ends(TurnEnd::Answer), vec![]);
}

#[test]
fn is_left_to_the_client_when_the_last_reset_was_just_now() {
    let mut session = Session::started();
    session.state.last_reset = Some(0);
    session.turn_starts("t1", "go");
    let out = session.compaction_asked(Trigger::Auto, None, "engine");
    assert_eq!(
        out,
        vec![Output::Say(Line::TooSoon { done: 0, needed: 2 }), Output::Pass]
    );
    assert_eq!(
        session.compaction_asked(Trigger::Auto, None, "engine"),
        vec![Output::Pass]
    );
    assert_eq!(session.compaction_stands(), vec![boot(1, None)]);
}

#[test]
fn is_left_to_the_client_when_the_boot_cannot_be_built_and_the_boot_comes_back() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.compaction_asked(Trigger::Auto, None, "engine");
    let reason = "notes unreadable".to_owned();
    let out = session.feed(Input::ResetUnbuildable { reason: reason.clone() });
    assert_eq!(
        out,
        vec![
            Output::Say(Line::SummaryInstead { reason: reason.clone() }),
            Output::Pass
        ]
    );
    assert_eq!(session.compaction_stands(), vec![boot(1, None)]);
    let out = session.feed(Input::BootFailed { reason: reason.clone() });
    assert_eq!(out, vec![Output::Say(Line::BootMissing { reason: reason.clone() })]);
    assert!(session.watch().pending);
    assert_eq!(session.feed(Input::BootWanted), vec![boot(1, None)]);
    assert_eq!(session.feed(Input::BootFailed { reason }), vec![], "said once a window");
    assert_eq!(session.feed(Input::BootWanted), vec![boot(1, None)]);
    assert_eq!(session.feed(Input::BootWanted), vec![]);
}

#[test]
fn that_was_interrupted_counts_for_nothing() {
    let mut session = Session::started();
    session.turn_starts("t1", "go");
    session.compaction_asked(Trigger::Auto, None, "engine");
    assert_eq!(session.turn_ends(TurnEnd::Aborted), vec![]);
    assert_eq!(session.state.flight, None);
    assert_eq!(session.window().id, id_of(0));
}

#[test]
fn is_no_business_of_a_profile_without_reset() {
    let mut session = Session::unbound();
    session.switches = Switches::NONE;
    assert_eq!(session.bind(BoundBy::Startup, Standing::default()), vec![]);
    for trigger in [Trigger::Auto, Trigger::Manual, Trigger::Precompute] {
        assert_eq!(session.compaction_asked(trigger, None, "engine"), vec![Output::NotOurs]);
    }
    assert_eq!(
        session.compaction_asked(Trigger::Plugin, None, "other"),
        vec![Output::NotOurs]
    );
}

#[test]
fn by_hand_or_by_another_plugin_is_vetoed_where_the_profile_says_so() {
    let mut session = Session::started();
    let mut veto = |trigger, text, origin| session.compaction_asked(trigger, text, origin);
    assert_eq!(
        veto(Trigger::Manual, None, "engine"),
        vec![Output::Veto(Line::VetoManual { prune: false })]
    );
    assert_eq!(
        veto(Trigger::Manual, Some("prune 120k"), "engine"),
        vec![Output::Veto(Line::VetoManual { prune: true })]
    );
    assert_eq!(
        veto(Trigger::Precompute, None, "engine"),
        vec![Output::Veto(Line::VetoPrecompute)]
    );
    assert_eq!(
        veto(Trigger::Plugin, None, "other"),
        vec![Output::Veto(Line::VetoPlugin {
            name: "other".to_owned()
        })]
    );
}

#[test]
fn of_a_subagent_is_left_alone() {
    let session = Session::started();
    let ctx = Ctx {
        is_subagent: true,
        fill: Some(1200.0),
        ..session.ctx()
    };
    let asked = Input::CompactAsked {
        trigger: Trigger::Auto,
        instructions: None,
        origin: None,
    };
    assert_eq!(
        step(session.state.clone(), &asked, &ctx),
        (session.state.clone(), vec![Output::Pass])
    );
    for input in [
        Input::ToolBatch,
        Input::Stop,
        Input::Measured,
        Input::TurnCompleted {
            id: None,
            end: TurnEnd::Answer,
        },
    ] {
        assert_eq!(
            step(session.state.clone(), &input, &ctx),
            (session.state.clone(), vec![])
        );
    }
}

#[test]
fn that_stands_begins_a_window_with_new_flags() {
    let mut session = Session::started();
    session.switches.veto_manual = false;
    session.turn_starts("t1", "go");
    session.fill = Some(850.0);
    session.feed(Input::ToolBatch);
    session.feed(Input::Stop);
    session.turn_ends(TurnEnd::Answer);
    assert_eq!(
        session.compaction_asked(Trigger::Manual, None, "engine"),
        vec![Output::NotOurs]
    );
    assert!(session.window().warned);
    assert_eq!(session.compaction_stands(), vec![boot(1, None)]);
    assert!(!session.window().warned);
    assert_eq!(session.state.last_reset, None, "no reset of ours");
}
