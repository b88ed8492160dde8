//! Columns of numbers as bytes: each with its length before it, lowest byte first.

use super::key::Key;

/// Puts columns behind each other.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn wide(&mut self, number: u128) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn small(&mut self, column: impl ExactSizeIterator<Item = u32>) {
        self.number(column.len() as u64);
        self.0.reserve(column.len() * 4);
        column.for_each(|number| self.0.extend_from_slice(&number.to_le_bytes()));
    }

    pub fn large(&mut self, column: &[u64]) {
        self.number(column.len() as u64);
        self.0.reserve(column.len() * 8);
        column
            .iter()
            .for_each(|number| self.0.extend_from_slice(&number.to_le_bytes()));
    }

    pub fn keys(&mut self, column: &[Key]) {
        self.number(column.len() as u64);
        self.0.reserve(column.len() * 16);
        column
            .iter()
            .for_each(|key| self.0.extend_from_slice(&key.0.to_le_bytes()));
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Takes columns in the order in which they were put. `None` when the bytes hold no such thing.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub const fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// The numbers of a column, each of `SIZE` bytes.
    fn column<const SIZE: usize>(&mut self) -> Option<&'a [[u8; SIZE]]> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(SIZE)?;
        Some(self.take(length)?.as_chunks().0)
    }

    pub fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub fn wide(&mut self) -> Option<u128> {
        self.take(16)?.try_into().ok().map(u128::from_le_bytes)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        self.column::<1>().map(<[[u8; 1]]>::as_flattened)
    }

    pub fn small(&mut self) -> Option<Vec<u32>> {
        let column = self.column()?;
        Some(column.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    pub fn large(&mut self) -> Option<Vec<u64>> {
        let column = self.column()?;
        Some(column.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    pub fn keys(&mut self) -> Option<Vec<Key>> {
        let column = self.column()?;
        Some(column.iter().map(|bytes| Key(u128::from_le_bytes(*bytes))).collect())
    }
}
