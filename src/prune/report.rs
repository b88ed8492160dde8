//! What a cut does or would do, as data: the same report for the live preview, a terminal, and programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::cut::one_line;
use super::estimate::Calibration;
use super::event::Entry;
use super::plan::{Part, Plan, PlanContext, Reason};
use super::protect::Why;
use super::rows::{Branch, Media};
use super::thread::{LeftOut, Message, Restored, Thread, Words};

/// How many of the largest cuts a report names.
const LARGEST: usize = 10;
/// How many examples a protected group names.
const EXAMPLES: usize = 3;

/// What would come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is worth it.
    Cut,
    /// It would save something, but less than the least share.
    TooLittle,
    /// Nothing can be cut.
    Nothing,
    /// The context is at or under the target already.
    UnderTarget,
}

/// A target and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Target {
    /// The tokens asked for.
    pub tokens: u64,
    /// Whether the estimate meets it.
    pub met: bool,
    /// What the context consists of after the cut, the largest first: tokens by what they are.
    pub rest: Vec<Share>,
}

/// A part of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// What it is.
    pub what: String,
    /// Its tokens.
    pub tokens: u64,
}

/// The figures of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolFigures {
    /// The tool.
    pub tool: String,
    /// Its calls.
    pub calls: usize,
    /// Parts of them that are cut.
    pub cut: usize,
    /// Tokens of its outputs, and of the arguments that may shrink, before.
    pub tokens_before: u64,
    /// The same after.
    pub tokens_after: u64,
}

/// One cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CutFigures {
    /// The tool.
    pub tool: String,
    /// The file or command, on one line.
    pub target: String,
    /// Which part.
    pub part: Part,
    /// The call's id: `history_read` gives the whole with it.
    pub tool_use_id: String,
    /// Its address in history, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Why.
    pub why: Reason,
    /// Code points before.
    pub chars_before: usize,
    /// Code points after.
    pub chars_after: usize,
    /// Tokens that it saves.
    pub tokens_saved: u64,
}

/// Calls that are protected for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProtectedFigures {
    /// The reason.
    pub why: Why,
    /// How many parts.
    pub count: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The largest, each as tool and target.
    pub examples: Vec<String>,
}

/// How many parts stay for the other reasons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kept {
    /// In the first or the newest messages.
    pub pinned: usize,
    /// Short enough.
    pub short: usize,
    /// Cut before.
    pub already_cut: usize,
    /// Not needed for the target.
    pub not_needed: usize,
    /// Without room in the answer.
    pub no_room: usize,
}

/// What a cut does or would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// What would come of it.
    pub verdict: Verdict,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: u64,
    /// The share that is saved, in percent.
    pub saved_percent: f64,
    /// The least share for which a cut is done, in percent.
    pub min_saving_percent: u32,
    /// False: tokens are an estimate, since the session's usage says nothing yet.
    pub measured: bool,
    /// Tokens of system prompt, tools, instructions and media, which no cut changes.
    pub tokens_fixed: u64,
    /// Tokens behind the first changed message, written to the cache again at its price.
    pub tokens_cached_again: u64,
    /// Messages of the conversation, responses and results counted one each.
    pub messages: usize,
    /// How many parts are cut.
    pub cuts: usize,
    /// By tool, the largest saving first.
    pub tools: Vec<ToolFigures>,
    /// The largest cuts, the largest first.
    pub largest: Vec<CutFigures>,
    /// What is protected, the largest first.
    pub protected: Vec<ProtectedFigures>,
    /// What stays for other reasons.
    pub kept: Kept,
    /// What a rebuilt conversation cannot carry.
    pub media: Media,
    /// What is not handed back.
    pub left_out: LeftOut,
    /// What comes from the transcript's rows.
    pub restored: Restored,
    /// Rows of those that had to be shortened.
    pub shortened: usize,
    /// The target, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// What of the settings could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// What the reader should know of how this came about, e.g. that the end of the branch was assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What a report is made from.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// The event's entries.
    pub entries: &'a [Entry<'a>],
    /// The rows beside them.
    pub branch: &'a Branch,
    /// The regrouped conversation.
    pub thread: &'a Thread,
    /// The plan.
    pub plan: &'a Plan,
    /// What the plan was made from.
    pub context: &'a PlanContext<'a>,
    /// Tokens for code points.
    pub calibration: &'a Calibration,
    /// The target, where one was given.
    pub target: Option<u64>,
}

impl Report {
    /// Makes the report.
    pub fn new(material: &Material<'_>) -> Self {
        let Material { plan, calibration, .. } = *material;
        let saved: usize = plan.items.iter().map(super::plan::Item::saved).sum();
        let cuts = plan.items.iter().filter(|item| item.is_cut()).count();
        let (before, after) = (calibration.before, calibration.after(saved));
        let saved_percent = if before == 0 {
            0.0
        } else {
            // One decimal, so that a report reads the same wherever it is printed.
            ((before - after) as f64 / before as f64 * 1_000.0).round() / 10.0
        };
        let least = material.context.options.min_saving_percent;
        let verdict = match material.target {
            Some(target) if before <= target => Verdict::UnderTarget,
            _ if cuts == 0 => Verdict::Nothing,
            None if saved_percent < f64::from(least) => Verdict::TooLittle,
            _ => Verdict::Cut,
        };
        Self {
            verdict,
            tokens_before: before,
            tokens_after: after,
            saved_percent,
            min_saving_percent: least,
            measured: calibration.measured,
            tokens_fixed: calibration.fixed,
            tokens_cached_again: if cuts == 0 { 0 } else { cached_again(material) },
            messages: material.thread.messages.len(),
            cuts,
            tools: tools(material),
            largest: largest(material),
            protected: protected(material),
            kept: kept(plan),
            media: material.branch.media,
            left_out: material.thread.left_out,
            restored: material.thread.restored,
            shortened: material.thread.shortened,
            target: material.target.map(|tokens| Target {
                tokens,
                met: after <= tokens,
                rest: rest(material),
            }),
            faults: plan.faults.clone(),
            remarks: Vec::new(),
        }
    }
}

/// Tool and target of a call, the target on one line.
fn name(material: &Material<'_>, call: usize) -> (String, String) {
    let (of, at) = material.thread.calls[call].call;
    let call = &material.entries[of].tool_uses[at];
    let arguments = call.input.as_deref().map(Arguments::new).unwrap_or_default();
    (call.tool.as_str().to_owned(), one_line(&arguments.target, 120))
}

fn tools(material: &Material<'_>) -> Vec<ToolFigures> {
    let mut tools: BTreeMap<String, (ToolFigures, usize, usize)> = BTreeMap::new();
    for item in &material.plan.items {
        let (of, at) = material.thread.calls[item.call].call;
        let tool = material.entries[of].tool_uses[at].tool.as_str();
        let (figures, before, after) = tools.entry(tool.to_owned()).or_default();
        figures.calls += usize::from(item.part == Part::Result);
        figures.cut += usize::from(item.is_cut());
        *before += item.before;
        *after += item.after;
    }
    let mut tools: Vec<_> = tools
        .into_iter()
        .map(|(tool, (figures, before, after))| ToolFigures {
            tool,
            tokens_before: material.calibration.tokens(before),
            tokens_after: material.calibration.tokens(after),
            ..figures
        })
        .collect();
    tools.sort_by_key(|tool| std::cmp::Reverse((tool.tokens_before - tool.tokens_after, tool.tokens_before)));
    tools
}

fn largest(material: &Material<'_>) -> Vec<CutFigures> {
    let mut cuts: Vec<_> = material.plan.items.iter().filter(|item| item.is_cut()).collect();
    cuts.sort_by_key(|item| std::cmp::Reverse(item.saved()));
    cuts.truncate(LARGEST);
    cuts.into_iter()
        .map(|item| {
            let (tool, target) = name(material, item.call);
            let (of, at) = material.thread.calls[item.call].call;
            let id = material.entries[of].tool_uses[at].id.as_str();
            CutFigures {
                tool,
                target,
                part: item.part,
                tool_use_id: id.to_owned(),
                seq: (material.context.seq)(id),
                why: item.reason,
                chars_before: item.before,
                chars_after: item.after,
                tokens_saved: material.calibration.tokens(item.saved()),
            }
        })
        .collect()
}

fn protected(material: &Material<'_>) -> Vec<ProtectedFigures> {
    let mut groups: BTreeMap<Why, Vec<(usize, usize)>> = BTreeMap::new();
    for item in &material.plan.items {
        if let Reason::Protected(why) = item.reason {
            groups.entry(why).or_default().push((item.before, item.call));
        }
    }
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|(why, mut items)| {
            items.sort_by_key(|(chars, call)| (std::cmp::Reverse(*chars), *call));
            let examples = items.iter().take(EXAMPLES).map(|(_, call)| {
                let (tool, target) = name(material, *call);
                format!("{tool} {target}").trim_end().to_owned()
            });
            ProtectedFigures {
                why,
                count: items.len(),
                tokens: material.calibration.tokens(items.iter().map(|(chars, _)| chars).sum()),
                examples: examples.collect(),
            }
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.tokens));
    groups
}

fn kept(plan: &Plan) -> Kept {
    let mut kept = Kept::default();
    for item in &plan.items {
        match item.reason {
            Reason::Pinned => kept.pinned += 1,
            Reason::Short => kept.short += 1,
            Reason::AlreadyCut => kept.already_cut += 1,
            Reason::NotNeeded => kept.not_needed += 1,
            Reason::NoRoom => kept.no_room += 1,
            Reason::Protected(_) | Reason::Superseded(_) | Reason::Cut => {}
        }
    }
    kept
}

/// Code points of a message before the cut.
pub fn message_chars(entries: &[Entry<'_>], thread: &Thread, message: &Message) -> usize {
    let text = |of: usize| entries[of].text.as_str().chars().count();
    match message {
        Message::User { words, .. } => match words {
            Words::Entry(of) => text(*of),
            Words::New(new) => new.chars().count(),
        },
        Message::Assistant { text: of, calls } => {
            let inputs = calls.iter().map(|call| {
                let (of, at) = thread.calls[*call].call;
                entries[of].tool_uses[at].input_json().chars().count()
            });
            of.map_or(0, text) + inputs.sum::<usize>()
        }
        Message::Results { calls } => calls
            .iter()
            .map(|call| {
                let (of, at) = thread.calls[*call].result;
                entries[of].tool_results[at].text.as_str().chars().count()
            })
            .sum(),
    }
}

/// What is sent anew: everything from the first changed message on, as it is after the cut.
fn cached_again(material: &Material<'_>) -> u64 {
    let Material { plan, thread, .. } = *material;
    let place = |item: &super::plan::Item| thread.calls[item.call].message + usize::from(item.part == Part::Result);
    let Some(first) = plan.items.iter().filter(|item| item.is_cut()).map(place).min() else {
        return 0;
    };
    let behind: usize = thread.messages[first..]
        .iter()
        .map(|message| message_chars(material.entries, thread, message))
        .sum();
    let saved: usize = plan.items.iter().map(super::plan::Item::saved).sum();
    material.calibration.tokens(behind.saturating_sub(saved))
}

/// What the context consists of after the cut.
fn rest(material: &Material<'_>) -> Vec<Share> {
    let Material {
        plan,
        thread,
        calibration,
        ..
    } = *material;
    let all: usize = thread
        .messages
        .iter()
        .map(|message| message_chars(material.entries, thread, message))
        .sum();
    let parts: usize = plan.items.iter().map(|item| item.before).sum();
    let of = |wanted: fn(&Reason) -> bool| -> usize {
        plan.items
            .iter()
            .filter(|item| wanted(&item.reason))
            .map(|item| item.after)
            .sum()
    };
    let mut rest: Vec<Share> = [
        ("system prompt, tools, instructions, media", None),
        ("words of the conversation", Some(all.saturating_sub(parts))),
        (
            "the newest messages",
            Some(of(|reason| matches!(reason, Reason::Pinned))),
        ),
        ("protected", Some(of(|reason| matches!(reason, Reason::Protected(_))))),
        (
            "heads, notes and short output",
            Some(of(|reason| {
                !matches!(reason, Reason::Pinned | Reason::Protected(_) | Reason::NotNeeded)
            })),
        ),
        (
            "output that the target leaves whole",
            Some(of(|reason| matches!(reason, Reason::NotNeeded))),
        ),
    ]
    .into_iter()
    .map(|(what, chars)| Share {
        what: what.to_owned(),
        tokens: chars.map_or(calibration.fixed, |chars| calibration.tokens(chars)),
    })
    .filter(|share| share.tokens > 0)
    .collect();
    rest.sort_by_key(|share| std::cmp::Reverse(share.tokens));
    rest
}
