//! Counts the streams of a connection that were reset before their response was complete.
//!
//! A reset by h2 shows twice: in the bytes that h2 sends, and in the stream's task, if it has one.
//! Either may come first. h2 reads and writes before it hands a new request over, so the reset of
//! a request that came whole is sent before its task begins.

use std::collections::VecDeque;

/// Streams that a client may reset before their response without any that it lets end
/// (CVE-2023-44487). Each complete response allows one more, and so does time: a client of gRPC
/// resets each call that is not answered before its deadline. Malformed requests, which h2 resets,
/// count as well: a proxy's connection may have one of a client now and then.
pub const MAX_RESETS: u32 = 100;
const PER_SECOND: u64 = 33;

#[derive(Default)]
pub struct Resets {
    count: u32,
    /// When time last allowed some, in milliseconds.
    since: u64,
    /// Those that h2 has sent, and whose task has said nothing.
    sent: Streams,
    /// Those that a task has noticed, and that h2 has not sent.
    noticed: Streams,
}

impl Resets {
    /// h2 sends a reset. There may be several of a stream, one for each frame behind its end.
    /// Returns true for the first one.
    pub fn sent(&mut self, stream: u32, now: u64) -> bool {
        if self.noticed.remove(stream) {
            return true;
        }
        let is_first = !self.sent.contains(stream);
        self.add(now);
        self.sent.insert(stream);
        is_first
    }

    /// The task of a stream has noticed that it was reset. Called once for a stream at most.
    pub fn noticed(&mut self, stream: u32, now: u64) {
        if !self.sent.remove(stream) {
            self.add(now);
            self.noticed.insert(stream);
        }
    }

    /// A response is complete.
    pub fn allow_one(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    pub fn are_flood(&self) -> bool {
        self.count > MAX_RESETS
    }

    fn add(&mut self, now: u64) {
        let more = now.saturating_sub(self.since) * PER_SECOND / 1000;
        // The rest of an interval counts with the next one.
        self.since += more * 1000 / PER_SECOND;
        self.count = self.count.saturating_sub(u32::try_from(more).unwrap_or(u32::MAX)) + 1;
    }
}

/// The latest streams. Most of them stay: no task sees most of the resets of h2, and h2 sends none
/// for the resets of a client.
#[derive(Default)]
struct Streams(VecDeque<u32>);

impl Streams {
    /// More than a connection may have at a time.
    const MAX: usize = 256;

    fn insert(&mut self, stream: u32) {
        if self.0.len() == Self::MAX {
            self.0.pop_front();
        }
        self.0.push_back(stream);
    }

    fn contains(&self, stream: u32) -> bool {
        self.0.contains(&stream)
    }

    fn remove(&mut self, stream: u32) -> bool {
        let place = self.0.iter().position(|&other| other == stream);
        place.and_then(|place| self.0.remove(place)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_a_second_are_no_flood_however_they_are_spaced() {
        let mut resets = Resets::default();
        for tenth in 0..1000 {
            for (place, offset) in [20, 60, 100].into_iter().enumerate() {
                resets.noticed(tenth * 3 + place as u32, u64::from(tenth) * 100 + offset);
                assert!(!resets.are_flood());
            }
        }
    }

    #[test]
    fn a_burst_is_a_flood() {
        let mut resets = Resets::default();
        for stream in 0..=MAX_RESETS {
            assert!(!resets.are_flood());
            resets.noticed(stream, 60_000);
        }
        assert!(resets.are_flood());
    }

    #[test]
    fn one_of_h2_counts_once_whoever_comes_first() {
        let mut resets = Resets::default();
        resets.sent(3, 60_000);
        resets.noticed(3, 60_000);
        assert_eq!(resets.count, 1);
        resets.noticed(5, 60_000);
        assert!(resets.sent(5, 60_000));
        assert_eq!(resets.count, 2);
        assert!(resets.sent(5, 60_000));
        assert!(!resets.sent(5, 60_000));
        assert_eq!(resets.count, 4);
    }

    #[test]
    fn the_memory_of_streams_is_bounded() {
        let mut resets = Resets::default();
        for stream in 0..1000 {
            resets.sent(stream, 60_000);
            resets.noticed(1000 + stream, 60_000);
        }
        assert_eq!([resets.sent.0.len(), resets.noticed.0.len()], [Streams::MAX; 2]);
    }
}
