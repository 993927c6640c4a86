//! Bytes between a socket and the rest of the entrance.

/// A queue of bytes in one piece of memory: appended at its end, consumed from its start.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// Where the unread bytes begin.
    start: usize,
}

/// Memory that an empty buffer keeps. An idle connection has two buffers.
pub(super) const KEPT: usize = 4 * 1024;
/// Fewer consumed bytes than this stay in front of the unread ones.
const MIN_REMOVED: usize = 64 * 1024;

impl Buffer {
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn append(&mut self, bytes: &[u8]) {
        // Large pieces come up to a window, so doubling the memory would waste it.
        if bytes.len() > KEPT {
            self.bytes.reserve_exact(bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// For the rare case that consumed bytes are needed again.
    pub fn prepend(&mut self, bytes: &[u8]) {
        self.bytes.splice(..self.start, bytes.iter().copied());
        self.start = 0;
    }

    /// Memory stays below twice the unread bytes and a constant, also for a buffer that never
    /// becomes empty. Each byte is moved at most once on average.
    pub fn consume(&mut self, length: usize) {
        self.start += length;
        if self.is_empty() {
            self.start = 0;
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            } else {
                self.bytes.clear();
            }
        } else if self.start > MIN_REMOVED.max(self.len()) {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_the_order_in_which_they_were_appended() {
        let mut buffer = Buffer::default();
        let text: Vec<u8> = (0..300_000u32).map(|number| number as u8).collect();
        let mut read = Vec::new();
        for piece in text.chunks(70_001) {
            buffer.append(piece);
            let length = buffer.len().saturating_sub(100);
            read.extend_from_slice(&buffer.unread()[..length]);
            buffer.consume(length);
        }
        assert_eq!(buffer.len(), 100);
        read.extend_from_slice(buffer.unread());
        buffer.consume(100);
        assert!(buffer.is_empty());
        assert_eq!(read, text);
    }

    #[test]
    fn consumed_memory_is_released() {
        let mut buffer = Buffer::default();
        buffer.append(b"rest");
        for _ in 0..1_000 {
            buffer.append(&[0; 10_000]);
            buffer.consume(10_000);
        }
        assert!(buffer.bytes.len() < 2 * MIN_REMOVED);
        buffer.consume(4);
        assert!(buffer.is_empty());
        assert!(buffer.bytes.capacity() <= KEPT);
    }
}
