//! What the scenarios of the product ask of a request.

use std::path::Path;

use crate::support::{Lab, Request};

/// The window ids of the boots in a request, in order: `claude:<session>:<ordinal>`.
pub fn boots(request: &Request) -> Vec<String> {
    let texts = request.texts();
    let openings = texts.split("<notesoup window=\"").skip(1);
    openings
        .filter_map(|rest| rest.split('"').next().map(str::to_owned))
        .collect()
}

/// Fails unless the request holds exactly one boot, of the session that asks, with this ordinal.
#[track_caller]
pub fn assert_boot(request: &Request, ordinal: u32) {
    let expected = format!("claude:{}:{ordinal}", request.session());
    assert_eq!(boots(request), [expected], "{}", request.outline());
    assert_eq!(request.count("</notesoup>"), 1, "{}", request.outline());
}

/// Fails unless every request of the main conversation is well-formed and holds exactly one boot.
#[track_caller]
pub fn assert_sound(lab: &Lab) {
    for request in lab.model.requests() {
        request.assert_well_formed();
        assert_eq!(boots(&request).len(), 1, "{}", request.outline());
    }
    lab.logs().assert_clean();
}

/// How many paragraphs of a text's pool a request holds. A variant is known by its longest stretch without a placeholder.
pub fn paragraphs(request: &Request, text: &str) -> usize {
    let table = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks.toml")).unwrap();
    let table: toml::Table = table.parse().unwrap();
    let pool = table["texts"][text]["pool"].as_array().unwrap();
    let stretch = |variant: &toml::Value| {
        let variant = variant.as_str().unwrap().trim();
        let pieces = variant.split(['{', '}']).step_by(2);
        pieces.max_by_key(|piece| piece.len()).unwrap().to_owned()
    };
    pool.iter().map(|variant| request.count(&stretch(variant))).sum()
}
