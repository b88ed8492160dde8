//! Each transition by name. A [`Session`] plays the courier: it feeds events, keeps state and figures, and carries out
//! what comes back.

mod fresh_window;
mod the_clients_own_compaction;
mod the_reset;
mod the_session;
mod the_warning;

use super::*;
use crate::window::ordinal::Standing;
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
