//! A file in parts of whole lines: memory stays flat however long the file is, and one thread reads while the other
//! works.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use memchr::{memchr, memrchr};

/// How much is read at once: it stays in a core's cache until it has been worked on.
const PART: usize = 1 << 18;
/// How many parts may wait; memory grows with it.
const AHEAD: usize = 3;
/// Less than this is read without a second thread.
const SMALL: u64 = 1 << 20;

/// Whole lines; only the last part of a file may end without a line end.
#[derive(Debug, Default)]
pub(super) struct Part {
    bytes: Vec<u8>,
    offset: u64,
}

/// A line as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its bytes, without the line end.
    pub bytes: &'a [u8],
    /// Where it begins in the file.
    pub offset: u64,
    /// Whether it has its line end; if not, it may still be written.
    pub complete: bool,
}

impl Part {
    /// Its lines.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = self.bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let end = memchr(b'\n', rest);
            let line = Line {
                bytes: &rest[..end.unwrap_or(rest.len())],
                offset: self.offset + at as u64,
                complete: end.is_some(),
            };
            at += end.map_or(rest.len(), |end| end + 1);
            Some(line)
        })
    }
}

/// Hands over the lines between two places of a file, part by part, in order.
pub(super) fn each_part<E: From<io::Error>>(
    file: &File,
    start: u64,
    end: u64,
    mut work: impl FnMut(&Part) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = Reader {
        file,
        next: start,
        end,
        rest: Vec::new(),
    };
    if end - start < SMALL {
        let mut part = Part::default();
        while reader.fill(&mut part)? {
            work(&part)?;
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let (full, filled) = sync_channel(AHEAD);
        let (used, free) = channel::<Part>();
        scope.spawn(move || {
            loop {
                let mut part = free.try_recv().unwrap_or_default();
                let read = reader.fill(&mut part);
                let more = matches!(read, Ok(true));
                // The other side hangs up when it has failed.
                if full.send(read.map(|more| more.then_some(part))).is_err() || !more {
                    return;
                }
            }
        });
        // When `filled` is dropped on an error, the reader stops.
        let filled = filled;
        while let Ok(read) = filled.recv() {
            let Some(part) = read? else {
                break;
            };
            work(&part)?;
            let _ = used.send(part);
        }
        Ok(())
    })
}

struct Reader<'f> {
    file: &'f File,
    next: u64,
    end: u64,
    /// What was read of a line whose end was not.
    rest: Vec<u8>,
}

impl Reader<'_> {
    /// Fills the part with the next lines; false at the end.
    fn fill(&mut self, part: &mut Part) -> io::Result<bool> {
        let bytes = &mut part.bytes;
        let mut filled = self.rest.len();
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let wanted = filled + PART.min(left).max(1);
        if bytes.is_empty() {
            // New memory is zero without a hand of ours.
            *bytes = vec![0; wanted];
        } else if bytes.len() < wanted {
            bytes.resize(wanted, 0);
        }
        bytes[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        part.offset = self.next - filled as u64;
        let mut lines = None;
        while lines.is_none() {
            if filled == bytes.len() {
                // A line longer than a part: the part grows with it.
                bytes.resize(filled * 2, 0);
            }
            let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
            let room = (bytes.len() - filled).min(left);
            let read = self.file.read_at(&mut bytes[filled..filled + room], self.next)?;
            if read == 0 {
                // The end, or the file was cut short while it was read.
                self.end = self.next;
                bytes.truncate(filled);
                return Ok(filled > 0);
            }
            self.next += read as u64;
            lines = memrchr(b'\n', &bytes[filled..filled + read]).map(|at| filled + at + 1);
            filled += read;
        }
        let lines = lines.unwrap_or(filled);
        self.rest.extend_from_slice(&bytes[lines..filled]);
        bytes.truncate(lines);
        Ok(true)
    }
}
