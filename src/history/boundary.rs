//! What the boundary of a compaction records of the rows that were kept.

use super::key::Key;
use super::scan::{Broken, Cursor, Shape};

/// The kept rows that `compactMetadata` names, those first from which the old conversation is best followed back: the
/// end of the kept segment, then its rows from the last to the first, then its beginning.
pub(super) fn preserved(metadata: &[u8]) -> Vec<Key> {
    let (mut tail, mut head, mut rows) = (None, None, Vec::new());
    let read = named(&mut Cursor::new(metadata), |cursor, name| match name {
        b"preservedSegment" => {
            (tail, head) = (None, None);
            named(cursor, |cursor, name| {
                match name {
                    b"tailUuid" => tail = key(cursor)?,
                    b"headUuid" => head = key(cursor)?,
                    _ => return cursor.skip(),
                }
                Ok(())
            })
        }
        b"preservedMessages" => {
            rows.clear();
            named(cursor, |cursor, name| match name {
                b"uuids" | b"allUuids" => keys(cursor, &mut rows),
                _ => cursor.skip(),
            })
        }
        _ => cursor.skip(),
    });
    if read.is_err() {
        return Vec::new();
    }
    let mut all = Vec::with_capacity(rows.len() + 2);
    for key in tail.into_iter().chain(rows.into_iter().rev()).chain(head) {
        if !all.contains(&key) {
            all.push(key);
        }
    }
    all
}

fn named<'a>(
    cursor: &mut Cursor<'a>,
    entry: impl FnMut(&mut Cursor<'a>, &[u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    if cursor.shape()? == Shape::Object {
        return cursor.object(entry);
    }
    cursor.skip()
}

fn keys(cursor: &mut Cursor<'_>, into: &mut Vec<Key>) -> Result<(), Broken> {
    if cursor.shape()? != Shape::Array {
        return cursor.skip();
    }
    cursor.array(|cursor| {
        into.extend(key(cursor)?);
        Ok(())
    })
}

fn key(cursor: &mut Cursor<'_>) -> Result<Option<Key>, Broken> {
    if cursor.shape()? != Shape::String {
        cursor.skip()?;
        return Ok(None);
    }
    Ok(Some(Key::of(cursor.string()?.decode().as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_rows_come_last_first() {
        let metadata = br#"{"trigger":"auto","preservedSegment":{"headUuid":"a","anchorUuid":"s","tailUuid":"c"},
            "preservedMessages":{"anchorUuid":"s","uuids":["a","b","c"],"allUuids":["a","x","b","c"]}}"#;
        let names: Vec<Key> = ["c", "b", "x", "a"].map(|name| Key::of(name.as_bytes())).to_vec();
        let mut found = preserved(metadata);
        assert_eq!(found.len(), 4);
        assert_eq!((found[0], found[3]), (names[0], names[3]));
        found.sort();
        let mut names = names;
        names.sort();
        assert_eq!(found, names);
        assert!(preserved(br#"{"preservedSegment":null}"#).is_empty());
    }
}
