//! What holds whatever happens. First against events in any order, sensible or not; then against a client that is
//! played: it runs turns and carries out effects, and loses, refuses, interrupts and replaces them as it likes.

mod world;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::window::ordinal::Standing;
use crate::window::reset_point::Marks;
use world::{Fate, Move, World, next_move};

const MARKS: Marks = Marks {
    unit: Unit::Tokens,
    point: 1000.0,
    reset_at: 900.0,
    warn_at: Some(800.0),
};

/// What is told beside an event, owned.
#[derive(Debug, Clone)]
struct Beside {
    marks: MarksNow,
    fill: Option<f64>,
    switches: Switches,
    completed: u64,
    running: bool,
    headless: bool,
    disabled: bool,
    choice: usize,
}

impl Beside {
    fn ctx<'a>(&self, nonce: &'a str) -> Ctx<'a> {
        Ctx {
            marks: self.marks,
            fill: self.fill,
            switches: self.switches,
            min_turns: 2,
            completed_turns: self.completed,
            turn_running: self.running,
            turn_id: None,
            headless: self.headless,
            compact_disabled: self.disabled,
            is_subagent: false,
            session_id: Some("s"),
            nonce,
            choice: self.choice,
        }
    }
}

/// Three thousand sequences, or as many as `PROPTEST_CASES` asks for.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(3000),
        failure_persistence: None,
        ..default
    }
}

/// A number, drawn and taken apart into choices. Drawing one number an event is many times cheaper than a tree of
/// strategies, and thousands of sequences count for more here than the smallest failing one.
struct Dice(u64);

impl Dice {
    /// One of `0..sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        let rolled = self.0 % sides;
        self.0 /= sides;
        rolled
    }

    /// One of these.
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let index = self.roll(of.len() as u64) as usize;
        of[index].clone()
    }

    /// True once in so many.
    fn once_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

const FILLS: [Option<f64>; 4] = [Some(950.0), Some(850.0), Some(100.0), None];

fn beside(dice: &mut Dice) -> Beside {
    let switches = match dice.roll(11) {
        0 => Switches {
            veto_manual: false,
            ..Switches::ALL
        },
        1 => Switches {
            close_out: false,
            ..Switches::ALL
        },
        2 => Switches::NONE,
        _ => Switches::ALL,
    };
    let marks = match dice.roll(12) {
        0 => MarksNow::Absent,
        1 | 2 => MarksNow::NotAsked,
        _ => MarksNow::Are(MARKS),
    };
    Beside {
        marks,
        fill: dice.pick(&FILLS),
        switches,
        completed: dice.roll(6),
        running: dice.once_in(2),
        headless: dice.once_in(5),
        disabled: dice.once_in(20),
        choice: dice.roll(9) as usize,
    }
}

fn standing(dice: &mut Dice) -> Standing {
    Standing {
        boundaries: dice.roll(4) as u32,
        marker: match dice.roll(5) {
            0 => None,
            ordinal => Some(format!("claude:s:{}", ordinal - 1)),
        },
        marker_is_live: dice.once_in(2),
        highest_in_file: dice.roll(5) as u32,
        warned: dice.once_in(3),
        closed_out: dice.once_in(3),
    }
}

fn input(dice: &mut Dice) -> Input {
    let turns = [None, Some("t1".to_owned()), Some("t2".to_owned())];
    match dice.roll(32) {
        0 | 1 => Input::SessionBound {
            by: match dice.roll(10) {
                0 => BoundBy::Startup,
                1 => BoundBy::Resume,
                2 => BoundBy::Clear,
                3 => BoundBy::Lazy,
                _ => BoundBy::Compact,
            },
            session_id: "s".to_owned(),
            standing: standing(dice),
            ours: dice.pick(&[None, Some(true), Some(false)]),
        },
        2 => Input::Reconciled {
            standing: standing(dice),
        },
        3 => Input::BootFailed { reason: "r".to_owned() },
        4 => Input::BootWanted,
        5 => Input::PromptSubmitted,
        6 | 7 => Input::TurnStarted {
            id: dice.pick(&turns),
            text: dice.pick(&[CLOSE_OUT_TAG, "go"]).to_owned(),
        },
        8..=10 => Input::ToolBatch,
        11..=14 => Input::Stop,
        15..=18 => Input::TurnCompleted {
            id: dice.pick(&turns),
            end: dice.pick(&[TurnEnd::Answer, TurnEnd::Answer, TurnEnd::Aborted, TurnEnd::Failed]),
        },
        19..=21 => Input::Measured,
        22..=24 => Input::CompactAsked {
            trigger: dice.pick(&[Trigger::Manual, Trigger::Auto, Trigger::Plugin, Trigger::Precompute]),
            instructions: dice
                .pick(&[
                    None,
                    Some("notesoup-reset n"),
                    Some("notesoup-reset other"),
                    Some("prune"),
                ])
                .map(str::to_owned),
            origin: Some(dice.pick(&[PLUGIN, PLUGIN, PLUGIN, "other"]).to_owned()),
        },
        25 => Input::ResetUnbuildable { reason: "r".to_owned() },
        26..=28 => {
            let error = dice.pick(&[
                None,
                None,
                None,
                Some("a turn is running (t)"),
                Some("aborted"),
                Some("not available in a headless session"),
                Some("anything"),
                Some("compaction is switched off in this session"),
            ]);
            Input::EffectSettled {
                id: format!("{}-{}", dice.pick(&["reset", "close-out"]), 1 + dice.roll(7)),
                ok: error.is_none(),
                error: error.map(str::to_owned),
                skip: dice.once_in(5).then(|| "r".to_owned()),
            }
        }
        29 => Input::FreshWindowCommand {
            args: dice.pick(&["", "", "cancel", "now"]).to_owned(),
        },
        30 => Input::FreshWindowTool,
        _ => Input::Reloaded,
    }
}

fn says_something(out: &[Output]) -> bool {
    out.iter()
        .any(|output| matches!(output, Output::Say(_) | Output::CommandLines(_)))
}

fn rebinds(input: &Input) -> bool {
    matches!(
        input,
        Input::SessionBound {
            by: BoundBy::Startup | BoundBy::Resume | BoundBy::Clear,
            ..
        }
    )
}

/// Checks one step; gives the new state.
fn check_step(before: State, input: &Input, beside: &Beside) -> Result<State, TestCaseError> {
    let ctx = beside.ctx("n");
    let (after, out) = step(before.clone(), input, &ctx);

    if rebinds(input) {
        return Ok(after);
    }
    let (Some(old), Some(new)) = (&before.window, &after.window) else {
        return Ok(after);
    };
    check_ordinal(&before, old, new, input)?;
    check_flags(&before, old, new, input, &out)?;
    check_requests(&before, &after, input, &out)?;

    // Never asleep while something is pending.
    let watch = watch(&after, &ctx);
    let something = after.pending.is_some() || after.flight.as_ref().is_some_and(|flight| !flight.stood);
    prop_assert!(!something || watch.pending);
    Ok(after)
}

fn check_ordinal(before: &State, old: &Window, new: &Window, input: &Input) -> Result<(), TestCaseError> {
    if old.id == new.id {
        return Ok(());
    }
    match input {
        Input::SessionBound {
            by: BoundBy::Compact, ..
        } => prop_assert!(new.id.ordinal > old.id.ordinal),
        Input::SessionBound { by: BoundBy::Lazy, .. } | Input::Reconciled { .. } => {}
        Input::EffectSettled {
            id,
            ok: true,
            skip: None,
            ..
        } => {
            let flight = before.flight.as_ref();
            prop_assert!(flight.is_some_and(|flight| flight.id == *id && !flight.stood && flight.way == Way::Call));
            prop_assert_eq!(new.id.ordinal, old.id.ordinal + 1);
        }
        _ => prop_assert!(false, "the ordinal moved without a standing compaction: {:?}", input),
    }
    Ok(())
}

fn check_flags(before: &State, old: &Window, new: &Window, input: &Input, out: &[Output]) -> Result<(), TestCaseError> {
    for output in out {
        match output {
            Output::Warn { window } => {
                prop_assert!(!old.warned && new.warned && *window == new.id);
            }
            Output::CloseOut { window, .. } => {
                prop_assert!(!old.closed_out && new.closed_out && *window == new.id);
            }
            _ => {}
        }
    }
    let may_move = old.id != new.id || matches!(input, Input::Reconciled { .. } | Input::SessionBound { .. });
    if may_move {
        return Ok(());
    }
    prop_assert!(!old.warned || new.warned, "a warning is not forgotten");
    if old.closed_out && !new.closed_out {
        let gave = before.pending.as_ref().is_some_and(|pending| pending.gave_close_out);
        prop_assert!(
            gave && says_something(out),
            "a close-out is undone only with its request"
        );
    }
    Ok(())
}

fn check_requests(before: &State, after: &State, input: &Input, out: &[Output]) -> Result<(), TestCaseError> {
    // Not lost silently.
    if let Some(pending) = before.pending.as_ref().filter(|pending| pending.by != Requester::Mark)
        && after.pending.is_none()
    {
        let met = after.window != before.window && after.last_reset.is_some();
        prop_assert!(
            met || says_something(out),
            "{:?} was lost by {:?} with {:?}",
            pending,
            input,
            out
        );
    }
    // One compaction at a time, decided with its flag set, and only for a request.
    let asked: Vec<_> = out
        .iter()
        .filter(|output| matches!(output, Output::Compact { .. } | Output::CompactByCommand { .. }))
        .collect();
    prop_assert!(asked.len() <= 1);
    if !asked.is_empty() {
        prop_assert!(after.flight.is_some() && after.pending.is_some());
    }
    for output in out {
        if let Output::AnswerReset { asked_by_us, .. } = output {
            prop_assert!(
                after
                    .flight
                    .as_ref()
                    .is_some_and(|flight| flight.answered && !flight.stood)
            );
            prop_assert!(!asked_by_us || before.pending.is_some());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn events_in_any_order_keep_the_laws(numbers in vec(any::<(u64, u64)>(), 1..60)) {
        let start = Input::SessionBound {
            by: BoundBy::Startup,
            session_id: "s".to_owned(),
            standing: Standing::default(),
            ours: None,
        };
        let first = beside(&mut Dice(numbers[0].0));
        let mut state = step(State::default(), &start, &first.ctx("n")).0;
        for (what, told) in &numbers {
            state = check_step(state, &input(&mut Dice(*what)), &beside(&mut Dice(*told)))?;
        }
        let raw = state.to_value().to_string();
        prop_assert!(raw.len() < 2048, "the state is small: {}", raw);
        prop_assert_eq!(&State::read(Some(&raw)), &state, "the state survives the courier");
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_client_that_does_as_it_likes_gets_each_reset_once(
        numbers in vec(any::<u64>(), 1..80),
    ) {
        let mut world = World::new(numbers[0] % 5 == 0);
        for number in &numbers {
            world.play(&next_move(&mut Dice(*number)))?;
            world.check()?;
        }
        // When all goes well for a while, what was asked for is there. Above the mark, since a mark that is no longer
        // reached asks for nothing.
        world.end_turn(TurnEnd::Aborted);
        for _ in 0..6 {
            world.play(&Move::Settle(Fate::Done))?;
            world.check()?;
        }
        for _ in 0..6 {
            world.play(&Move::Prompt)?;
            world.play(&Move::End(Some(100.0)))?;
            for _ in 0..3 {
                world.play(&Move::Settle(Fate::Done))?;
                world.check()?;
            }
        }
        prop_assert_eq!(&world.state.pending, &None, "nothing waits for ever");
    }
}
