//! The lines of a file, a part at a time: memory stays flat however long the file is.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use memchr::memchr;

/// How much is read at once.
const PART: usize = 1 << 20;

/// A line as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its bytes, without the line end.
    pub bytes: &'a [u8],
    /// Where it begins in the file.
    pub offset: u64,
    /// Its number, counted from 1.
    pub number: u64,
    /// Whether it has its line end; if not, it may still be written.
    pub complete: bool,
}

/// Reads lines from a place in a file up to another.
#[derive(Debug)]
pub(super) struct Lines<'f> {
    file: &'f File,
    /// Where the next part begins.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    number: u64,
}

impl<'f> Lines<'f> {
    /// The lines between two places. `number` is the count of lines before the first place.
    pub const fn new(file: &'f File, start: u64, end: u64, number: u64) -> Self {
        Self {
            file,
            next: start,
            end,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            number,
        }
    }

    /// The next line; none at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.at;
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                let start = self.at;
                self.at = searched + found + 1;
                return Ok(Some(self.line(start, searched + found, true)));
            }
            searched = self.filled;
            if self.next == self.end {
                if self.at == self.filled {
                    return Ok(None);
                }
                let start = self.at;
                self.at = self.filled;
                return Ok(Some(self.line(start, self.filled, false)));
            }
            searched -= self.at;
            self.fill()?;
        }
    }

    fn line(&mut self, start: usize, end: usize, complete: bool) -> Line<'_> {
        self.number += 1;
        Line {
            bytes: &self.buffer[start..end],
            offset: self.next - (self.filled - start) as u64,
            number: self.number,
            complete,
        }
    }

    /// Moves the unread rest to the front and reads on behind it.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.buffer.len() < self.filled + PART / 2 {
            // A line longer than a part: the buffer grows with it.
            let room = (self.filled * 2).max(PART).min(self.filled + self.left());
            self.buffer.resize(room.max(self.buffer.len()), 0);
        }
        let room = (self.buffer.len() - self.filled).min(self.left());
        let read = self
            .file
            .read_at(&mut self.buffer[self.filled..self.filled + room], self.next)?;
        if read == 0 {
            // It was cut short while it was read.
            self.end = self.next;
        }
        self.next += read as u64;
        self.filled += read;
        Ok(())
    }

    fn left(&self) -> usize {
        usize::try_from(self.end - self.next).unwrap_or(usize::MAX)
    }
}
