//! Keeps the answer small enough: the client cuts a program's output at 4 MiB.

use super::cut::{grouped, nth};
use super::plan::{Change, Plan, Reason};
use super::thread::{Message, Thread, Words};

/// The most that a rebuilt conversation may take as JSON. The rest of the 4 MiB is for the reply around it.
pub const MAX_ANSWER_BYTES: usize = 3 * 1024 * 1024 + 512 * 1024;

/// What a message, a call or a result takes that is named by its index.
const NAMED_BYTES: usize = 80;
/// Restored rows longer than this are shortened where there is no room, to so many code points.
const SHORTENED_CHARS: usize = 2_000;

/// Gives up what there is no room for: first the cuts that save least, then the ends of long restored rows.
///
/// Ten thousand cut outputs, or hundreds of long files that were mentioned, come that far; other conversations are left
/// as they are.
pub fn fit(plan: &mut Plan, thread: &mut Thread, max: usize) {
    let named = (thread.messages.len() + 2 * thread.calls.len()) * NAMED_BYTES;
    let restored: usize = thread.messages.iter().filter_map(new_words).map(json_len).sum();
    let cost: Vec<usize> = plan
        .items
        .iter()
        .map(|item| item.change.as_ref().map_or(0, change_len))
        .collect();
    let mut total = named + restored + cost.iter().sum::<usize>();
    if total <= max {
        return;
    }
    // Restored rows keep half of the room at least, so that the cut is still one.
    if named + restored > max / 2 {
        total -= shorten(thread, (named + restored) - max / 2);
    }
    let mut order: Vec<usize> = (0..plan.items.len()).filter(|index| cost[*index] > 0).collect();
    order.sort_by_key(|index| plan.items[*index].saved());
    for index in order {
        if total <= max {
            break;
        }
        plan.items[index].keep(Reason::NoRoom);
        total -= cost[index];
    }
}

fn new_words(message: &Message) -> Option<&str> {
    match message {
        Message::User {
            words: Words::New(text),
            ..
        } => Some(text),
        _ => None,
    }
}

fn change_len(change: &Change) -> usize {
    match change {
        Change::Result(text) => json_len(text),
        Change::Input(input) => input.to_string().len(),
    }
}

/// The length as JSON, without the work of writing it.
fn json_len(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..32 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum::<usize>() + 2
}

/// Shortens the longest restored rows until so many bytes are saved, or none is left that is long. Gives what was saved.
fn shorten(thread: &mut Thread, wanted: usize) -> usize {
    let mut long: Vec<(usize, usize)> = thread
        .messages
        .iter()
        .enumerate()
        .filter_map(|(index, message)| Some((json_len(new_words(message)?), index)))
        .collect();
    long.sort_unstable_by(|left, right| right.cmp(left));
    let mut saved = 0;
    for (before, index) in long {
        let Message::User {
            words: Words::New(text),
            ..
        } = &mut thread.messages[index]
        else {
            continue;
        };
        let end = nth(text, SHORTENED_CHARS);
        if saved >= wanted || end == text.len() {
            break;
        }
        let gone = text[end..].chars().count();
        let closing = if text.trim_end().ends_with("</system-reminder>") {
            "\n</system-reminder>"
        } else {
            ""
        };
        *text = format!(
            "{}\n[notesoup: {} characters left out, since a cut can hand back only so much; history_list has the whole.]{closing}",
            &text[..end],
            grouped(gone)
        );
        saved += before.saturating_sub(json_len(text));
        thread.shortened += 1;
    }
    saved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_as_json_is_right() {
        for text in ["", "plain", "\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}", "🦀é"] {
            assert_eq!(json_len(text), serde_json::to_string(text).unwrap().len(), "{text:?}");
        }
    }

    fn message(text: &str) -> Message {
        Message::User {
            words: Words::New(text.to_owned()),
            row: None,
        }
    }

    #[test]
    fn long_rows_are_shortened_the_longest_first_and_only_where_there_is_no_room() {
        let mut thread = Thread {
            messages: vec![
                message(&"a".repeat(4_000)),
                message(&"b".repeat(9_000)),
                message("short"),
            ],
            ..Thread::default()
        };
        let whole = thread.clone();
        fit(&mut Plan::default(), &mut thread, 100_000);
        assert_eq!(thread.messages, whole.messages);
        fit(&mut Plan::default(), &mut thread, 13_000);
        assert_eq!(thread.messages[0], whole.messages[0]);
        assert!(
            new_words(&thread.messages[1])
                .unwrap()
                .contains("7,000 characters left out")
        );
        assert_eq!(thread.shortened, 1);
    }
}
