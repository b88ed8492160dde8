//! The client of a replay: raises the events that the recorded rows tell of, and does what the table answers.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::paper::{self, Paper, text_of};
use super::story::{Beat, Compacted, What};
use super::{Happened, Moment, Point, Replay, ReplayInput, rows};
use crate::handlers::{SessionState, Trial, Verdict, World, plan, trial};
use crate::history::Conversation;
use crate::prune::{Calibration, Entry, Head, PreviewInput, ReadRows, Report, preview_with_calibration, short};
use crate::window::machine::{CLOSE_OUT_TAG, WARNING_TAG};
use crate::window::reset_point::{Derivation, Environment, derive};
use crate::wire::{Answer, Effect, Event, EventPlan, Facts, Plan, Request, Usage, VERSION, Wake, Watch};

/// Tokens of a code point before the conversation itself says.
const TOKENS_PER_CHAR: f64 = 1.0 / 3.5;
/// What the client's own summary is taken to need, in tokens, where none was recorded in its place.
const SUMMARY_TOKENS: u64 = 5_000;

pub(super) struct Stage<'a> {
    input: ReplayInput<'a>,
    /// Removed with the stage.
    _folder: tempfile::TempDir,
    paper: Paper,
    world: World,
    facts: Facts,
    state: Option<String>,
    plan: Plan,
    watch: Watch,
    window: u64,
    /// Tokens in the replay's window, by what is known.
    fill: u64,
    /// The last figure of the recorded window; none behind its compaction.
    recorded: Option<u64>,
    /// Where both windows begin alike (at the start, behind the client's summary): what was assumed for that beginning.
    /// The next figure of the recorded window then counts for both, but for texts of ours.
    alike: Option<u64>,
    tokens_per_char: f64,
    open_calls: Vec<String>,
    is_refused: bool,
    turn: u64,
    time: Option<String>,
    seq: Option<u64>,
    replay: Replay,
}

/// What came of a compaction.
enum Outcome {
    Stood,
    Refused(String),
}

impl<'a> Stage<'a> {
    pub(super) fn new(input: &ReplayInput<'a>, conversation: &Conversation, window: u64) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("conversation.jsonl");
        let session_id = conversation.session_id().to_owned();
        // A boot is built from the person's real notes, which reading does not change. Chance is always the same.
        let mut world = World::alone_in(folder.path()).seeded(0);
        world.user_file.clone_from(&input.world.user_file);
        world.config_file.clone_from(&input.world.config_file);
        world.notes_home = input.world.notes_root(&input.config.notes, &[]);
        let mut facts = input.facts.clone();
        facts.session_id = Some(session_id.clone());
        facts.transcript_path = Some(path.to_string_lossy().into_owned());
        Ok(Self {
            input: *input,
            paper: Paper::new(&path, &session_id)?,
            _folder: folder,
            world,
            facts,
            state: None,
            plan: Plan::default(),
            watch: Watch::default(),
            window,
            fill: 0,
            recorded: None,
            alike: Some(0),
            tokens_per_char: TOKENS_PER_CHAR,
            open_calls: Vec::new(),
            is_refused: false,
            turn: 0,
            time: None,
            seq: None,
            replay: Replay {
                transcript: input.transcript.to_owned(),
                session_id,
                model: None,
                window,
                window_is_assumed: input.window.is_none(),
                profile: input.config.profile.clone(),
                marks: None,
                turns: 0,
                windows_recorded: 1,
                windows_replayed: 1,
                input_recorded: 0,
                input_replayed: 0,
                moments: Vec::new(),
                rows: rows(input.config),
                fill: Vec::new(),
                remarks: Vec::new(),
            },
        })
    }

    /// The session starts.
    pub(super) fn begin(&mut self, beats: &[Beat]) -> io::Result<()> {
        self.facts.model = beats.iter().find_map(|beat| match &beat.what {
            What::Response { model, .. } => model.clone(),
            _ => None,
        });
        self.time = beats.iter().find_map(|beat| beat.time.clone());
        self.measure(None);
        self.ask_for_the_plan();
        self.start("startup")
    }

    /// The next row.
    pub(super) fn play(&mut self, beat: &Beat, raw: &[u8]) -> io::Result<()> {
        let is_response = matches!(beat.what, What::Response { .. });
        if is_response && !self.facts.turn.running {
            // A turn that no row of a prompt begins: a skill's, or one that was asked for by a program.
            self.prompt()?;
        }
        if beat.time.is_some() {
            self.time.clone_from(&beat.time);
        }
        match &beat.what {
            What::Prompt => {
                // Typed ahead, it joins the turn that runs.
                if self.open_calls.is_empty() {
                    self.end_turn("answer")?;
                }
                self.paper.copy(raw)?;
                self.seq = beat.seq.or(self.seq);
                self.prompt()?;
            }
            What::Interrupted => {
                self.paper.copy(raw)?;
                self.end_turn("aborted")?;
            }
            What::Response {
                first,
                tokens,
                model,
                calls,
            } => {
                if *first {
                    self.respond(*tokens, model.as_ref());
                }
                self.paper.copy(raw)?;
                self.seq = beat.seq.or(self.seq);
                self.open_calls.extend(calls.iter().cloned());
            }
            What::Results(ids) => {
                self.paper.copy(raw)?;
                self.seq = beat.seq.or(self.seq);
                let waits = !self.open_calls.is_empty();
                self.open_calls.retain(|call| !ids.contains(call));
                if waits && self.open_calls.is_empty() {
                    self.batch(ids)?;
                }
            }
            What::Compacted(by) => self.compacted(by)?,
            What::Replaced { chars } => self.fill = self.fill.saturating_sub(self.tokens(*chars)),
            What::Beside => self.paper.copy(raw)?,
        }
        Ok(())
    }

    /// What came of it, when the last row was played.
    pub(super) fn end(mut self, head_is_given: bool, most: u64) -> io::Result<Replay> {
        if self.open_calls.is_empty() {
            self.end_turn("answer")?;
        }
        let derivation = self.derivation();
        let mut replay = self.replay;
        replay.model = self.facts.model;
        replay.marks = derivation.marks;
        replay.turns = self.facts.turn.completed;
        let mut remarks: Vec<String> = derivation.notices.into_iter().map(|notice| notice.text).collect();
        if replay.window_is_assumed {
            remarks.push(format!(
                "The transcript does not say how large the window was: {} is assumed, as no request had more than {} tokens; --window names another.",
                short(self.window),
                short(most)
            ));
        }
        if !head_is_given {
            remarks.push(
                "The last row of the file is taken for the end of the conversation; --head UUID names another."
                    .to_owned(),
            );
        }
        remarks.append(&mut replay.remarks);
        replay.remarks = remarks;
        Ok(replay)
    }

    // What the client does.

    fn start(&mut self, source: &str) -> io::Result<()> {
        let raised = self.raise(Event::ClassicSessionStart, &json!({ "source": source }))?;
        self.hear(Event::ClassicSessionStart, &raised)
    }

    fn prompt(&mut self) -> io::Result<()> {
        self.is_refused = false;
        self.turn += 1;
        let id = format!("turn-{}", self.turn);
        let raised = self.raise(Event::ClassicUserPromptSubmit, &json!({ "prompt": "" }))?;
        self.hear(Event::ClassicUserPromptSubmit, &raised)?;
        self.facts.turn.running = true;
        self.facts.turn.id = Some(id.clone());
        self.raise(Event::TurnStart, &json!({ "turnId": id, "text": "" }))?;
        self.compact_when_full()
    }

    fn respond(&mut self, tokens: Option<u64>, model: Option<&String>) {
        if model.is_some() && model != self.facts.model.as_ref() {
            self.facts.model = model.cloned();
            self.ask_for_the_plan();
        }
        let Some(tokens) = tokens else { return };
        if let Some(before) = self.recorded.or(self.alike) {
            self.fill = self.fill.saturating_add(tokens).saturating_sub(before);
        }
        self.recorded = Some(tokens);
        self.replay.input_recorded = self.replay.input_recorded.saturating_add(tokens);
        self.replay.input_replayed = self.replay.input_replayed.saturating_add(self.fill);
        self.replay.fill.push(Point {
            recorded: tokens,
            replayed: self.fill,
        });
        self.measure(Some(self.fill));
    }

    fn batch(&mut self, ids: &[String]) -> io::Result<()> {
        let calls: Vec<Value> = ids.iter().map(|id| json!({ "tool_use_id": id })).collect();
        let raised = self.raise(Event::ClassicPostToolBatch, &json!({ "tool_calls": calls }))?;
        self.hear(Event::ClassicPostToolBatch, &raised)?;
        self.compact_when_full()
    }

    fn end_turn(&mut self, reason: &str) -> io::Result<()> {
        self.open_calls.clear();
        if !self.facts.turn.running {
            return Ok(());
        }
        if reason == "answer" {
            let raised = self.raise(Event::ClassicStop, &json!({ "stop_hook_active": false }))?;
            self.hear(Event::ClassicStop, &raised)?;
            self.facts.turn.completed += 1;
        }
        self.facts.turn.running = false;
        let id = self.facts.turn.id.clone();
        let raised = self.raise(Event::TurnComplete, &json!({ "turnId": id, "reason": reason }))?;
        self.act(raised.effects())?;
        let raised = self.raise(Event::SessionMeasure, &json!({}))?;
        self.act(raised.effects())
    }

    fn act(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            let (id, name, outcome) = match effect {
                Effect::Compact { id } => {
                    self.facts.origin_plugin = Some("notesoup".to_owned());
                    let outcome = self.compact("plugin", None)?;
                    (id, "compact", outcome)
                }
                Effect::RunCommand { id, args, .. } => (id, "run_command", self.compact("manual", Some(&args))?),
                Effect::Log { .. } | Effect::Status { .. } | Effect::SubmitPrompt { .. } | Effect::RefreshPlan => {
                    continue;
                }
            };
            self.facts.origin_plugin = None;
            let (ok, skip) = match outcome {
                Outcome::Stood => (true, None),
                Outcome::Refused(reason) => (false, Some(reason)),
            };
            let settled = json!({ "id": id, "effect": name, "ok": ok, "skip": skip });
            self.raise(Event::EffectSettled, &settled)?;
        }
        Ok(())
    }

    /// The client's own compaction: on a prompt, or between two requests of a turn.
    fn compact_when_full(&mut self) -> io::Result<()> {
        let derivation = self.derivation();
        let is_full = derivation.figures.auto_compact
            && derivation
                .marks
                .zip(self.facts.usage.as_ref())
                .is_some_and(|(marks, usage)| marks.fill(usage).is_some_and(|fill| fill >= marks.point));
        if is_full && !self.is_refused {
            self.compact("auto", None)?;
        }
        Ok(())
    }

    /// A compaction of the recorded conversation. One by hand comes here too; the client's own come when this window is
    /// full, and resets when the table says so.
    fn compacted(&mut self, by: &Compacted) -> io::Result<()> {
        let is_same = self.replay.windows_recorded == self.replay.windows_replayed;
        self.replay.windows_recorded += 1;
        let before = self.recorded.take();
        // A window that was reset meanwhile is not the one that was full.
        let is_as_full = before.is_some_and(|before| self.fill.saturating_mul(10) >= before.saturating_mul(9));
        self.alike = None;
        match by {
            Compacted::Typed(text) => {
                if self.open_calls.is_empty() {
                    self.end_turn("answer")?;
                }
                self.compact("manual", text.as_deref())?;
            }
            Compacted::Auto if is_same && is_as_full => {
                if let Some(marks) = self.derivation().marks {
                    self.replay.remarks.push(format!(
                        "The client compacted by itself at {} tokens, below the {:.0} where it is expected in a window of {}; --window, or the variables it ran with, may say why.",
                        self.fill, marks.point, self.window
                    ));
                }
                self.compact("auto", None)?;
            }
            Compacted::Auto | Compacted::Plugin => {}
        }
        Ok(())
    }

    fn compact(&mut self, trigger: &str, instructions: Option<&str>) -> io::Result<Outcome> {
        self.paper.settle()?;
        let read = ReadRows {
            path: self.paper.path(),
            head: Head::Last,
            handles: &[],
            entries: true,
            wait: Duration::ZERO,
        };
        let Ok(mut read) = read.read() else {
            return Ok(Outcome::Refused("the window is empty".to_owned()));
        };
        let entries: Vec<Entry<'static>> = read.window.iter_mut().filter_map(|row| row.entry.take()).collect();
        let cut = self.preview();
        if let Some((_, calibration)) = &cut {
            self.tokens_per_char = calibration.tokens_per_char;
        }
        let before = self.fill;
        let e = json!({ "trigger": trigger, "instructions": instructions, "messages": paper::messages(&entries) });
        let raised = self.raise(Event::SessionCompact, &e)?;
        let run = raised.run();
        let (what, after) = match raised.answer() {
            Some(Answer::Skip { reason }) => {
                self.is_refused = true;
                self.happened(Happened::Refused, Event::SessionCompact, raised.row())
                    .line = Some(reason.clone());
                return Ok(Outcome::Refused(reason.clone()));
            }
            Some(Answer::Messages {
                messages, tokens_after, ..
            }) => {
                self.paper.boundary(trigger)?;
                self.paper.messages(messages, &entries)?;
                let chars: usize = messages
                    .iter()
                    .map(|spec| text_of(spec, &entries).chars().count())
                    .sum();
                let fixed = cut.as_ref().map_or(0, |(_, calibration)| calibration.fixed);
                let after = tokens_after.unwrap_or_else(|| fixed + self.tokens(chars));
                let what = if run == "reset" { Happened::Reset } else { Happened::Cut };
                (what, after)
            }
            _ => {
                self.paper.boundary(trigger)?;
                self.paper.summary()?;
                let fixed = cut.as_ref().map_or(0, |(_, calibration)| calibration.fixed);
                let after = fixed + SUMMARY_TOKENS;
                match self.recorded {
                    Some(_) => self.assume_a_summary(),
                    None => self.alike = Some(after),
                }
                (Happened::Summary, after)
            }
        };
        let moment = self.happened(what, Event::SessionCompact, raised.row());
        moment.tokens = before;
        let cut = cut.filter(|_| what != Happened::Cut);
        moment.cut_would_leave = cut.map(|(report, _)| report.tokens_after);
        let at = self.replay.moments.len() - 1;
        self.replay.windows_replayed += 1;
        self.fill = after;
        self.measure(None);
        self.start("compact")?;
        if let Some(moment) = self.replay.moments.get_mut(at) {
            moment.tokens_after = Some(self.fill);
        }
        Ok(Outcome::Stood)
    }

    fn assume_a_summary(&mut self) {
        let remark = format!("The client's own summary is taken to need {SUMMARY_TOKENS} tokens.");
        if !self.replay.remarks.contains(&remark) {
            self.replay.remarks.push(remark);
        }
    }

    /// What `/compact prune` would do now.
    fn preview(&self) -> Option<(Report, Calibration)> {
        let input = PreviewInput {
            transcript: self.paper.path(),
            head: None,
            options: &self.input.config.prune,
            cwd: None,
            tokens: Some(self.fill),
            target: None,
            seq: &|_| None,
        };
        preview_with_calibration(&input).ok()
    }

    // What the courier does.

    fn ask_for_the_plan(&mut self) {
        let state = self.state.as_deref().and_then(|state| serde_json::from_str(state).ok());
        self.plan = plan(&self.facts, &SessionState::parse(state), None, &mut self.world);
        self.watch = self.plan.watch;
    }

    /// Raises an event; where nothing wakes the program, no row is asked.
    fn raise(&mut self, event: Event, e: &Value) -> io::Result<Raised> {
        for row in self.replay.rows.iter_mut().filter(|row| row.event == event.name()) {
            row.came += 1;
        }
        let planned = self.plan.events.get(event.name());
        if !planned.is_some_and(|planned| self.wakes(planned)) {
            return Ok(Raised::default());
        }
        self.world.now = self
            .time
            .as_deref()
            .and_then(|time| time.parse().ok())
            .unwrap_or(self.world.now);
        let raw = e.to_string();
        let request = Request {
            v: VERSION,
            event: event.name().into(),
            e: Some(serde_json::from_str(&raw)?),
            facts: self.facts.clone(),
            state: self.state.as_deref().map(serde_json::from_str).transpose()?,
        };
        let trial = trial(&request, &mut self.world).map_err(io::Error::other)?;
        if let Some(state) = &trial.reply.state {
            self.state = Some(state.to_string());
        }
        if let Some(watch) = trial.reply.watch {
            self.watch = watch;
        }
        self.count(event, &trial);
        // A compaction that stands is told as what it is.
        let is_told = matches!(trial.reply.answer, Some(Answer::Messages { .. }));
        for effect in trial.reply.effects.iter().filter(|_| !is_told) {
            if let Effect::Log { text } = effect {
                self.happened(Happened::Note, event, trial.reply.row.clone()).line = Some(text.clone());
            }
        }
        Ok(Raised(Some(trial)))
    }

    fn wakes(&self, planned: &EventPlan) -> bool {
        let fill = self
            .facts
            .usage
            .as_ref()
            .and_then(|usage| usage.tokens.as_ref()?.as_f64());
        let reached = |mark: Option<f64>| mark.zip(fill).is_some_and(|(mark, fill)| fill >= mark);
        planned.wake.iter().any(|wake| match wake {
            Wake::Always => true,
            Wake::WarnMark => reached(self.watch.warn_at),
            Wake::ResetMark => reached(self.watch.reset_at),
            // A recorded conversation is read along its one branch.
            Wake::Rewound => false,
            Wake::Pending => self.watch.pending,
        })
    }

    fn count(&mut self, event: Event, trial: &Trial) {
        let rows = &mut self.replay.rows;
        for tried in &trial.rows {
            let Some(row) = rows
                .iter_mut()
                .find(|row| row.id == tried.id && row.event == event.name())
            else {
                continue;
            };
            let is_asked = !matches!(tried.verdict, Verdict::Mismatch { .. } | Verdict::NotReached);
            row.asked += usize::from(is_asked);
            row.did += usize::from(is_asked && trial.reply.row.as_deref() == Some(tried.id.as_str()));
        }
    }

    fn measure(&mut self, tokens: Option<u64>) {
        self.facts.usage = Some(Usage {
            tokens: tokens.map(|tokens| json!(tokens)),
            window: Some(json!(self.window)),
            percent: tokens.map(|tokens| json!(tokens as f64 * 100.0 / self.window as f64)),
            ..Usage::default()
        });
    }

    fn derivation(&self) -> Derivation {
        derive(
            self.facts.usage.as_ref(),
            &self.facts.settings,
            &Environment::from_lookup(|name| std::env::var(name).ok()),
            &self.input.config.window,
            self.facts.model.as_deref(),
        )
    }

    /// Text of ours reaches the model: a boot, a warning, a close-out.
    fn hear(&mut self, event: Event, raised: &Raised) -> io::Result<()> {
        let Some(Answer::Context { texts }) = raised.answer() else {
            return Ok(());
        };
        let holds = |tag: &str| texts.iter().any(|text| text.contains(tag));
        if holds(WARNING_TAG) {
            self.happened(Happened::Warning, event, raised.row());
        } else if holds(CLOSE_OUT_TAG) {
            self.happened(Happened::CloseOut, event, raised.row());
        }
        self.paper.context(texts)?;
        let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
        self.fill = self.fill.saturating_add(self.tokens(chars));
        Ok(())
    }

    fn tokens(&self, chars: usize) -> u64 {
        (chars as f64 * self.tokens_per_char).round() as u64
    }

    fn happened(&mut self, what: Happened, event: Event, row: Option<String>) -> &mut Moment {
        let moment = Moment {
            what,
            event: event.name(),
            row,
            turn: self.turn,
            response: self.replay.fill.len(),
            seq: self.seq,
            time: self.time.clone(),
            tokens: self.fill,
            tokens_after: None,
            cut_would_leave: None,
            line: None,
        };
        self.replay.moments.push(moment);
        let last = self.replay.moments.len() - 1;
        &mut self.replay.moments[last]
    }
}

/// What an event came to; nothing where no row was asked.
#[derive(Default)]
struct Raised(Option<Trial>);

impl Raised {
    fn row(&self) -> Option<String> {
        self.0.as_ref()?.reply.row.clone()
    }

    /// The handler that answered.
    fn run(&self) -> String {
        let run = || {
            let trial = self.0.as_ref()?;
            let of = |tried: &&crate::handlers::Tried| trial.reply.row.as_deref() == Some(tried.id.as_str());
            Some(trial.rows.iter().find(of)?.row.run.clone())
        };
        run().unwrap_or_default()
    }

    fn answer(&self) -> Option<&Answer> {
        self.0.as_ref()?.reply.answer.as_ref()
    }

    fn effects(self) -> Vec<Effect> {
        self.0.map(|trial| trial.reply.effects).unwrap_or_default()
    }
}
