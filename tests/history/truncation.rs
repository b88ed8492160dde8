//! A transcript that is still being written: an answer or "again in a moment", never a wrong branch.

use notesoup::history::{Head, Transcript};

use crate::agreement::name;
use crate::generator::{Taste, make};
use crate::oracle;
use crate::support::Lab;

/// Where the last `rows` lines begin.
fn tail_start(bytes: &[u8], rows: usize) -> usize {
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    ends.len().checked_sub(rows + 1).map_or(0, |at| ends[at] + 1)
}

#[test]
fn cut_at_every_byte_of_the_last_rows() {
    let lab = Lab::new();
    let (mut answered, mut later) = (0, 0);
    for seed in 0..6 {
        let made = make(seed, 25, Taste::Plausible);
        for cut in tail_start(&made.bytes, 3)..=made.bytes.len() {
            let bytes = &made.bytes[..cut];
            lab.write(bytes);
            // The slow reader is asked once in a while; it says the same between two line ends.
            let close = cut % 61 == 0 || cut == made.bytes.len();
            let expected = close.then(|| oracle::read(bytes, &made.head, &[]));
            match (lab.shown(Head::Uuid(&made.head)), expected) {
                (Err(error), expected) => {
                    // Rows of an old window may come behind the boundary, so that a parent is missing for a moment.
                    assert!(
                        matches!(error.code(), "head_not_on_disk" | "missing_ancestor"),
                        "seed {seed}, {cut} bytes: {error}"
                    );
                    assert!(error.to_string().contains("again in a moment"), "{error}");
                    if let Some(expected) = expected {
                        assert_eq!(expected.err(), Some(error.code()), "seed {seed}, {cut} bytes");
                    }
                    later += 1;
                }
                (Ok(found), expected) => {
                    answered += 1;
                    let Some(expected) = expected else { continue };
                    let seen: Vec<_> = found
                        .iter()
                        .map(|shown| (shown.seq, name(shown.role), shown.text.as_str()))
                        .collect();
                    let story = expected.unwrap();
                    let told: Vec<_> = story
                        .events
                        .iter()
                        .map(|event| (event.seq, event.role, event.text.as_str()))
                        .collect();
                    assert_eq!(seen, told, "seed {seed}, {cut} bytes");
                }
            }
        }
    }
    assert!(answered > 250 && later > 250, "{answered} answered, {later} put off");
}

#[test]
fn an_address_never_changes_when_the_file_grows() {
    let lab = Lab::new();
    for seed in 0..6 {
        let made = make(seed, 40, Taste::Plausible);
        lab.write(&made.bytes);
        let whole = addresses(&lab);
        let ends = (0..made.bytes.len()).filter(|at| made.bytes[*at] == b'\n');
        for end in ends {
            lab.write(&made.bytes[..=end]);
            let part = addresses(&lab);
            assert_eq!(part, whole[..part.len()], "seed {seed}, {end} bytes");
        }
    }
}

fn addresses(lab: &Lab) -> Vec<(String, Option<u64>)> {
    let transcript = Transcript::read(&lab.path).unwrap();
    transcript
        .rows()
        .map(|row| {
            let uuid = row.unwrap().uuid;
            let seq = transcript.seq_of(transcript.find(&uuid).unwrap());
            (uuid, seq)
        })
        .collect()
}
