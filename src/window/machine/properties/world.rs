//! A client that is played: it runs turns and carries out effects, and loses, refuses, interrupts and replaces them as
//! it likes. It keeps a ledger of what it saw.

use super::*;

/// What the played client does next.
#[derive(Debug, Clone)]
pub(super) enum Move {
    /// The person types; a turn begins when none runs.
    Prompt,
    /// Results come in, and the fill with them.
    Batch(Option<f64>),
    /// The model ends its turn.
    End(Option<f64>),
    /// The person interrupts, or the turn fails.
    BreakOff(TurnEnd),
    /// `/fresh-window`.
    Command(&'static str),
    /// The tool, inside a turn.
    Tool,
    /// The oldest effect comes out like this.
    Settle(Fate),
    /// The client compacts by itself, like this.
    Auto(Fate),
    /// `/compact` that the profile lets through.
    Summary,
    /// The module is loaded again.
    Reload,
}

/// How a call comes out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Done,
    /// Its outcome is told before the event.
    DoneToldAhead,
    Skipped,
    Interrupted,
    Failed,
    Unbuildable,
    Replaced,
    /// Nothing is ever heard of it.
    Lost,
}

fn fate(dice: &mut Dice) -> Fate {
    match dice.roll(11) {
        0 => Fate::DoneToldAhead,
        1 => Fate::Skipped,
        2 => Fate::Interrupted,
        3 => Fate::Failed,
        4 => Fate::Unbuildable,
        5 => Fate::Replaced,
        6 => Fate::Lost,
        _ => Fate::Done,
    }
}

pub(super) fn next_move(dice: &mut Dice) -> Move {
    match dice.roll(30) {
        0..=5 => Move::Prompt,
        6..=9 => Move::Batch(dice.pick(&FILLS)),
        10..=15 => Move::End(dice.pick(&FILLS)),
        16 => Move::BreakOff(dice.pick(&[TurnEnd::Aborted, TurnEnd::Failed])),
        17 | 18 => Move::Command(dice.pick(&["", "", "", "", "cancel"])),
        19 => Move::Tool,
        20..=26 => Move::Settle(fate(dice)),
        27 => Move::Auto(fate(dice)),
        28 => Move::Summary,
        _ => Move::Reload,
    }
}

#[derive(Debug, Clone)]
enum Effect {
    Call(String),
    Command(String, String),
    Submit(String),
}

/// The played client, and a ledger of what it saw.
pub(super) struct World {
    pub(super) state: State,
    fill: Option<f64>,
    running: Option<String>,
    closing: bool,
    completed: u64,
    turns: u64,
    headless: bool,
    effects: Vec<Effect>,
    /// A close-out turn that waits for its turn.
    submitted: bool,
    /// Requests opened and not met or dropped yet.
    open: bool,
    /// Compactions that stood.
    stood: u32,
    warnings: u32,
    close_outs: u32,
    /// Close-outs that went down with their request.
    undone: u32,
}

impl World {
    pub(super) fn new(headless: bool) -> Self {
        let mut world = Self {
            state: State::default(),
            fill: Some(100.0),
            running: None,
            closing: false,
            completed: 0,
            turns: 0,
            headless,
            effects: Vec::new(),
            submitted: false,
            open: false,
            stood: 0,
            warnings: 0,
            close_outs: 0,
            undone: 0,
        };
        let start = Input::SessionBound {
            by: BoundBy::Startup,
            session_id: "s".to_owned(),
            standing: Standing::default(),
            ours: None,
        };
        world.feed(&start);
        world
    }

    fn feed(&mut self, input: &Input) -> Vec<Output> {
        let nonce = format!("n{}", self.state.counter);
        let ctx = Ctx {
            marks: MarksNow::Are(MARKS),
            fill: self.fill,
            switches: Switches {
                veto_manual: false,
                ..Switches::ALL
            },
            min_turns: 2,
            completed_turns: self.completed,
            turn_running: self.running.is_some(),
            turn_id: self.running.as_deref(),
            headless: self.headless,
            compact_disabled: false,
            is_subagent: false,
            session_id: Some("s"),
            nonce: &nonce,
            choice: 1,
        };
        let before = std::mem::take(&mut self.state);
        let (after, out) = step(before.clone(), input, &ctx);
        let closed = |state: &State| state.window.as_ref().is_some_and(|window| window.closed_out);
        let same_window = before.window_id() == after.window_id();
        if same_window && closed(&before) && !closed(&after) {
            self.undone += 1;
        }
        for output in &out {
            match output {
                Output::Warn { .. } => self.warnings += 1,
                Output::CloseOut { .. } => self.close_outs += 1,
                Output::Compact { id } => self.effects.push(Effect::Call(id.clone())),
                Output::CompactByCommand { id, args } => {
                    self.effects.push(Effect::Command(id.clone(), args.clone()));
                }
                Output::SubmitCloseOut { id } => self.effects.push(Effect::Submit(id.clone())),
                _ => {}
            }
        }
        self.open = after.pending.is_some();
        self.state = after;
        out
    }

    fn stands(&mut self, ours: Option<bool>) {
        self.fill = None;
        self.stood += 1;
        self.warnings = 0;
        self.close_outs = 0;
        self.undone = 0;
        self.feed(&Input::SessionBound {
            by: BoundBy::Compact,
            session_id: "s".to_owned(),
            standing: Standing::default(),
            ours,
        });
    }

    fn settle(&mut self, id: &str, result: Result<Option<&str>, &str>) {
        self.feed(&Input::EffectSettled {
            id: id.to_owned(),
            ok: result.is_ok(),
            error: result.err().map(str::to_owned),
            skip: result.ok().flatten().map(str::to_owned),
        });
    }

    fn start_turn(&mut self, text: &str) {
        self.turns += 1;
        let id = format!("t{}", self.turns);
        self.running = Some(id.clone());
        self.closing = text == CLOSE_OUT_TAG;
        self.feed(&Input::TurnStarted {
            id: Some(id),
            text: text.to_owned(),
        });
    }

    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        let Some(id) = self.running.take() else {
            return;
        };
        if end == TurnEnd::Answer {
            self.completed += 1;
        }
        self.feed(&Input::TurnCompleted { id: Some(id), end });
        if end == TurnEnd::Answer {
            self.feed(&Input::Measured);
        }
    }

    pub(super) fn play(&mut self, what: &Move) -> Result<(), TestCaseError> {
        match what {
            Move::Prompt if self.running.is_none() => {
                if self.feed(&Input::BootWanted).is_empty() {
                    self.feed(&Input::PromptSubmitted);
                }
                if std::mem::take(&mut self.submitted) {
                    self.start_turn(CLOSE_OUT_TAG);
                } else {
                    self.start_turn("go");
                }
            }
            Move::Batch(fill) if self.running.is_some() => {
                self.fill = *fill;
                self.feed(&Input::ToolBatch);
            }
            Move::End(fill) if self.running.is_some() => {
                self.fill = *fill;
                if self
                    .feed(&Input::Stop)
                    .iter()
                    .any(|output| matches!(output, Output::CloseOut { .. }))
                {
                    // The model goes on in the same turn, and is not asked again.
                    prop_assert_eq!(self.feed(&Input::Stop), vec![]);
                }
                self.end_turn(TurnEnd::Answer);
            }
            Move::BreakOff(end) => self.end_turn(*end),
            Move::Command(args) => {
                self.feed(&Input::FreshWindowCommand {
                    args: (*args).to_owned(),
                });
            }
            Move::Tool if self.running.is_some() => {
                self.feed(&Input::FreshWindowTool);
            }
            Move::Settle(fate) if !self.effects.is_empty() => {
                let effect = self.effects.remove(0);
                self.carry_out(&effect, *fate)?;
            }
            Move::Auto(fate) => self.compact_by_itself(*fate),
            Move::Summary if self.running.is_none() => {
                let out = self.feed(&Input::CompactAsked {
                    trigger: Trigger::Manual,
                    instructions: None,
                    origin: Some("engine".to_owned()),
                });
                prop_assert_eq!(out, vec![Output::NotOurs]);
                self.stands(None);
            }
            Move::Reload => {
                self.feed(&Input::Reloaded);
            }
            _ => {}
        }
        Ok(())
    }

    fn carry_out(&mut self, effect: &Effect, fate: Fate) -> Result<(), TestCaseError> {
        let (id, trigger, words) = match effect {
            Effect::Submit(id) => {
                match fate {
                    Fate::Failed | Fate::Interrupted => self.settle(id, Err("no prompt box")),
                    Fate::Lost => self.settle(id, Ok(None)),
                    _ => {
                        self.submitted = true;
                        self.settle(id, Ok(None));
                    }
                }
                return Ok(());
            }
            Effect::Call(id) => (id, Trigger::Plugin, None),
            Effect::Command(id, args) => (id, Trigger::Manual, Some(args.clone())),
        };
        if self.running.is_some() {
            self.settle(id, Err("a turn is running (t)"));
            return Ok(());
        }
        match fate {
            Fate::Lost => return Ok(()),
            Fate::Failed => {
                self.settle(id, Err("out of time"));
                return Ok(());
            }
            _ => {}
        }
        let was_open = self.open;
        let out = self.feed(&Input::CompactAsked {
            trigger,
            instructions: words,
            origin: Some(PLUGIN.to_owned()),
        });
        let Some(Output::AnswerReset { .. }) = out.last() else {
            prop_assert!(matches!(out.last(), Some(Output::Veto(Line::VetoSpent))), "{:?}", out);
            self.settle(id, Ok(Some("vetoed")));
            return Ok(());
        };
        // Never a reset without a request, so never two for one.
        prop_assert!(was_open);
        match fate {
            Fate::Done => {
                self.stands(None);
                prop_assert!(!self.open, "the request is met when the reset stands");
                self.settle(id, Ok(None));
            }
            Fate::DoneToldAhead if trigger == Trigger::Plugin => {
                let is_latest = self.state.flight.as_ref().is_some_and(|flight| flight.id == *id);
                self.fill = None;
                self.settle(id, Ok(None));
                prop_assert!(!self.open || !is_latest);
                self.stands(None);
                prop_assert!(!self.open);
            }
            Fate::Replaced => {
                let is_latest = self.state.flight.as_ref().is_some_and(|flight| flight.id == *id);
                self.stands(Some(false));
                self.settle(id, Ok(None));
                prop_assert!(!self.open || !is_latest);
            }
            Fate::Unbuildable => {
                let out = self.feed(&Input::ResetUnbuildable { reason: "r".to_owned() });
                prop_assert!(matches!(out.last(), Some(Output::Veto(_))));
                self.settle(id, Ok(Some("vetoed")));
            }
            Fate::Skipped => self.settle(id, Ok(Some("another plugin"))),
            _ => self.settle(id, Err("aborted")),
        }
        Ok(())
    }

    fn compact_by_itself(&mut self, fate: Fate) {
        let out = self.feed(&Input::CompactAsked {
            trigger: Trigger::Auto,
            instructions: None,
            origin: Some("engine".to_owned()),
        });
        let ours = matches!(out.last(), Some(Output::AnswerReset { .. }));
        match fate {
            Fate::Interrupted | Fate::Skipped | Fate::Lost | Fate::Failed => self.end_turn(TurnEnd::Aborted),
            Fate::Unbuildable if ours => {
                self.feed(&Input::ResetUnbuildable { reason: "r".to_owned() });
                self.stands(None);
            }
            Fate::Replaced => self.stands(Some(false)),
            _ => self.stands(None),
        }
    }

    pub(super) fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(
            self.state.window_id().map(|id| id.ordinal),
            Some(self.stood),
            "the ordinal is the number of compactions that stood"
        );
        prop_assert!(self.warnings <= 1, "one warning a window");
        prop_assert!(self.close_outs <= 1 + self.undone, "one close-out a window");
        Ok(())
    }
}
