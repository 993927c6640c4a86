//! How many frames a client may send without a request or data.

use super::frame::{HEADER, flag, kind};

/// Frames that a client may send at once without a request or data.
pub const BURST: u32 = 2_000;
/// Further ones in each second.
const PER_SECOND: u64 = 500;
/// What a request allows.
const PER_REQUEST: u32 = 16;
/// A client confirms what it gets, in windows as small as this.
pub const BYTES_PER_FRAME: usize = 512;

pub struct Allowance {
    left: u32,
    /// When time last allowed some, in milliseconds.
    since: u64,
    /// Sent bytes that have not allowed a frame.
    sent: usize,
}

impl Allowance {
    pub fn new(now: u64) -> Self {
        Self { left: BURST, since: now, sent: 0 }
    }

    /// Counts a frame, by its header. False if it is one too many.
    pub fn count(&mut self, header: &[u8; HEADER], length: usize) -> bool {
        let [_, _, _, kind, flags, ..] = *header;
        match kind {
            kind::HEADERS => self.allow(PER_REQUEST),
            kind::DATA if length > 0 || flags & flag::END_STREAM != 0 => {
                self.allow((length / BYTES_PER_FRAME) as u32);
            }
            _ if self.left == 0 => return false,
            _ => self.left -= 1,
        }
        true
    }

    pub fn sent(&mut self, length: usize) {
        self.sent += length;
        self.allow((self.sent / BYTES_PER_FRAME) as u32);
        self.sent %= BYTES_PER_FRAME;
    }

    pub fn pass_time(&mut self, now: u64) {
        let more = now.saturating_sub(self.since) * PER_SECOND / 1000;
        if more > 0 {
            self.since = now;
            self.allow(u32::try_from(more).unwrap_or(BURST));
        }
    }

    fn allow(&mut self, more: u32) {
        self.left = self.left.saturating_add(more).min(BURST);
    }
}
