//! Counts the frames of a client that carry no request, so that a flood of them ends its
//! connection: settings, pings, window updates, resets, priorities, empty data, continuations
//! (CVE-2019-9511 to 9518, CVE-2024-27316). h2 answers or ignores each of them, and sets no limit.

/// Frames that a client may send at once without a request or data.
const BURST: u32 = 2_000;
/// Further ones in each second.
const PER_SECOND: u64 = 500;
/// What a request allows.
const PER_REQUEST: u32 = 16;
/// A client confirms what it gets, in windows as small as this.
const BYTES_PER_FRAME: usize = 512;

const PREFACE: usize = 24;
const HEADER: usize = 9;

mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
}

const END_STREAM: u8 = 1;

/// Follows the frames in the bytes of a connection.
pub struct FrameCounter {
    /// Bytes until the next frame's header.
    skip: usize,
    header: [u8; HEADER],
    /// How much of the header there is.
    filled: usize,
    allowed: u32,
    /// When time last allowed some, in milliseconds.
    since: u64,
    /// Sent bytes that have not allowed a frame.
    sent: usize,
}

impl FrameCounter {
    pub fn new(now: u64) -> Self {
        Self { skip: PREFACE, header: [0; HEADER], filled: 0, allowed: BURST, since: now, sent: 0 }
    }

    /// Returns false if these bytes have more frames than the client may send.
    pub fn received(&mut self, mut bytes: &[u8], now: u64) -> bool {
        self.pass_time(now);
        while !bytes.is_empty() {
            if self.skip > 0 {
                let length = self.skip.min(bytes.len());
                self.skip -= length;
                bytes = &bytes[length..];
                continue;
            }
            let length = (HEADER - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + length].copy_from_slice(&bytes[..length]);
            self.filled += length;
            bytes = &bytes[length..];
            if self.filled == HEADER && !self.count() {
                return false;
            }
        }
        true
    }

    pub fn sent(&mut self, length: usize) {
        self.sent += length;
        self.allow((self.sent / BYTES_PER_FRAME) as u32);
        self.sent %= BYTES_PER_FRAME;
    }

    fn count(&mut self) -> bool {
        let [a, b, c, kind, flags, ..] = self.header;
        self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        self.filled = 0;
        match kind {
            kind::HEADERS => self.allow(PER_REQUEST),
            kind::DATA if self.skip > 0 || flags & END_STREAM != 0 => {
                self.allow((self.skip / BYTES_PER_FRAME) as u32);
            }
            _ if self.allowed == 0 => return false,
            _ => self.allowed -= 1,
        }
        true
    }

    fn pass_time(&mut self, now: u64) {
        let more = now.saturating_sub(self.since) * PER_SECOND / 1000;
        if more > 0 {
            self.since = now;
            self.allow(u32::try_from(more).unwrap_or(BURST));
        }
    }

    fn allow(&mut self, more: u32) {
        self.allowed = self.allowed.saturating_add(more).min(BURST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: u8, kind: u8, flags: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        frame.resize(HEADER + usize::from(length), 0);
        frame
    }

    fn begun() -> FrameCounter {
        let mut counter = FrameCounter::new(1);
        assert!(counter.received(&[0; PREFACE], 1));
        counter
    }

    fn exhausted() -> FrameCounter {
        let mut counter = begun();
        assert!((0..BURST).all(|_| counter.received(&frame(8, 6, 0), 1)));
        counter
    }

    /// How many of them are allowed at once.
    fn allowed(counter: &mut FrameCounter, bytes: &[u8], size: usize) -> usize {
        (0..10 * BURST as usize).take_while(|_| bytes.chunks(size).all(|piece| counter.received(piece, 1))).count()
    }

    #[test]
    fn a_flood_is_noticed_whatever_the_pieces() {
        for (kind, length) in [(2, 5), (3, 4), (4, 0), (4, 36), (6, 8), (8, 4), (9, 20), (0, 0), (77, 3)] {
            for size in [1, 7, 100] {
                assert_eq!(allowed(&mut begun(), &frame(length, kind, 0), size), BURST as usize);
            }
        }
    }

    #[test]
    fn requests_data_and_time_allow_more() {
        let mut counter = begun();
        let request = [frame(10, 1, 5), frame(8, 6, 0), frame(4, 8, 0)].concat();
        assert_eq!(allowed(&mut counter, &request, 50), 10 * BURST as usize);
        let mut counter = exhausted();
        assert!(counter.received(&frame(200, 0, 0), 1));
        assert!(!counter.received(&frame(8, 6, 0), 1));
        let mut counter = exhausted();
        counter.sent(BYTES_PER_FRAME * 3);
        assert_eq!(allowed(&mut counter, &frame(4, 8, 0), 13), 3);
        assert!(exhausted().received(&frame(8, 6, 0), 1_001));
    }
}
