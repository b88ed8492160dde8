//! What else somebody may have meant by an address that has no note.

use std::collections::BTreeSet;

use serde_json::json;

use crate::notes::address::Address;
use crate::notes::home::Homes;
use crate::notes::scan;
use crate::notes::store::Location;
use crate::outcome::Refusal;

/// How many suggestions of one kind are given.
const SHOWN: usize = 3;
/// Below this likeness (0 to 1) a path is no suggestion.
const ALIKE: f64 = 0.75;

/// The refusal for an address without a note: near addresses, the same name in other homes, and which of them are in
/// the wastebasket.
pub fn not_found(homes: &Homes, address: &Address, location: &Location) -> Refusal {
    let mut near = Vec::new();
    let mut elsewhere = BTreeSet::new();
    let (all, _) = homes.all();
    for home in all {
        let Ok(walk) = homes
            .folder(&home)
            .map_err(drop)
            .and_then(|folder| scan::walk(&home, &folder).map_err(drop))
        else {
            continue;
        };
        for found in walk.found {
            let path = found.address.path();
            if home != *address.home() {
                if found.address.stem() == address.stem() {
                    elsewhere.insert((path != address.path(), homes.render(&found.address), found.file));
                }
                continue;
            }
            let same_name = found.address.stem().eq_ignore_ascii_case(address.stem());
            let plain = |path: &str| path.trim_end_matches(".md").to_lowercase();
            let likeness = strsim::jaro_winkler(&plain(path), &plain(address.path()));
            if same_name || likeness >= ALIKE {
                near.push((same_name, likeness, homes.render(&found.address), found));
            }
        }
    }
    near.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    near.truncate(SHOWN);
    let near: Vec<_> = near
        .into_iter()
        .map(|(_, _, shown, found)| (shown, found.file))
        .collect();
    let elsewhere: Vec<_> = elsewhere
        .into_iter()
        .take(SHOWN)
        .map(|(_, shown, file)| (shown, file))
        .collect();
    let mut crumpled = Vec::new();
    for (shown, file) in near.iter().chain(&elsewhere) {
        if scan::head_is_crumpled(file) {
            crumpled.push(shown.clone());
        }
    }
    let names = |list: &[(String, _)]| -> Vec<String> {
        list.iter()
            .map(|(shown, _)| shown.clone())
            .filter(|shown| !crumpled.contains(shown))
            .collect()
    };
    let (near, elsewhere) = (names(&near), names(&elsewhere));
    let mut message = format!("There is no note at `{}`.", location.shown);
    for (label, shown) in [
        ("Near it", &near),
        ("By that name in another home", &elsewhere),
        ("In the wastebasket", &crumpled),
    ] {
        if !shown.is_empty() {
            message.push_str(&format!(" {label}: `{}`.", shown.join("`, `")));
        }
    }
    message.push_str(" `notes_list` shows what there is; `notes_write` makes a new note.");
    Refusal::new("not_found", message).with_details(json!({
        "address": location.shown,
        "near": near,
        "elsewhere": elsewhere,
        "crumpled": crumpled,
    }))
}
