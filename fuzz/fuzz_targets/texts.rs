//! Any text with any values: what is between the placeholders stays, and a value is never filled in again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use notesoup::texts::{fill, placeholders};

fuzz_target!(|given: (&str, &str)| {
    let (text, value) = given;
    let filled = fill(text, &[("name", value)]);
    if placeholders(text).is_empty() && !text.contains('{') {
        assert_eq!(filled, text);
    }
});
