//! `notes_search`: the lines of notes that have a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::bounds::Unavailable;
use super::gather::{Gathered, Skipped, footer, gather, name_unavailable};
use super::list::check_limit;
use crate::notes::disk::{self, ReadError};
use crate::notes::home::Homes;
use crate::notes::note::{Key, Note};
use crate::notes::pattern::Scope;
use crate::notes::query::Query;
use crate::notes::scan::Found;
use crate::notes::text::{cut, title};
use crate::notes::{parallel, time};
use crate::outcome::Refusal;
use crate::outcome::room::{Room, cost, json_bytes};

pub const DESCRIPTION: &str = "Search the bodies of notes for a literal text, whatever its case; a list of texts finds any of \
    them. Newest notes first, each with its matching lines; `offset_chars` of a line leads there with notes_read. Use it \
    before you decide something anew or when you do not know which note has it.";

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 200;
const DEFAULT_MATCHES: u32 = 3;
const MAX_MATCHES: u32 = 50;
/// The most code points of a matching line that are shown, and how many of them stand before the hit.
const LINE_CHARS: usize = 240;
const LEAD_CHARS: usize = 60;
/// Room kept for the counts behind the rows.
const FOOTER: usize = 6 * 1024;

/// The parameters of `notes_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The text to search for, or a list of texts of which any may match. Literal, on single lines, any case.
    pub query: Texts,
    /// A glob over whole addresses, e.g. `@project/**`: only these notes. All when left out.
    pub pattern: Option<String>,
    /// How many notes at most, 1 to 200; 20 when left out.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// How many matching lines of one note at most, 1 to 50; 3 when left out.
    #[schemars(range(min = 1, max = 50))]
    pub max_matches_per_file: Option<u32>,
    /// Search the wastebasket instead.
    #[serde(default)]
    pub wastebasket: bool,
}

/// One text or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Texts {
    /// One text.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

/// What `notes_search` gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The notes with a match, newest first.
    pub notes: Vec<Row>,
    /// How many notes have a match, those left out included.
    pub total: usize,
    /// How many notes with a match were left out.
    pub more: usize,
    /// How many notes of the wastebasket have a match as well.
    pub crumpled_excluded: usize,
    /// What stands in the homes but is no readable note.
    pub skipped: Skipped,
    /// Homes that could not be read; the rest is answered.
    pub homes_unavailable: Vec<Unavailable>,
}

/// One note with a match.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Row {
    /// How to read it.
    pub address: String,
    /// Its first heading or line.
    pub title: String,
    /// When body or origin last changed.
    pub updated_at: String,
    /// Its first matching lines.
    pub matches: Vec<Match>,
    /// How many more matching lines it has.
    pub more_matches: usize,
}

/// One matching line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Match {
    /// The line's number in the body, from 1.
    pub line: usize,
    /// Where the line's first hit begins, in characters of the body.
    pub offset_chars: usize,
    /// The line, cut around the hit when it is long.
    pub text: String,
}

struct Hit<'a> {
    found: &'a Found,
    updated_at: jiff::Timestamp,
    title: String,
    crumpled: bool,
    matches: Vec<Match>,
    lines: usize,
}

/// All notes with a match, newest first, and what was left out.
#[derive(Debug, Clone, Serialize)]
pub struct Matches {
    /// The notes with their first matching lines.
    pub rows: Vec<Row>,
    /// How many notes of the wastebasket have a match as well.
    pub crumpled_excluded: usize,
    /// What stands in the homes but is no readable note.
    pub skipped: Skipped,
    /// Homes that could not be read.
    pub homes_unavailable: Vec<Unavailable>,
}

/// Searches without a bound on the notes, for people; `most` is that of the lines of one note.
pub fn all(
    homes: &Homes,
    texts: &[String],
    pattern: Option<&str>,
    most: usize,
    wastebasket: bool,
) -> Result<Matches, Refusal> {
    let query = Query::new(texts)?;
    let mut gathered = gather(homes, &Scope::new(pattern)?);
    let (hits, crumpled_excluded, unreadable) = look(&gathered, &query, most, wastebasket);
    let rows = hits
        .into_iter()
        .map(|hit| Row {
            address: homes.render(&hit.found.address),
            title: hit.title,
            updated_at: time::format(hit.updated_at),
            more_matches: hit.lines - hit.matches.len(),
            matches: hit.matches,
        })
        .collect();
    gathered.skipped.unreadable += unreadable;
    Ok(Matches {
        rows,
        crumpled_excluded,
        skipped: gathered.skipped,
        homes_unavailable: gathered.unavailable,
    })
}

/// The notes with a match, newest first; how many more there are in the wastebasket; how many could not be read.
fn look<'a>(gathered: &'a Gathered, query: &Query, most: usize, wastebasket: bool) -> (Vec<Hit<'a>>, usize, usize) {
    let answers = parallel::filter_map(&gathered.found, |found| search_file(found, query, most).transpose());
    let unreadable = answers.iter().filter(|answer| answer.is_err()).count();
    let mut hits: Vec<Hit<'_>> = answers.into_iter().flatten().collect();
    let all = hits.len();
    hits.retain(|hit| hit.crumpled == wastebasket);
    hits.sort_unstable_by(|a, b| {
        b.updated_at
            .cmp(&a.updated_at)
            .then_with(|| a.found.address.cmp(&b.found.address))
    });
    let excluded = if wastebasket { 0 } else { all - hits.len() };
    (hits, excluded, unreadable)
}

pub fn run(homes: &Homes, input: Input) -> Result<Reply<Output>, Refusal> {
    let limit = check_limit("limit", input.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let most = check_limit(
        "max_matches_per_file",
        input.max_matches_per_file,
        DEFAULT_MATCHES,
        MAX_MATCHES,
    )?;
    let texts = match &input.query {
        Texts::One(text) => std::slice::from_ref(text),
        Texts::Any(texts) => texts.as_slice(),
    };
    let query = Query::new(texts)?;
    let gathered = gather(homes, &Scope::new(input.pattern.as_deref())?);
    let (hits, crumpled_excluded, unreadable) = look(&gathered, &query, most, input.wastebasket);
    let total = hits.len();
    let mut room = Room::all();
    room.take(FOOTER, FOOTER);
    let mut notes = Vec::new();
    let mut text = String::new();
    for hit in hits.into_iter().take(limit) {
        let Some((row, lines)) = fitting_row(homes, hit, &mut room) else {
            break;
        };
        text.push_str(&lines);
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
        "notes in the wastebasket match"
    } else {
        "notes match"
    };
    let head = match (data.notes.len(), total) {
        (0, 0) => format!("No {what}."),
        (shown, _) if shown == total => format!("{total} {what}."),
        (shown, _) => format!("{shown} of {total} {what}, newest first."),
    };
    let end = footer(
        data.more,
        "notes match",
        data.crumpled_excluded,
        &data.skipped,
        &data.homes_unavailable,
    );
    let text = format!("{head}\n{text}{}", end.trim_start_matches('\n'));
    Ok(Reply {
        data,
        text: text.trim_end().to_owned(),
    })
}

/// A hit as a row, with as many of its lines as there is room for; nothing when not one fits.
fn fitting_row(homes: &Homes, hit: Hit<'_>, room: &mut Room) -> Option<(Row, String)> {
    let mut row = Row {
        address: homes.render(&hit.found.address),
        title: hit.title,
        updated_at: time::format(hit.updated_at),
        matches: Vec::new(),
        more_matches: hit.lines,
    };
    let mut text = format!("`{}` · {} · {}\n", row.address, row.title, row.updated_at);
    let bytes = |text: &str| text.chars().map(cost).sum::<usize>();
    // The line that counts what is left out has its room from the start.
    let mut left = *room;
    if !left.take(json_bytes(&row) + 16, bytes(&text) + 40) {
        return None;
    }
    for found in hit.matches {
        let line = format!(
            "  {} (offset_chars {}): {}\n",
            found.line, found.offset_chars, found.text
        );
        if !left.take(json_bytes(&found) + 1, bytes(&line)) {
            break;
        }
        text.push_str(&line);
        row.matches.push(found);
        row.more_matches -= 1;
    }
    if row.matches.is_empty() {
        return None;
    }
    if row.more_matches > 0 {
        text.push_str(&format!("  … {} more lines\n", row.more_matches));
    }
    *room = left;
    Some((row, text))
}

fn search_file<'a>(found: &'a Found, query: &Query, most: usize) -> Result<Option<Hit<'a>>, ReadError> {
    let (bytes, metadata) = match disk::read(&found.file) {
        Ok(read) => read,
        // Renamed or removed meanwhile.
        Err(ReadError::Missing) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !query.may_match(&bytes) && std::str::from_utf8(&bytes).is_ok() {
        return Ok(None);
    }
    let note = Note::parse(&String::from_utf8_lossy(&bytes));
    let body = &note.body;
    let mut matches = Vec::new();
    let mut lines = 0;
    // Counted forwards, so that a long note is gone through once.
    let (mut at, mut chars, mut line) = (0, 0, 1);
    let mut from = 0;
    while let Some((start, end)) = query.find_at(body, from) {
        let line_start = body
            .get(..start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |end| end + 1);
        let line_end = body
            .get(start..)
            .and_then(|behind| behind.find('\n'))
            .map_or(body.len(), |length| start + length);
        lines += 1;
        if matches.len() < most {
            let between = body.get(at..start).unwrap_or_default();
            line += between.matches('\n').count();
            chars += between.chars().count();
            at = start;
            matches.push(Match {
                line,
                offset_chars: chars,
                text: excerpt(
                    body.get(line_start..line_end).unwrap_or_default(),
                    start - line_start,
                    end - line_start,
                ),
            });
        }
        from = line_end;
        if from >= body.len() {
            break;
        }
    }
    if lines == 0 {
        return Ok(None);
    }
    let of_file = metadata.modified().ok().and_then(time::of_file);
    Ok(Some(Hit {
        found,
        updated_at: note.instant(Key::UpdatedAt).or(of_file).unwrap_or_default(),
        title: title(&note, found.address.stem()),
        crumpled: note.is_crumpled(),
        matches,
        lines,
    }))
}

/// A line, or the part of a long one that has the hit.
fn excerpt(line: &str, start: usize, end: usize) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.chars().take(LINE_CHARS + 1).count() <= LINE_CHARS {
        return cut(line, LINE_CHARS);
    }
    let before = line.get(..start).unwrap_or_default();
    let skipped = before.chars().count().saturating_sub(LEAD_CHARS);
    let lead: String = before.chars().skip(skipped).collect();
    let mark = if skipped > 0 { "…" } else { "" };
    let rest = line.get(start..).unwrap_or_default();
    let room = LINE_CHARS.max((end - start) / 2);
    cut(&format!("{mark}{lead}{rest}"), room)
}
