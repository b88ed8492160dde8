//! Any text as a person's file and as a project's: no panic, and every problem has a place and a way out.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use notesoup::config::{LayerKind, problems_of};
use notesoup::handlers::catalog;

fuzz_target!(|text: &str| {
    for kind in [LayerKind::UserFile, LayerKind::ProjectFile] {
        for problem in problems_of(kind, Path::new("fuzzed.toml"), text, &catalog()) {
            assert!(problem.help.is_some(), "{problem}");
            assert!(problem.place.source == "fuzzed.toml", "{problem}");
            if let (Some(excerpt), Some(column)) = (&problem.place.excerpt, problem.place.column) {
                assert!(column <= excerpt.chars().count() + 2, "{problem}");
            }
        }
    }
});
