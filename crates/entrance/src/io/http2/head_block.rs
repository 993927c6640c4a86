//! The head of a request on its way, in a HEADERS frame and the CONTINUATION frames behind it.
//!
//! h2 takes few of the latter: as many as the largest head needs if each is as long as it may be,
//! and a quarter more. Proxies cut heads into smaller ones. So h2 gets their content in frames of
//! the largest length, and its limit is one of bytes. `FrameCounter` limits the frames.

use super::frame::{HEADER, flag, kind};

/// Of h2, which announces no other length.
const MAX_FRAME: usize = 16 * 1024;

pub struct HeadBlock {
    /// When it began, in milliseconds.
    pub since: u64,
    stream: [u8; 4],
    /// The frame that is coming is its last.
    pub is_last: bool,
    /// Content of CONTINUATION frames that h2 has not got, behind room for a header.
    gathered: Vec<u8>,
}

impl HeadBlock {
    /// By the header of a HEADERS frame, which h2 gets as it is.
    pub fn new(header: &[u8; HEADER], now: u64) -> Self {
        let [.., flags, a, b, c, d] = *header;
        let is_last = flags & flag::END_HEADERS != 0;
        Self { since: now, stream: [a, b, c, d], is_last, gathered: Vec::new() }
    }

    /// Whether a frame continues the head, by its header. Any other is an error.
    pub fn continues(&mut self, header: &[u8; HEADER], length: usize) -> bool {
        let is_of_it = header[3] == kind::CONTINUATION && header[5..] == self.stream && length <= MAX_FRAME;
        self.is_last = is_of_it && header[4] & flag::END_HEADERS != 0;
        is_of_it
    }

    /// Gathers content of a CONTINUATION. Returns how much of it there was room for.
    pub fn gather(&mut self, bytes: &[u8]) -> usize {
        self.gathered.resize(self.gathered.len().max(HEADER), 0);
        let length = bytes.len().min(HEADER + MAX_FRAME - self.gathered.len());
        self.gathered.extend_from_slice(&bytes[..length]);
        length
    }

    /// What is gathered, as a frame of its own.
    pub fn frame(&mut self, is_last: bool) -> Vec<u8> {
        let mut frame = std::mem::take(&mut self.gathered);
        frame.resize(frame.len().max(HEADER), 0);
        let [.., a, b, c] = (frame.len() - HEADER).to_be_bytes();
        let [d, e, f, g] = self.stream;
        let flags = if is_last { flag::END_HEADERS } else { 0 };
        frame[..HEADER].copy_from_slice(&[a, b, c, kind::CONTINUATION, flags, d, e, f, g]);
        frame
    }
}
