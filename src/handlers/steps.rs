//! From a handler to the window's state machine and back: what the machine is told, and what its outputs become on the
//! wire.

use std::path::Path;

use super::{Call, Failure, boot};
use crate::config::Config;
use crate::window::machine::{self, Ctx, Input, MarksNow, Output, Requester, Switches};
use crate::window::reset_point::{Derivation, Environment, Unit, derive};
use crate::window::{Marks, WindowId};
use crate::wire::{Answer, Block, Effect, Event, Facts, Watch};

/// Takes an input to the machine and carries out what it wants done.
///
/// # Errors
/// When an answer that the machine asked for cannot be made.
pub(super) fn take(call: &mut Call<'_>, input: &Input) -> Result<Option<Answer>, Failure> {
    let outputs = step(call, input);
    carry_out(call, outputs)
}

/// One step of the machine, its state kept.
pub(super) fn step(call: &mut Call<'_>, input: &Input) -> Vec<Output> {
    let nonce = nonce(call);
    let choice = choose_paragraph(call);
    let facts = Told::of(call.config, call.facts);
    let state = std::mem::take(&mut call.state.machine);
    let (state, outputs) = machine::step(state, input, &facts.ctx(call.facts, &nonce, choice));
    call.state.machine = state;
    outputs
}

/// A word that nobody can guess, by which a reset by command is known as ours.
fn nonce(call: &mut Call<'_>) -> String {
    // Asking the system for chance costs a tenth of what an event takes, and most need none.
    match call.event {
        Event::TurnComplete | Event::SessionMeasure | Event::EffectSettled => {
            format!("{:016x}", call.world.secret())
        }
        _ => String::new(),
    }
}

fn choose_paragraph(call: &mut Call<'_>) -> usize {
    if !matches!(call.event, Event::SessionCompact) {
        return 0;
    }
    let config = call.config;
    config
        .texts
        .choose("forced_reset", config.language.as_deref(), call.world.rng())
}

/// What the courier has to watch for, in this state.
///
/// A plan may be asked for before the session's start was heard: its marks are watched all the same, since the event
/// that crosses one binds the session.
pub(super) fn watch(config: &Config, facts: &Facts, state: &machine::State) -> Watch {
    let told = Told::of(config, facts);
    let ctx = told.ctx(facts, "", 0);
    match &facts.session_id {
        Some(session_id) if state.needs_binding(Some(session_id)) => {
            let window = machine::Window::new(WindowId::new(session_id, 0));
            let state = machine::State {
                window: Some(window),
                ..machine::State::default()
            };
            machine::watch(&state, &ctx)
        }
        _ => machine::watch(state, &ctx),
    }
}

/// How the marks come about in this session.
pub(super) fn derivation(config: &Config, facts: &Facts) -> Derivation {
    let environment = Environment::from_lookup(|name| std::env::var(name).ok());
    derive(
        facts.usage.as_ref(),
        &facts.settings,
        &environment,
        &config.window,
        facts.model.as_deref(),
    )
}

/// What the machine is told beside an event, apart from what the facts hold as they are.
struct Told {
    marks: MarksNow,
    fill: Option<f64>,
    switches: Switches,
    min_turns: u64,
    compact_disabled: bool,
}

impl Told {
    fn of(config: &Config, facts: &Facts) -> Self {
        let derivation = derivation(config, facts);
        let marks = match (&facts.usage, derivation.marks) {
            (None, _) => MarksNow::NotAsked,
            (Some(_), None) => MarksNow::Absent,
            (Some(_), Some(marks)) => MarksNow::Are(marks),
        };
        let fill = facts
            .usage
            .as_ref()
            .zip(derivation.marks)
            .and_then(|(usage, marks)| marks.fill(usage));
        Self {
            marks,
            fill,
            switches: switches(config),
            min_turns: config.window.min_turns_between_resets,
            compact_disabled: is_compact_disabled(),
        }
    }

    fn ctx<'a>(&self, facts: &'a Facts, nonce: &'a str, choice: usize) -> Ctx<'a> {
        Ctx {
            marks: self.marks,
            fill: self.fill,
            switches: self.switches,
            min_turns: self.min_turns,
            completed_turns: facts.turn.completed,
            turn_running: facts.turn.running,
            turn_id: facts.turn.id.as_deref(),
            headless: facts.headless,
            compact_disabled: self.compact_disabled,
            is_subagent: facts.agent_id.is_some(),
            session_id: facts.session_id.as_deref(),
            nonce,
            choice,
        }
    }
}

/// What the live rows want of the window. Vetoes are rows of their own, so the machine makes none for the profile.
pub(super) fn switches(config: &Config) -> Switches {
    let runs = |handler: &str| config.hooks.values().any(|row| row.enabled && row.run == handler);
    Switches {
        boot: runs("boot"),
        warning: runs("warning"),
        close_out: runs("close-out"),
        reset: runs("reset"),
        veto_manual: false,
        veto_precompute: false,
    }
}

fn carry_out(call: &mut Call<'_>, outputs: Vec<Output>) -> Result<Option<Answer>, Failure> {
    let mut answer = None;
    for output in outputs {
        match output {
            Output::Boot {
                window,
                previous,
                paragraph,
            } => match boot::text(call, &window, previous.as_ref()) {
                Ok(text) => {
                    let mut texts = vec![text];
                    texts.extend(paragraph.map(|choice| forced_reset(call.config, &window, previous.as_ref(), choice)));
                    answer = Some(context(call.event, texts));
                }
                Err(Failure(reason)) => {
                    let outputs = step(call, &Input::BootFailed { reason });
                    answer = carry_out(call, outputs)?.or(answer);
                }
            },
            Output::Warn { window } => answer = Some(add(answer, warning(call, &window))),
            Output::CloseOut { window, by } => answer = Some(add(answer, close_out(call, &window, by))),
            Output::Compact { id } => call.effects.push(Effect::Compact { id }),
            Output::CompactByCommand { id, args } => {
                call.effects.push(Effect::RunCommand {
                    id,
                    command: "compact".to_owned(),
                    args,
                });
            }
            Output::SubmitCloseOut { id } => {
                let Some(window) = call.state.machine.window_id().cloned() else {
                    continue;
                };
                let text = close_out(call, &window, Requester::Person);
                let delay_ms = call.config.window.close_out_delay_ms;
                call.effects.push(Effect::SubmitPrompt { id, text, delay_ms });
            }
            Output::AnswerReset {
                window,
                is_automatic,
                turn_is_open,
                ..
            } => {
                // The boot follows by its own carrier; that it can be built is seen before anything is given up.
                let previous = window.previous();
                match boot::text(call, &window, previous.as_ref()) {
                    Ok(_) => answer = Some(super::reset::answer(call, &window, turn_is_open, is_automatic)?),
                    Err(Failure(reason)) => {
                        let outputs = step(call, &Input::ResetUnbuildable { reason });
                        answer = carry_out(call, outputs)?.or(answer);
                    }
                }
            }
            Output::Veto(line) => {
                answer = Some(Answer::Skip {
                    reason: line.to_string(),
                });
            }
            Output::Pass => answer = Some(Answer::Next { instructions: None }),
            Output::NotOurs => {}
            Output::Say(line) => call.say(line.to_string()),
            Output::CommandLines(lines) => {
                answer = Some(Answer::Lines {
                    lines: lines.iter().map(ToString::to_string).collect(),
                });
            }
            Output::ToolAnswer { line, is_error } => {
                answer = Some(Answer::Tool {
                    text: line.to_string(),
                    is_error,
                });
            }
        }
    }
    Ok(answer)
}

/// Text for the model, by the way that the event has.
fn context(event: Event, texts: Vec<String>) -> Answer {
    if event != Event::PromptContext {
        return Answer::Context { texts };
    }
    let name = |at: usize| if at == 0 { "notesoup:boot" } else { "notesoup:reset" };
    let blocks = texts.into_iter().enumerate().map(|(at, text)| Block {
        name: name(at).to_owned(),
        text,
    });
    Answer::Blocks {
        blocks: blocks.collect(),
    }
}

fn add(answer: Option<Answer>, text: String) -> Answer {
    match answer {
        Some(Answer::Context { mut texts }) => {
            texts.push(text);
            Answer::Context { texts }
        }
        _ => Answer::Context { texts: vec![text] },
    }
}

fn forced_reset(config: &Config, window: &WindowId, previous: Option<&WindowId>, choice: usize) -> String {
    let (window, previous) = (
        window.to_string(),
        previous.map(ToString::to_string).unwrap_or_default(),
    );
    let values = [
        ("window_id", window.as_str()),
        ("previous_window_id", previous.as_str()),
    ];
    config
        .texts
        .fill_choice("forced_reset", config.language.as_deref(), choice, &values)
}

fn warning(call: &Call<'_>, window: &WindowId) -> String {
    let told = Told::of(call.config, call.facts);
    let reset_at = marks_of(&told)
        .map(|marks| figure(marks.reset_at, marks.unit))
        .unwrap_or_default();
    let closing = call.text("closing_warning", &[("reset_at", &reset_at)]);
    framed(call, "warning", window, &fill_line(call, &told), &closing)
}

fn close_out(call: &Call<'_>, window: &WindowId, by: Requester) -> String {
    let told = Told::of(call.config, call.facts);
    let fill = match by {
        Requester::Mark => fill_line(call, &told),
        Requester::Person | Requester::Model => call.text("fill_asked", &[]),
    };
    let closing = call.text("closing_closeout", &[]);
    framed(call, "closeout", window, &fill, &closing)
}

fn framed(call: &Call<'_>, frame: &str, window: &WindowId, fill: &str, closing: &str) -> String {
    let shared = call.text("warning_shared", &[("fill", fill), ("closing", closing)]);
    call.text(frame, &[("window_id", &window.to_string()), ("shared", &shared)])
}

fn fill_line(call: &Call<'_>, told: &Told) -> String {
    let (Some(fill), Some(marks)) = (told.fill, marks_of(told)) else {
        return call.text("fill_asked", &[]);
    };
    let tokens = figure(fill, marks.unit);
    let reset_at = figure(marks.reset_at, marks.unit);
    if fill >= marks.reset_at {
        return call.text("fill_reached", &[("tokens", &tokens), ("reset_at", &reset_at)]);
    }
    let until_reset = figure(marks.reset_at - fill, marks.unit);
    call.text(
        "fill_before",
        &[
            ("tokens", &tokens),
            ("reset_at", &reset_at),
            ("until_reset", &until_reset),
        ],
    )
}

fn marks_of(told: &Told) -> Option<Marks> {
    match told.marks {
        MarksNow::Are(marks) => Some(marks),
        MarksNow::NotAsked | MarksNow::Absent => None,
    }
}

/// A figure for people and models: `958,808`, or `81.2 %` where only percents are known.
pub(super) fn figure(value: f64, unit: Unit) -> String {
    if unit == Unit::Percent {
        return format!("{value:.1} %");
    }
    let digits = format!("{:.0}", value.max(0.0));
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The client's own variables; the client starts this program in its own environment.
pub(super) fn environment() -> Environment {
    Environment::from_lookup(|name| std::env::var(name).ok())
}

/// Whether compaction is switched off for this process altogether.
pub(super) fn is_compact_disabled() -> bool {
    environment().is_compact_disabled()
}

/// The context's fill in tokens, where the client gives it.
pub(super) fn tokens(facts: &Facts) -> Option<u64> {
    facts.usage.as_ref()?.tokens.as_ref()?.as_u64()
}

/// The transcript of the session, when the client has named one.
pub(super) fn transcript_path(facts: &Facts) -> Option<&Path> {
    facts
        .transcript_path
        .as_deref()
        .filter(|path| !path.is_empty())
        .map(Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_by_thousands() {
        assert_eq!(figure(958_808.0, Unit::Tokens), "958,808");
        assert_eq!(figure(12.0, Unit::Tokens), "12");
        assert_eq!(figure(1000.4, Unit::Tokens), "1,000");
        assert_eq!(figure(81.25, Unit::Percent), "81.2 %");
    }
}
