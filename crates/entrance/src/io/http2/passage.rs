//! The way of a connection's bytes to h2.

use bytes::BytesMut;

/// What was read, and how much of it h2 gets.
pub struct Passage<'a> {
    pub bytes: &'a mut [u8],
    /// Before this is what was looked at.
    pub from: usize,
    /// Before this is what h2 gets.
    pub to: usize,
    /// What it gets behind that, for which there is no place.
    pub owed: BytesMut,
}

impl Passage<'_> {
    /// The next bytes pass as they are.
    pub fn keep(&mut self, length: usize) {
        let range = self.from..self.from + length;
        if !self.owed.is_empty() {
            self.owed.extend_from_slice(&self.bytes[range]);
        } else {
            if self.from > self.to {
                self.bytes.copy_within(range, self.to);
            }
            self.to += length;
        }
        self.from += length;
    }

    pub fn put(&mut self, bytes: &[u8]) {
        if self.owed.is_empty() && self.from - self.to >= bytes.len() {
            self.bytes[self.to..self.to + bytes.len()].copy_from_slice(bytes);
            self.to += bytes.len();
        } else {
            self.owed.extend_from_slice(bytes);
        }
    }
}
