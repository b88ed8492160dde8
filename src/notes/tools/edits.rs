//! Exact replacements on a body, in order, all or nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::notes::text::cut;
use crate::outcome::Refusal;

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Edit {
    /// The exact text to replace, as notes_read shows it.
    pub old_text: String,
    /// What to put in its place; empty deletes.
    pub new_text: String,
}

/// How many line numbers and near lines a refusal shows.
const SHOWN: usize = 20;
const NEAREST: usize = 3;
/// The most code points of a line that a refusal shows.
const MAX_LINE_CHARS: usize = 200;
/// Lines beyond this many are not compared when the nearest are looked for.
const MAX_COMPARED_LINES: usize = 20_000;

/// Applies the edits to a body and counts the replacements.
///
/// # Errors
/// `no_match` or `ambiguous_edit`, with the index of the edit; `invalid_arguments` for an empty `oldText`.
pub fn apply(shown: &str, body: &str, edits: &[Edit], replace_all: bool) -> Result<(String, usize), Refusal> {
    let mut body = body.to_owned();
    let mut replaced = 0;
    for (index, edit) in edits.iter().enumerate() {
        if edit.old_text.is_empty() {
            let message = format!(
                "Edit {index} has an empty oldText. Nothing was changed. Give the text to replace, or use `append`."
            );
            return Err(Refusal::new("invalid_arguments", message).with_details(json!({ "edit": index })));
        }
        let hits: Vec<usize> = body.match_indices(&edit.old_text).map(|(at, _)| at).collect();
        match hits.len() {
            0 => return Err(no_match(shown, &body, edit, index)),
            1 => {}
            _ if replace_all => {}
            _ => return Err(ambiguous(shown, &body, &hits, index)),
        }
        replaced += hits.len();
        body = body.replace(&edit.old_text, &edit.new_text);
    }
    Ok((body, replaced))
}

fn ambiguous(shown: &str, body: &str, hits: &[usize], index: usize) -> Refusal {
    let mut lines = Vec::new();
    let (mut line, mut at) = (1, 0);
    for hit in hits.iter().take(SHOWN) {
        line += body.get(at..*hit).unwrap_or_default().matches('\n').count();
        at = *hit;
        lines.push(line);
    }
    let list = lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let more = if hits.len() > SHOWN { ", …" } else { "" };
    let message = format!(
        "Edit {index} matches {} places in `{shown}` (lines {list}{more}). Nothing was changed. Give more of the text around \
         the one you mean, or set replace_all.",
        hits.len()
    );
    let details = json!({ "edit": index, "lines": lines, "matches": hits.len() });
    Refusal::new("ambiguous_edit", message).with_details(details)
}

fn no_match(shown: &str, body: &str, edit: &Edit, index: usize) -> Refusal {
    let nearest = nearest_lines(body, &edit.old_text);
    let mut message = format!("Edit {index} matches nothing in `{shown}`. Nothing was changed.");
    if !edit.old_text.contains("\r\n") && edit.old_text.contains('\n') && body.contains("\r\n") {
        message.push_str(" The lines of this note end in \\r\\n, and those of oldText in \\n.");
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = squeezed(&edit.old_text);
    if !wanted.is_empty() && squeezed(body).contains(&wanted) {
        message.push_str(" It would match if spaces and line ends were the same.");
    }
    if nearest.is_empty() {
        message.push_str(" No line is like it: read the note again.");
    } else {
        message.push_str(" The nearest lines are:");
        for (line, text) in &nearest {
            message.push_str(&format!("\n{line}: {text}"));
        }
    }
    let lines: Vec<_> = nearest
        .iter()
        .map(|(line, text)| json!({ "line": line, "text": text }))
        .collect();
    Refusal::new("no_match", message).with_details(json!({ "edit": index, "nearest": lines }))
}

fn nearest_lines(body: &str, wanted: &str) -> Vec<(usize, String)> {
    // The longest line says most of what was meant.
    let Some(wanted) = wanted
        .lines()
        .map(str::trim)
        .max_by_key(|line| line.len())
        .filter(|line| !line.is_empty())
    else {
        return Vec::new();
    };
    let wanted = cut(wanted, MAX_LINE_CHARS);
    let mut scored: Vec<(f64, usize, &str)> = Vec::new();
    for (index, line) in body.lines().take(MAX_COMPARED_LINES).enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let score = if trimmed.contains(&wanted) {
            1.0
        } else {
            strsim::sorensen_dice(&wanted, &cut(trimmed, MAX_LINE_CHARS))
        };
        if score > 0.4 {
            scored.push((score, index + 1, line));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(NEAREST);
    scored
        .into_iter()
        .map(|(_, line, text)| (line, cut(text, MAX_LINE_CHARS)))
        .collect()
}
