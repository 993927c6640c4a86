//! Counts the frames of a client that carry no request, so that a flood of them ends its
//! connection: settings, pings, window updates, resets, priorities, empty data, continuations
//! (CVE-2019-9511 to 9518, CVE-2024-27316). h2 answers or ignores most of them, and sets no limit.
//! Removes the empty data that h2 would limit for the lifetime of a connection.

use super::open_bodies::OpenBodies;

/// Frames that a client may send at once without a request or data.
const BURST: u32 = 2_000;
/// Further ones in each second.
const PER_SECOND: u64 = 500;
/// What a request allows.
const PER_REQUEST: u32 = 16;
/// A client confirms what it gets, in windows as small as this.
const BYTES_PER_FRAME: usize = 512;

const PREFACE: usize = 24;
pub const HEADER: usize = 9;

pub mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const RESET: u8 = 3;
    pub const CONTINUATION: u8 = 9;
}

pub mod flag {
    pub const END_STREAM: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
}

/// Follows the frames in the bytes of a connection.
pub struct FrameCounter {
    /// Bytes until the next frame's header.
    skip: usize,
    header: [u8; HEADER],
    /// How much of the header there is. h2 has none of it before it is complete.
    filled: usize,
    /// Last bytes of the header that h2 must get before all others.
    owed: usize,
    bodies: OpenBodies,
    allowed: u32,
    /// When time last allowed some, in milliseconds.
    since: u64,
    /// Sent bytes that have not allowed a frame.
    sent: usize,
    /// All frames so far.
    pub seen: u64,
}

enum Verdict {
    Pass,
    Drop,
    Flood,
}

impl FrameCounter {
    pub fn new(now: u64) -> Self {
        Self {
            skip: PREFACE,
            header: [0; HEADER],
            filled: 0,
            owed: 0,
            bodies: OpenBodies::default(),
            allowed: BURST,
            since: now,
            sent: 0,
            seen: 0,
        }
    }

    /// Bytes without which a header that has begun is not complete. No more than these may be read
    /// at once: a header that passes needs the place of its first bytes.
    pub fn missing(&self) -> usize {
        if self.filled > 0 { HEADER - self.filled } else { 0 }
    }

    /// Bytes that h2 must get before more are read.
    pub fn owed(&self) -> &[u8] {
        &self.header[HEADER - self.owed..]
    }

    pub fn pay(&mut self, length: usize) {
        self.owed -= length;
    }

    /// Moves what h2 gets to the beginning of these bytes, and returns its length. `None` if there
    /// are more frames than the client may send.
    pub fn received(&mut self, bytes: &mut [u8], now: u64) -> Option<usize> {
        self.pass_time(now);
        let (mut from, mut to) = (0, 0);
        while from < bytes.len() {
            let left = bytes.len() - from;
            if self.skip > 0 {
                let length = self.skip.min(left);
                self.skip -= length;
                if from > to {
                    bytes.copy_within(from..from + length, to);
                }
                (from, to) = (from + length, to + length);
                continue;
            }
            let length = (HEADER - self.filled).min(left);
            self.header[self.filled..self.filled + length].copy_from_slice(&bytes[from..from + length]);
            self.filled += length;
            from += length;
            if self.filled < HEADER {
                break;
            }
            match self.count() {
                Verdict::Flood => return None,
                Verdict::Drop => {}
                Verdict::Pass if from - to < HEADER => self.owed = HEADER,
                Verdict::Pass => {
                    bytes[to..to + HEADER].copy_from_slice(&self.header);
                    to += HEADER;
                }
            }
        }
        Some(to)
    }

    pub fn sent(&mut self, length: usize) {
        self.sent += length;
        self.allow((self.sent / BYTES_PER_FRAME) as u32);
        self.sent %= BYTES_PER_FRAME;
    }

    fn count(&mut self) -> Verdict {
        let [a, b, c, kind, flags, ..] = self.header;
        self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        self.filled = 0;
        self.seen += 1;
        match kind {
            kind::HEADERS => self.allow(PER_REQUEST),
            kind::DATA if self.skip > 0 || flags & flag::END_STREAM != 0 => {
                self.allow((self.skip / BYTES_PER_FRAME) as u32);
            }
            _ if self.allowed == 0 => return Verdict::Flood,
            _ => self.allowed -= 1,
        }
        if self.bodies.is_needless(&self.header) { Verdict::Drop } else { Verdict::Pass }
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
        assert_eq!(counter.received(&mut [0; PREFACE], 1), Some(PREFACE));
        counter
    }

    /// What h2 gets of bytes that come in such pieces. `None`: they are a flood.
    fn passed(counter: &mut FrameCounter, bytes: &[u8], size: usize, now: u64) -> Option<Vec<u8>> {
        let mut passed = Vec::new();
        for mut piece in bytes.chunks(size) {
            while !piece.is_empty() {
                let length = if counter.missing() > 0 { counter.missing().min(piece.len()) } else { piece.len() };
                let mut part = piece[..length].to_vec();
                piece = &piece[length..];
                let kept = counter.received(&mut part, now)?;
                passed.extend_from_slice(&part[..kept]);
                while !counter.owed().is_empty() {
                    passed.push(counter.owed()[0]);
                    counter.pay(1);
                }
            }
        }
        Some(passed)
    }

    fn exhausted() -> FrameCounter {
        let mut counter = begun();
        assert!((0..BURST).all(|_| passed(&mut counter, &frame(8, 6, 0), 17, 1).is_some()));
        counter
    }

    /// How many of them are allowed at once.
    fn allowed(counter: &mut FrameCounter, bytes: &[u8], size: usize) -> usize {
        (0..10 * BURST as usize).take_while(|_| passed(counter, bytes, size, 1).is_some()).count()
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
    fn empty_data_of_a_body_is_counted_and_removed_whatever_the_pieces() {
        let head = frame(10, kind::HEADERS, flag::END_HEADERS);
        let (empty, data) = (frame(0, kind::DATA, 0), frame(30, kind::DATA, 0));
        let end = frame(0, kind::DATA, flag::END_STREAM);
        let sent = [&head[..], &empty, &data, &empty, &empty, &data, &end, &empty].concat();
        let expected = [&head[..], &data, &data, &end, &empty].concat();
        for size in 1..=sent.len() {
            assert_eq!(passed(&mut begun(), &sent, size, 1).as_ref(), Some(&expected));
        }
        let mut counter = begun();
        assert!(passed(&mut counter, &head, 50, 1).is_some());
        assert_eq!(allowed(&mut counter, &empty, 9), BURST as usize);
    }

    #[test]
    fn requests_data_and_time_allow_more() {
        let mut counter = begun();
        let request = [frame(10, 1, 5), frame(8, 6, 0), frame(4, 8, 0)].concat();
        assert_eq!(allowed(&mut counter, &request, 50), 10 * BURST as usize);
        let mut counter = exhausted();
        assert!(passed(&mut counter, &frame(200, 0, 0), 300, 1).is_some());
        assert!(passed(&mut counter, &frame(8, 6, 0), 300, 1).is_none());
        let mut counter = exhausted();
        counter.sent(BYTES_PER_FRAME * 3);
        assert_eq!(allowed(&mut counter, &frame(4, 8, 0), 13), 3);
        assert!(passed(&mut exhausted(), &frame(8, 6, 0), 300, 1_001).is_some());
    }
}
