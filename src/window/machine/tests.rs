//! Each transition by name. A [`Session`] plays the courier: it feeds events, keeps state and figures, and carries out
//! what comes back.

use super::*;
use crate::window::ordinal::{Seen, Standing};
use crate::window::reset_point::Marks;

const MARKS: Marks = Marks {
    unit: Unit::Tokens,
    point: 1000.0,
    reset_at: 900.0,
    warn_at: Some(800.0),
};

struct Session {
    state: State,
    fill: Option<f64>,
    marks: MarksNow,
    switches: Switches,
    completed: u64,
    running: bool,
    turn: Option<String>,
    headless: bool,
    disabled: bool,
    choice: usize,
    nonce: String,
}

impl Session {
    fn started() -> Self {
        let mut session = Self::unbound();
        let out = session.bind(BoundBy::Startup, Standing::default());
        assert_eq!(out, vec![boot(0, None)]);
        session
    }

    fn unbound() -> Self {
        Self {
            state: State::default(),
            fill: Some(10.0),
            marks: MarksNow::Are(MARKS),
            switches: Switches::ALL,
            completed: 0,
            running: false,
            turn: None,
            headless: false,
            disabled: false,
            choice: 7,
            nonce: "n1".to_owned(),
        }
    }

    fn ctx(&self) -> Ctx<'_> {
        Ctx {
            marks: self.marks,
            fill: self.fill,
            switches: self.switches,
            min_turns: 2,
            completed_turns: self.completed,
            turn_running: self.running,
            turn_id: self.turn.as_deref(),
            headless: self.headless,
            compact_disabled: self.disabled,
            is_subagent: false,
            session_id: Some("s"),
            nonce: &self.nonce,
            choice: self.choice,
        }
    }

    fn feed(&mut self, input: Input) -> Vec<Output> {
        // Through JSON each time, as the courier carries it.
        let raw = self.state.to_value().to_string();
        let (state, out) = step(State::read(Some(&raw)), &input, &self.ctx());
        self.state = state;
        out
    }

    fn bind(&mut self, by: BoundBy, standing: Standing) -> Vec<Output> {
        self.feed(Input::SessionBound {
            by,
            session_id: "s".to_owned(),
            standing,
            ours: None,
        })
    }

    fn turn_starts(&mut self, id: &str, text: &str) {
        self.running = true;
        self.turn = Some(id.to_owned());
        let out = self.feed(Input::TurnStarted {
            id: Some(id.to_owned()),
            text: text.to_owned(),
        });
        assert_eq!(out, vec![]);
    }

    fn turn_ends(&mut self, end: TurnEnd) -> Vec<Output> {
        let id = self.turn.take();
        self.running = false;
        if end == TurnEnd::Answer {
            self.completed += 1;
        }
        self.feed(Input::TurnCompleted { id, end })
    }

    /// A whole turn without events of note.
    fn quiet_turn(&mut self, id: &str) {
        self.turn_starts(id, "do this");
        assert_eq!(self.feed(Input::Stop), vec![]);
        assert_eq!(self.turn_ends(TurnEnd::Answer), vec![]);
    }

    fn compaction_asked(&mut self, trigger: Trigger, instructions: Option<&str>, origin: &str) -> Vec<Output> {
        self.feed(Input::CompactAsked {
            trigger,
            instructions: instructions.map(str::to_owned),
            origin: Some(origin.to_owned()),
        })
    }

    fn compaction_stands(&mut self) -> Vec<Output> {
        self.fill = None;
        self.bind(BoundBy::Compact, Standing::default())
    }

    fn settled(&mut self, id: &str) -> Vec<Output> {
        self.settle(id, Ok(None))
    }

    fn settle(&mut self, id: &str, result: Result<Option<&str>, &str>) -> Vec<Output> {
        self.feed(Input::EffectSettled {
            id: id.to_owned(),
            ok: result.is_ok(),
            error: result.err().map(str::to_owned),
            skip: result.ok().flatten().map(str::to_owned),
        })
    }

    /// Decided in the last step: the reset's own hook, the new window, the outcome.
    fn reset_runs(&mut self, id: &str, ordinal: u32) {
        let out = self.compaction_asked(Trigger::Plugin, None, PLUGIN);
        let by_mark = self
            .state
            .pending
            .as_ref()
            .is_some_and(|pending| pending.by == Requester::Mark);
        assert_eq!(out, vec![answer(ordinal, Trigger::Plugin, true, by_mark)]);
        assert_eq!(self.compaction_stands(), vec![boot(ordinal, Some(7))]);
        assert_eq!(self.settled(id), vec![]);
        assert_eq!(self.window().id, id_of(ordinal));
        assert_eq!(self.state.pending, None);
        assert_eq!(self.state.flight, None);
    }

    fn window(&self) -> &Window {
        self.state.window.as_ref().unwrap()
    }

    fn watch(&self) -> wire::Watch {
        watch(&self.state, &self.ctx())
    }
}

fn id_of(ordinal: u32) -> WindowId {
    WindowId::new("s", ordinal)
}

fn boot(ordinal: u32, paragraph: Option<usize>) -> Output {
    Output::Boot {
        window: id_of(ordinal),
        previous: id_of(ordinal).previous(),
        paragraph,
    }
}

fn warn(ordinal: u32) -> Output {
    Output::Warn { window: id_of(ordinal) }
}

fn close_out(ordinal: u32, by: Requester) -> Output {
    Output::CloseOut {
        window: id_of(ordinal),
        by,
    }
}

fn answer(ordinal: u32, trigger: Trigger, asked_by_us: bool, is_automatic: bool) -> Output {
    Output::AnswerReset {
        window: id_of(ordinal),
        choice: 7,
        trigger,
        asked_by_us,
        is_automatic,
        turn_is_open: !asked_by_us,
    }
}

fn compact(id: &str) -> Output {
    Output::Compact { id: id.to_owned() }
}

fn lines(line: Line) -> Vec<Output> {
    vec![Output::CommandLines(vec![line])]
}

fn command(session: &mut Session, args: &str) -> Vec<Output> {
    session.feed(Input::FreshWindowCommand { args: args.to_owned() })
}

const RUNS: &str = "$.session.compact: a turn is running (t); the conversation compacts between turns";

mod the_warning {
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
            warned: Seen::ON_BRANCH,
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
}

mod the_reset {
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
    fn with_a_boot_that_cannot_be_built_is_vetoed_and_tried_again_with_the_same_paragraph() {
        let mut session = Session::started();
        session.turn_starts("t1", "go");
        session.fill = Some(950.0);
        session.feed(Input::Stop);
        session.turn_ends(TurnEnd::Answer);
        session.compaction_asked(Trigger::Plugin, None, PLUGIN);
        let reason = "notes unreadable".to_owned();
        let out = session.feed(Input::ResetUnbuildable { reason: reason.clone() });
        assert_eq!(out, vec![Output::Veto(Line::ResetWaitsForBoot { reason })]);
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
}

mod the_clients_own_compaction {
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
        assert_eq!(session.feed(Input::PromptSubmitted), vec![boot(1, None)]);
        assert_eq!(session.feed(Input::BootFailed { reason }), vec![], "said once a window");
        assert_eq!(session.feed(Input::PromptSubmitted), vec![boot(1, None)]);
        assert_eq!(session.feed(Input::PromptSubmitted), vec![]);
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
}

mod fresh_window {
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
}

mod the_session {
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
            warned: Seen::ON_BRANCH,
            ..Standing::default()
        };
        assert_eq!(session.bind(BoundBy::Lazy, standing), vec![]);
        assert_eq!(session.window().id, id_of(1));
        assert!(session.window().warned);
        assert_eq!(session.feed(Input::PromptSubmitted), vec![boot(1, None)]);

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
            warned: Seen::ON_BRANCH,
            ..Standing::default()
        };
        session.feed(Input::Reconciled { standing: rewound });
        assert_eq!(session.window().id, id_of(0));
        assert!(session.window().warned && !session.window().closed_out);
        assert_eq!(session.feed(Input::PromptSubmitted), vec![], "its boot stands");
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
        session.feed(Input::Reconciled {
            standing: Standing {
                warned: Seen::OFF_BRANCH,
                ..Standing::default()
            },
        });
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
        assert_eq!(session.feed(Input::PromptSubmitted), vec![boot(2, None)]);
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
}
