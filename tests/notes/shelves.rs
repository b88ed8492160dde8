//! What a window starts with.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use notesoup::notes::Home;

use crate::support::{SESSION, Store};

fn dated(body: &str, updated: &str, more: &str) -> String {
    format!("---\norigin: self\nupdatedAt: 2026-11-{updated}T12:00:00.000+00:00\n{more}---\n\n{body}")
}

fn set_age(file: &std::path::Path, days: u64) {
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn an_empty_root_is_five_empty_shelves_and_stays_absent() {
    let store = Store::new();
    let shelves = store.notes().shelves();
    let prefixes: Vec<_> = shelves.shelves.iter().map(|shelf| shelf.prefix.as_str()).collect();
    assert_eq!(prefixes, ["", "@project/", "@self/", "@model/", "@human/"]);
    assert!(
        shelves
            .shelves
            .iter()
            .all(|shelf| shelf.total == 0 && shelf.unavailable.is_none())
    );
    assert!(shelves.checkpoint.is_none());
    assert!(!store.root().exists());
}

#[test]
fn a_shelf_has_its_map_and_the_three_freshest_live_notes() {
    let store = Store::new();
    store.put(
        &format!("{}/MAP.md", store.project()),
        dated(&"é".repeat(5000), "01", ""),
    );
    for day in ["02", "03", "04", "05"] {
        store.put(
            &format!("{}/d/{day}.md", store.project()),
            dated(&format!("# Day {day}\ntext"), day, ""),
        );
    }
    store.put(
        &format!("{}/gone.md", store.project()),
        dated("# Gone", "09", "crumpledAt: 2026-11-10T00:00:00.000+00:00\n"),
    );
    let shelves = store.notes().shelves();
    let shelf = shelves
        .shelves
        .iter()
        .find(|shelf| shelf.home == Home::Project)
        .unwrap();
    let map = shelf.map.as_ref().unwrap();
    assert_eq!((map.text.chars().count(), map.total_chars), (4096, 5000));
    let fresh: Vec<_> = shelf
        .freshest
        .iter()
        .map(|fresh| (fresh.title.as_str(), fresh.address.as_str()))
        .collect();
    let expected = [
        ("Day 05", "@project/d/05.md"),
        ("Day 04", "@project/d/04.md"),
        ("Day 03", "@project/d/03.md"),
    ];
    assert_eq!(fresh, expected);
    assert_eq!(shelf.total, 5, "the wastebasket is not counted");
}

#[test]
fn the_checkpoint_is_the_newest_so_named_or_titled_note_else_the_newest() {
    let store = Store::new();
    store.put(&format!("{SESSION}/other.md"), dated("# Other", "09", ""));
    assert_eq!(store.notes().shelves().checkpoint.unwrap().body, "# Other");
    store.put(&format!("{SESSION}/checkpoint-1.md"), dated("one", "02", ""));
    store.put(&format!("{SESSION}/x.md"), dated("# My Checkpoint\ntwo", "03", ""));
    store.put(
        &format!("{SESSION}/checkpoint-9.md"),
        dated("nine", "08", "crumpled_at: 2026-11-10T00:00:00.000+00:00\n"),
    );
    let checkpoint = store.notes().shelves().checkpoint.unwrap();
    assert_eq!(checkpoint.address, "x.md");
    assert_eq!(checkpoint.body, "# My Checkpoint\ntwo");
}

#[test]
fn crumpled_notes_in_front_do_not_hide_the_live_ones() {
    let store = Store::new();
    for n in 0..40 {
        let file = store.put(
            &format!("human/c{n}.md"),
            dated("# c", "09", "crumpledAt: 2026-11-10T00:00:00Z\n"),
        );
        set_age(&file, 1);
    }
    let file = store.put("human/live.md", dated("# Live", "01", ""));
    set_age(&file, 30);
    let shelves = store.notes().shelves();
    let human = shelves.shelves.last().unwrap();
    assert_eq!(human.freshest.len(), 1);
    assert_eq!(human.freshest[0].address, "@human/live.md");
    assert_eq!(human.total, 1);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_there() {
    let store = Store::new();
    store.put("project", "a file where a folder should be");
    store.put("human/a.md", "# A");
    std::os::unix::fs::symlink("/etc", store.file("agents")).unwrap();
    let shelves = store.notes().shelves();
    let unavailable: Vec<_> = shelves
        .shelves
        .iter()
        .map(|shelf| shelf.unavailable.is_some())
        .collect();
    assert_eq!(unavailable, [false, true, true, false, false]);
    assert_eq!(shelves.shelves[4].freshest[0].title, "A");
    assert!(fs::symlink_metadata(store.file("agents")).unwrap().is_symlink());
}
