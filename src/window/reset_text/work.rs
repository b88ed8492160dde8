//! What the running turn has done so far, as bounded text.

use std::collections::HashMap;

use super::{Entry, ResetInput, ResetText, Role, WORK_CLOSING, WORK_OPENING, shorten};
use crate::prune::{ToolResult, ToolUse};

/// What share of a call's room its arguments may take at most: they say what was done, the result says what came of it.
const INPUT_SHARE: usize = 3;

/// The last calls with their results, newest last, and the last words; none when the turn has not worked yet.
pub(super) fn text(entries: &[Entry<'_>], input: &ResetInput<'_>) -> Option<String> {
    let options = input.options;
    if options.work_chars == 0 || options.work_calls == 0 {
        return None;
    }
    let results: HashMap<&str, &ToolResult<'_>> = entries
        .iter()
        .flat_map(|entry| &entry.tool_results)
        .map(|result| (result.id.as_str(), result))
        .collect();
    let calls: Vec<&ToolUse<'_>> = entries.iter().flat_map(|entry| &entry.tool_uses).collect();
    let words = entries
        .iter()
        .rev()
        .filter(|entry| entry.role == Role::Assistant)
        .map(|entry| entry.text.as_str().trim())
        .find(|text| !text.is_empty());
    if calls.is_empty() && words.is_none() {
        return None;
    }
    let last = &calls[calls.len().saturating_sub(options.work_calls)..];
    let words = words.map(|words| shorten(words, options.work_chars / 6));
    let spent = words.as_ref().map_or(0, |words| words.chars().count());
    let room = share(last, &results, options.work_chars.saturating_sub(spent));

    let mut text = format!("{WORK_OPENING}\n{}\n", (input.text)(ResetText::LastCalls(last.len())));
    for call in last {
        text.push('\n');
        text.push_str(&describe(call, results.get(call.id.as_str()).copied(), room));
        text.push('\n');
    }
    if let Some(words) = words {
        text.push_str(&format!("\nYour last words: {words}\n"));
    }
    text.push_str(WORK_CLOSING);
    Some(text)
}

/// The largest room a call may take so that all of them together fit: what short calls leave over goes to long ones.
fn share(calls: &[&ToolUse<'_>], results: &HashMap<&str, &ToolResult<'_>>, total: usize) -> usize {
    let mut wants: Vec<usize> = calls
        .iter()
        .map(|call| {
            let result = results
                .get(call.id.as_str())
                .map_or(0, |result| result.text.as_str().chars().count());
            call.input_json().chars().count() + result
        })
        .collect();
    wants.sort_unstable();
    let mut left = total;
    for (index, want) in wants.iter().enumerate() {
        let each = left / (wants.len() - index);
        if *want > each {
            return each;
        }
        left -= want;
    }
    usize::MAX
}

fn describe(call: &ToolUse<'_>, result: Option<&ToolResult<'_>>, room: usize) -> String {
    let result_text = result.map_or("", |result| result.text.as_str().trim_end());
    let wanted = call.input_json().chars().count();
    let for_result = result_text.chars().count();
    let for_input = wanted.min((room / INPUT_SHARE).max(room.saturating_sub(for_result)));
    let arguments = shorten(call.input_json(), for_input);
    let outcome = match result {
        None => " (no result yet)",
        Some(result) if result.is_error => " (failed)",
        Some(_) => "",
    };
    let head = format!("[{}] {} {arguments}{outcome}", call.id.as_str(), call.tool.as_str());
    if result_text.is_empty() {
        return head;
    }
    format!("{head}\n{}", shorten(result_text, room.saturating_sub(for_input)))
}
