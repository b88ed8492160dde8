//! The index: what it gives is what the file gives, whatever has become of either.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use notesoup::history::{Conversation, Head, Shown};

use crate::generator::{Taste, make};
use crate::support::{Lab, lines, said, user};

/// Bookkeeping that makes a transcript worth an index.
fn filler() -> String {
    format!(
        "{{\"type\":\"file-history-snapshot\",\"snapshot\":\"{}\"}}\n",
        "x".repeat(4_400_000)
    )
}

/// A made-up transcript behind the filler.
fn padded(seed: u64, taste: Taste) -> (Vec<u8>, String) {
    let made = make(seed, 5 + usize::try_from(seed % 50).unwrap(), taste);
    let rows = made.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&made.bytes);
    ([filler().as_bytes(), rows].concat(), made.head)
}

type Found = Result<Vec<Shown>, &'static str>;

/// What the file says, index or not.
fn found(lab: &Lab, head: &str) -> Found {
    let shown = lab.shown(Head::Uuid(head));
    shown.map_err(|error| error.code())
}

/// What the file says without an index.
fn fresh(lab: &Lab, head: &str) -> Found {
    let opened = Conversation::open(&lab.path, Head::Uuid(head), None, std::time::Duration::ZERO);
    let shown = opened.and_then(|conversation| conversation.shown().collect());
    shown.map_err(|error| error.code())
}

fn index_of(lab: &Lab) -> Option<PathBuf> {
    let folders = fs::read_dir(lab.state().join("history"))
        .into_iter()
        .flatten()
        .flatten();
    let mut files = folders
        .map(|folder| folder.path().join("index"))
        .filter(|file| file.exists());
    files.next()
}

#[test]
fn what_is_kept_says_the_same_as_the_file_also_when_that_goes_on() {
    let mut indexed = 0;
    for seed in 0..16 {
        let taste = if seed % 3 == 0 { Taste::Wild } else { Taste::Plausible };
        let (bytes, head) = padded(seed, taste);
        let ends: Vec<usize> = (4_400_000..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        let middle = ends[ends.len() * usize::try_from(seed % 4).unwrap() / 4] + 1;
        let lab = Lab::with(&bytes[..middle]);
        assert_eq!(found(&lab, &head), fresh(&lab, &head), "seed {seed}, first part");
        indexed += u32::from(index_of(&lab).is_some());
        let mut file = OpenOptions::new().append(true).open(&lab.path).unwrap();
        file.write_all(&bytes[middle..]).unwrap();
        let expected = fresh(&lab, &head);
        assert_eq!(found(&lab, &head), expected, "seed {seed}, what was added");
        assert_eq!(found(&lab, &head), expected, "seed {seed}, once more");
    }
    assert!(indexed > 10, "{indexed} indexes");
}

fn story(words: &str) -> (Vec<u8>, String) {
    let rows = [
        user("a", None, words),
        said("b", "a", "and an answer"),
        user("c", Some("b"), "more"),
    ];
    ([filler(), lines(&rows)].concat().into_bytes(), "c".to_owned())
}

#[test]
fn a_damaged_index_is_made_anew() {
    let (bytes, head) = padded(7, Taste::Plausible);
    let lab = Lab::with(&bytes);
    let expected = found(&lab, &head);
    assert!(expected.as_ref().is_ok_and(|shown| shown.len() > 5));
    let index = index_of(&lab).unwrap();
    let good = fs::read(&index).unwrap();
    let check = |what: String, damaged: &[u8]| {
        fs::write(&index, damaged).unwrap();
        assert_eq!(found(&lab, &head), expected, "{what}");
        assert!(fs::read(&index).unwrap() == good, "{what}: it is whole again");
    };
    // As a crash leaves it, where a file system keeps a length without its bytes.
    let step = good.len() / 5;
    for length in (0..good.len()).step_by(step) {
        check(format!("{length} bytes of it"), &good[..length]);
        let zeros = vec![0; good.len() - length];
        check(format!("zeros from {length} on"), &[&good[..length], &zeros].concat());
    }
    for at in (0..good.len()).step_by(good.len() / 14) {
        let mut damaged = good.clone();
        damaged[at] ^= 1 << (at % 8);
        check(format!("another bit at {at}"), &damaged);
    }
    check("something behind it".to_owned(), &[&good[..], b"x"].concat());
    check("something else".to_owned(), b"{}");
}

#[test]
fn an_index_of_another_file_or_another_state_of_it_is_not_believed() {
    let (bytes, head) = story("what was said");
    let (other, _) = story("what is heard");
    assert_eq!(bytes.len(), other.len());
    let indexed = || {
        let lab = Lab::with(&bytes);
        assert_eq!(found(&lab, &head).unwrap()[0].text, "what was said");
        assert!(index_of(&lab).is_some());
        lab
    };
    let first = |lab: &Lab| {
        assert_eq!(found(lab, &head), fresh(lab, &head));
        found(lab, &head).map(|shown| shown[0].text.clone())
    };

    // Another file under the same name, of the same length and age.
    let lab = indexed();
    let modified = fs::metadata(&lab.path).unwrap().modified().unwrap();
    let beside = lab.folder.path().join("beside");
    fs::write(&beside, &other).unwrap();
    fs::File::options()
        .append(true)
        .open(&beside)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    fs::rename(&beside, &lab.path).unwrap();
    assert_eq!(first(&lab).unwrap(), "what is heard");

    // Written over in place, as long as before; then with more behind it.
    let lab = indexed();
    let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
    file.write_all_at(&other, 0).unwrap();
    file.set_modified(modified + std::time::Duration::from_secs(9)).unwrap();
    assert_eq!(first(&lab).unwrap(), "what is heard");
    let lab = indexed();
    let more = lines(&[user("d", Some("c"), "behind it")]);
    let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
    file.write_all_at(&[&other[..], more.as_bytes()].concat(), 0).unwrap();
    assert_eq!(first(&lab).unwrap(), "what is heard");

    // Shorter: its last row taken back, and another put there.
    let lab = indexed();
    let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
    let kept = bytes.len() - lines(&[user("c", Some("b"), "more")]).len();
    file.set_len(kept as u64).unwrap();
    assert_eq!(first(&lab), Err("head_not_on_disk"));
    let longer = lines(&[
        user("c", Some("a"), "instead"),
        user("d", Some("c"), &"long".repeat(99)),
    ]);
    OpenOptions::new()
        .append(true)
        .open(&lab.path)
        .unwrap()
        .write_all(longer.as_bytes())
        .unwrap();
    assert_eq!(found(&lab, "d").unwrap()[1].text, "instead");

    // That of another transcript.
    let (lab, stranger) = (indexed(), Lab::with(&other));
    found(&stranger, &head).unwrap();
    fs::copy(index_of(&stranger).unwrap(), index_of(&lab).unwrap()).unwrap();
    assert_eq!(first(&lab).unwrap(), "what was said");
}

/// The proof that it is used: what it was made from is not read again.
#[test]
fn what_was_read_is_not_read_again() {
    let (bytes, head) = story("what was said");
    let lab = Lab::with(&bytes);
    let expected = found(&lab, &head);
    assert!(expected.is_ok());
    let modified = fs::metadata(&lab.path).unwrap().modified().unwrap();
    let file = OpenOptions::new().write(true).open(&lab.path).unwrap();
    file.write_all_at(b"\"", 100_000).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(fresh(&lab, &head), Err("malformed_row"));
    assert_eq!(found(&lab, &head), expected);
    // Nor is it written again for a little that was added.
    let before = fs::read(index_of(&lab).unwrap()).unwrap();
    let more = lines(&[user("d", Some("c"), "behind it")]);
    OpenOptions::new()
        .append(true)
        .open(&lab.path)
        .unwrap()
        .write_all(more.as_bytes())
        .unwrap();
    assert_eq!(found(&lab, "d").unwrap().last().unwrap().text, "behind it");
    assert_eq!(fs::read(index_of(&lab).unwrap()).unwrap(), before);
}
