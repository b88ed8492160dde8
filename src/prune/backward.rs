//! A file's lines from the last to the first.
//!
//! The rows of the current window are the last ones of a transcript; read from the end, a cut costs what the window
//! holds and not what the file does.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

const CHUNK: usize = 256 * 1024;

/// Reads lines backwards. A last line without its newline is given too: whether it is whole is for the caller to see.
#[derive(Debug)]
pub struct BackwardLines {
    file: File,
    /// Where `buffer` begins in the file.
    start: u64,
    /// What was read and not given yet.
    buffer: Vec<u8>,
    chunk: usize,
}

impl BackwardLines {
    /// Begins at the end that the file has now; what is written later is not seen.
    ///
    /// # Errors
    /// When the file cannot be opened or measured.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            start,
            buffer: Vec::new(),
            chunk: CHUNK,
        })
    }

    /// The next line towards the beginning, without its newline, and where it begins; `None` at the beginning.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        loop {
            if let Some(newline) = memchr::memrchr(b'\n', &self.buffer) {
                let line = self.buffer.split_off(newline + 1);
                self.buffer.truncate(newline);
                self.chunk = CHUNK;
                return Ok(Some((self.start + newline as u64 + 1, line)));
            }
            if self.start == 0 {
                // An empty buffer is the place in front of the first line.
                let line = std::mem::take(&mut self.buffer);
                return Ok((!line.is_empty()).then_some((0, line)));
            }
            self.fill()?;
        }
    }

    /// Reads one more chunk in front of the buffer. Chunks grow while a line does not end, so that a line of many
    /// megabytes is not copied once for each chunk.
    fn fill(&mut self) -> io::Result<()> {
        let size = usize::try_from(self.start).unwrap_or(usize::MAX).min(self.chunk);
        self.chunk = self.chunk.saturating_mul(2);
        self.start -= size as u64;
        self.file.seek(SeekFrom::Start(self.start))?;
        let mut buffer = vec![0; size];
        self.file.read_exact(&mut buffer)?;
        buffer.extend_from_slice(&self.buffer);
        self.buffer = buffer;
        Ok(())
    }

    /// Reads one line again, from where [`Self::next_line`] said that it begins.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn line_at(&mut self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(start))?;
        let mut line = vec![0; length];
        self.file.read_exact(&mut line)?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let mut reader = BackwardLines::open(file.path()).unwrap();
        let mut all = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            assert_eq!(reader.line_at(line.0, line.1.len()).unwrap(), line.1);
            all.push(line);
        }
        all
    }

    #[test]
    fn lines_come_from_the_last_to_the_first() {
        assert_eq!(
            lines(b"one\ntwo\nthr"),
            [(8, b"thr".to_vec()), (4, b"two".to_vec()), (0, b"one".to_vec())]
        );
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_whole() {
        let long = vec![b'x'; CHUNK * 5 + 17];
        let mut text = b"first\n".to_vec();
        text.extend_from_slice(&long);
        text.push(b'\n');
        assert_eq!(
            lines(&text),
            [(text.len() as u64, vec![]), (6, long), (0, b"first".to_vec())]
        );
    }
}
