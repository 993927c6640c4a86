//! Counts the frames of a client that carry no request, so that a flood of them ends its
//! connection: settings, pings, window updates, resets, priorities, empty data, continuations
//! (CVE-2019-9511 to 9518, CVE-2024-27316). h2 answers or ignores most of them, and sets no limit.
//! Removes the empty data that h2 would limit for the lifetime of a connection, and makes small
//! continuations large ones.

use bytes::{Buf, BytesMut};

use super::allowance::Allowance;
use super::frame::{HEADER, kind};
use super::head_block::HeadBlock;
use super::open_bodies::OpenBodies;
use super::passage::Passage;

const PREFACE: usize = 24;

/// Follows the frames in the bytes of a connection.
pub struct FrameCounter {
    /// Bytes until the next frame's header.
    skip: usize,
    header: [u8; HEADER],
    /// How much of the header there is. h2 has none of it before it is complete.
    filled: usize,
    /// When it began, in milliseconds.
    header_since: u64,
    /// Until the first frame, the client's settings, has ended (RFC 9113, 3.4).
    preface_since: Option<u64>,
    /// Bytes that h2 must get before all others.
    owed: BytesMut,
    /// The head that is coming.
    head: Option<HeadBlock>,
    /// The frame that is coming is gathered there.
    gathers: bool,
    bodies: OpenBodies,
    allowance: Allowance,
    /// All frames so far.
    pub seen: u64,
}

impl FrameCounter {
    pub fn new(now: u64) -> Self {
        Self {
            skip: PREFACE,
            header: [0; HEADER],
            filled: 0,
            header_since: now,
            preface_since: Some(now),
            owed: BytesMut::new(),
            head: None,
            gathers: false,
            bodies: OpenBodies::default(),
            allowance: Allowance::new(now),
            seen: 0,
        }
    }

    /// Bytes that h2 must get before more are read.
    pub fn owed(&self) -> &[u8] {
        &self.owed
    }

    pub fn pay(&mut self, length: usize) {
        self.owed.advance(length);
        if self.owed.is_empty() {
            self.owed = BytesMut::new();
        }
    }

    /// Since when a head, a frame's header or the preface is coming, in milliseconds.
    pub fn head_since(&self) -> Option<u64> {
        let head = self.head.as_ref().map(|head| head.since);
        self.preface_since.or(head).or((self.filled > 0).then_some(self.header_since))
    }

    /// Moves what h2 gets to the beginning of these bytes, and returns its length. What is owed
    /// then comes behind it. `None` if there are more frames than the client may send.
    pub fn received(&mut self, bytes: &mut [u8], now: u64) -> Option<usize> {
        self.allowance.pass_time(now);
        let mut passage = Passage { bytes, from: 0, to: 0, owed: std::mem::take(&mut self.owed) };
        while passage.from < passage.bytes.len() {
            let left = passage.bytes.len() - passage.from;
            if self.skip > 0 {
                self.content(self.skip.min(left), &mut passage);
            } else {
                if self.filled == 0 {
                    self.header_since = now;
                }
                let length = (HEADER - self.filled).min(left);
                let more = &passage.bytes[passage.from..passage.from + length];
                self.header[self.filled..self.filled + length].copy_from_slice(more);
                self.filled += length;
                passage.from += length;
                if self.filled < HEADER {
                    break;
                }
                self.filled = 0;
                self.seen += 1;
                let [a, b, c, ..] = self.header;
                self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                if !self.allowance.count(&self.header, self.skip) {
                    return None;
                }
                self.begin(&mut passage, now);
            }
            if self.skip == 0 {
                self.end(&mut passage);
            }
        }
        let Passage { to, owed, .. } = passage;
        self.owed = owed;
        Some(to)
    }

    pub fn sent(&mut self, length: usize) {
        self.allowance.sent(length);
    }

    /// A frame begins, whose header is complete.
    fn begin(&mut self, passage: &mut Passage<'_>, now: u64) {
        let is_needless = self.bodies.is_needless(&self.header);
        self.gathers = self.head.as_mut().is_some_and(|head| head.continues(&self.header, self.skip));
        if self.gathers || (is_needless && self.head.is_none()) {
            return;
        }
        if self.header[3] == kind::HEADERS {
            self.head = Some(HeadBlock::new(&self.header, now));
        }
        passage.put(&self.header);
    }

    /// Bytes of a frame behind its header.
    fn content(&mut self, length: usize, passage: &mut Passage<'_>) {
        self.skip -= length;
        let Some(head) = self.head.as_mut().filter(|_| self.gathers) else { return passage.keep(length) };
        let end = passage.from + length;
        while passage.from < end {
            match head.gather(&passage.bytes[passage.from..end]) {
                0 => passage.put(&head.frame(false)),
                taken => passage.from += taken,
            }
        }
    }

    /// A frame has ended.
    fn end(&mut self, passage: &mut Passage<'_>) {
        if self.seen > 0 {
            self.preface_since = None;
        }
        if let Some(mut head) = self.head.take_if(|head| head.is_last)
            && self.gathers
        {
            passage.put(&head.frame(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::http2::allowance::{BURST, BYTES_PER_FRAME};
    use crate::io::http2::frame::flag;

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
        for mut piece in bytes.chunks(size).map(<[u8]>::to_vec) {
            let kept = counter.received(&mut piece, now)?;
            passed.extend_from_slice(&piece[..kept]);
            while !counter.owed().is_empty() {
                passed.push(counter.owed()[0]);
                counter.pay(1);
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

    /// A head in such pieces of content, behind a beginning.
    fn head(content: &[u8], size: usize) -> Vec<u8> {
        let mut bytes = frame(3, kind::HEADERS, flag::END_STREAM);
        let pieces = content.len().div_ceil(size);
        for (place, piece) in content.chunks(size).enumerate() {
            let [.., a, b] = piece.len().to_be_bytes();
            let flags = if place + 1 == pieces { flag::END_HEADERS } else { 0 };
            bytes.extend_from_slice(&[0, a, b, kind::CONTINUATION, flags, 0, 0, 0, 1]);
            bytes.extend_from_slice(piece);
        }
        bytes
    }

    #[test]
    fn small_continuations_become_large_ones_whatever_the_pieces() {
        let content: Vec<_> = (0..40_000).map(|n| n as u8).collect();
        let behind = frame(8, 6, 0);
        let expected = [head(&content, 16 * 1024), behind.clone(), head(&[], 1)].concat();
        for cut in [64, 1000, 16 * 1024] {
            let sent = [head(&content, cut), behind.clone(), head(&[], 1)].concat();
            for size in [1, 10, 5_000, 20_000, sent.len()] {
                assert!(passed(&mut begun(), &sent, size, 1).as_ref() == Some(&expected), "{cut} by {size}");
            }
        }
    }

    #[test]
    fn what_is_no_part_of_a_head_does_not_become_one() {
        let begin = frame(3, kind::HEADERS, flag::END_STREAM);
        let gathered = frame(20, kind::CONTINUATION, 0);
        let mut other = frame(20, kind::CONTINUATION, flag::END_HEADERS);
        other[8] = 3;
        for wrong in [other, frame(0, kind::DATA, flag::END_HEADERS), frame(4, 8, flag::END_HEADERS)] {
            let sent = [&begin[..], &gathered, &wrong].concat();
            assert_eq!(passed(&mut begun(), &sent, 7, 1), Some([&begin[..], &wrong].concat()));
        }
    }

    #[test]
    fn a_head_comes_until_its_last_byte() {
        let mut counter = begun();
        assert!(counter.received(&mut frame(0, 4, 0), 1).is_some());
        assert_eq!(counter.head_since(), None);
        for (place, byte) in head(&[7; 30], 10).iter().enumerate() {
            assert!(counter.head_since().is_some() == (place > 0));
            assert!(counter.received(&mut [*byte], 1 + place as u64).is_some());
        }
        assert_eq!(counter.head_since(), None);
    }

    #[test]
    fn the_preface_comes_until_its_settings_have_come() {
        let mut counter = begun();
        for byte in frame(6, 4, 0) {
            assert_eq!(counter.head_since(), Some(1));
            assert!(counter.received(&mut [byte], 5).is_some());
        }
        assert_eq!(counter.head_since(), None);
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
