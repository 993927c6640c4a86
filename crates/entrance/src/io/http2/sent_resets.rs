//! Finds the streams that h2 resets by itself, in the bytes that it sends: those of malformed
//! requests, most of which no task of ours ever sees (CVE-2025-8671).

use h2::Reason;

use super::frame::{HEADER, kind};

const RESET: usize = HEADER + 4;

/// Follows the frames in the bytes of a connection.
#[derive(Default)]
pub struct SentResets {
    /// Bytes until the next frame's header.
    skip: usize,
    /// A header, or all of a reset.
    frame: [u8; RESET],
    filled: usize,
}

impl SentResets {
    /// Calls `found` with each stream that was reset because of an error of its client.
    pub fn sent(&mut self, mut bytes: &[u8], mut found: impl FnMut(u32, Reason)) {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let length = self.skip.min(bytes.len());
                self.skip -= length;
                bytes = &bytes[length..];
                continue;
            }
            let end = if self.filled < HEADER { HEADER } else { RESET };
            let length = (end - self.filled).min(bytes.len());
            self.frame[self.filled..self.filled + length].copy_from_slice(&bytes[..length]);
            self.filled += length;
            bytes = &bytes[length..];
            if self.filled == RESET {
                self.filled = 0;
                let [.., s0, s1, s2, s3, r0, r1, r2, r3] = self.frame;
                let reason = Reason::from(u32::from_be_bytes([r0, r1, r2, r3]));
                if is_error_of_client(reason) {
                    found(u32::from_be_bytes([s0, s1, s2, s3]), reason);
                }
            } else if self.filled == HEADER && self.frame[3] != kind::RESET {
                self.filled = 0;
                let [a, b, c, ..] = self.frame;
                self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
            }
        }
    }
}

/// Not the reasons of the entrance's own resets, nor that of a stream beyond the allowed number: a
/// client may send many before it has read that number.
fn is_error_of_client(reason: Reason) -> bool {
    let reasons = [Reason::PROTOCOL_ERROR, Reason::FLOW_CONTROL_ERROR, Reason::STREAM_CLOSED, Reason::FRAME_SIZE_ERROR];
    reasons.contains(&reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reset(stream: u8, reason: Reason) -> Vec<u8> {
        [&[0, 0, 4, kind::RESET, 0, 0, 0, 0, stream][..], &u32::from(reason).to_be_bytes()].concat()
    }

    #[test]
    fn resets_are_found_whatever_the_pieces() {
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        // Its payload looks like a reset.
        let data = [&[0, 0, 13, kind::DATA, 0, 0, 0, 0, 1][..], &reset(77, Reason::PROTOCOL_ERROR)].concat();
        let bytes = [
            &settings[..],
            &reset(3, Reason::PROTOCOL_ERROR),
            &data,
            &reset(5, Reason::INTERNAL_ERROR),
            &reset(7, Reason::STREAM_CLOSED),
            &reset(9, Reason::REFUSED_STREAM),
            &reset(11, Reason::FLOW_CONTROL_ERROR),
        ]
        .concat();
        for size in [1, 5, 10, 1000] {
            let mut resets = SentResets::default();
            let mut found = Vec::new();
            bytes.chunks(size).for_each(|piece| resets.sent(piece, |stream, _| found.push(stream)));
            assert_eq!(found, [3, 7, 11]);
        }
    }
}
