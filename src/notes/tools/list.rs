//! `notes_list`: which notes there are, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::bounds::{Unavailable, size};
use super::gather::{Gathered, Skipped, footer, gather, name_unavailable};
use crate::notes::home::Homes;
use crate::notes::pattern::Scope;
use crate::notes::scan::{self, Found, Glance};
use crate::notes::{parallel, time};
use crate::outcome::Refusal;
use crate::outcome::room::{Room, cost, json_bytes};

pub const DESCRIPTION: &str = "List notes, newest first, with title, size and time of the last change. `pattern` is a glob over \
    the whole address: `*` (this conversation, top level), `@project/**`, `**/decisions.md`. Use it to see what there is \
    before you write a note or when you look for one.";

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 1000;
/// Room kept for the counts behind the rows.
const FOOTER: usize = 6 * 1024;

/// The parameters of `notes_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A glob over whole addresses: `*` within a part, `?` one character, `**` across parts. All notes when left out.
    pub pattern: Option<String>,
    /// How many notes at most, 1 to 1000; 50 when left out.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// List the wastebasket instead.
    #[serde(default)]
    pub wastebasket: bool,
}

/// What `notes_list` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The notes, newest first.
    pub notes: Vec<Row>,
    /// How many notes there are in all, those left out included.
    pub total: usize,
    /// How many were left out.
    pub more: usize,
    /// How many notes of the wastebasket the pattern matches as well.
    pub crumpled_excluded: usize,
    /// What stands in the homes but is no readable note.
    pub skipped: Skipped,
    /// Homes that could not be read; the rest is answered.
    pub homes_unavailable: Vec<Unavailable>,
}

/// One note.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Row {
    /// How to read it.
    pub address: String,
    /// Its first heading or line.
    pub title: String,
    /// The file's size.
    pub bytes: u64,
    /// When body or origin last changed.
    pub updated_at: String,
}

/// All notes of a query, newest first, and what was left out of it.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    /// The notes.
    pub rows: Vec<Row>,
    /// How many notes of the wastebasket the pattern matches as well.
    pub crumpled_excluded: usize,
    /// What stands in the homes but is no readable note.
    pub skipped: Skipped,
    /// Homes that could not be read.
    pub homes_unavailable: Vec<Unavailable>,
}

/// Lists without a bound, for people.
pub fn all(homes: &Homes, pattern: Option<&str>, wastebasket: bool) -> Result<Listing, Refusal> {
    let mut gathered = gather(homes, &Scope::new(pattern)?);
    let (glances, crumpled_excluded, unreadable) = look(&gathered, wastebasket);
    let rows = glances
        .into_iter()
        .map(|(glance, found)| row(homes, glance, found))
        .collect();
    gathered.skipped.unreadable += unreadable;
    Ok(Listing {
        rows,
        crumpled_excluded,
        skipped: gathered.skipped,
        homes_unavailable: gathered.unavailable,
    })
}

/// The notes that were asked for, newest first; how many were not; how many could not be read.
fn look(gathered: &Gathered, wastebasket: bool) -> (Vec<(Glance, &Found)>, usize, usize) {
    let mut glances = parallel::filter_map(&gathered.found, |found| Some((scan::glance(found).ok()?, found)));
    let all = glances.len();
    glances.retain(|(glance, _)| glance.crumpled == wastebasket);
    glances.sort_unstable_by(|(a, found_a), (b, found_b)| {
        b.updated_at
            .cmp(&a.updated_at)
            .then_with(|| found_a.address.cmp(&found_b.address))
    });
    let excluded = if wastebasket { 0 } else { all - glances.len() };
    (glances, excluded, gathered.found.len() - all)
}

fn row(homes: &Homes, glance: Glance, found: &Found) -> Row {
    Row {
        address: homes.render(&found.address),
        title: glance.title,
        bytes: glance.bytes,
        updated_at: time::format(glance.updated_at),
    }
}

pub fn run(homes: &Homes, input: Input) -> Result<Reply<Output>, Refusal> {
    let limit = check_limit("limit", input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let gathered = gather(homes, &Scope::new(input.pattern.as_deref())?);
    let (glances, crumpled_excluded, unreadable) = look(&gathered, input.wastebasket);
    let total = glances.len();
    let mut room = Room::all();
    room.take(FOOTER, FOOTER);
    let mut notes = Vec::new();
    let mut text = String::new();
    for (glance, found) in glances.into_iter().take(limit) {
        let row = row(homes, glance, found);
        let line = format!(
            "`{}` · {} · {} · {}\n",
            row.address,
            row.title,
            size(row.bytes),
            row.updated_at
        );
        if !room.take(json_bytes(&row) + 1, line.chars().map(cost).sum()) {
            break;
        }
        text.push_str(&line);
        notes.push(row);
    }
    let data = Output {
        total,
        more: total - notes.len(),
        crumpled_excluded,
        skipped: Skipped {
            unreadable: gathered.skipped.unreadable + unreadable,
            ..gathered.skipped
        },
        homes_unavailable: name_unavailable(gathered.unavailable),
        notes,
    };
    let what = if input.wastebasket {
        "notes in the wastebasket"
    } else {
        "notes"
    };
    let shown = data.notes.len();
    let mut head = match (shown, total) {
        (0, 0) => format!("No {what}"),
        _ if shown == total => format!("{total} {what}"),
        _ => format!("{shown} of {total} {what}, newest first"),
    };
    if let Some(pattern) = &input.pattern {
        head.push_str(&format!(" match `{pattern}`"));
    }
    let end = footer(
        data.more,
        "notes",
        data.crumpled_excluded,
        &data.skipped,
        &data.homes_unavailable,
    );
    let text = format!("{head}.\n{text}{}", end.trim_start_matches('\n'));
    Ok(Reply {
        data,
        text: text.trim_end().to_owned(),
    })
}

/// A count within its bounds.
pub fn check_limit(name: &str, given: Option<u32>, default: u32, max: u32) -> Result<usize, Refusal> {
    let limit = given.unwrap_or(default);
    if (1..=max).contains(&limit) {
        return Ok(limit as usize);
    }
    Err(Refusal::new("invalid_arguments", format!("{name} is 1 to {max}.")))
}
