//! Records for a worker. There are two areas of memory: the I/O threads write one, and the worker
//! reads the other. `take` swaps them.
//!
//! ```text
//!   I/O threads ──push──▶ [ filling ]    overflow ▒▒ (behind a full area, bounded)
//!                             ⇅ take
//!   the worker  ◀──reads── [ taken   ]
//! ```
//!
//! Rust owns the memory, so it outlives the worker's thread. A worker stores the sequence of each
//! request in a cell before it calls the handler. So when it dies, the areas still hold every
//! request that it has not begun, and another worker can get these.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::area::{AREA, Area, Cells};
use super::orphans::{Orphans, RequestCollector};
use super::record::{ExchangeId, Header, Records, WORDS, kind};

/// Limit for records that wait until an area has room. Windows bound the bodies, and
/// `max_in_flight` bounds the requests. This bounds the sum.
const MAX_OVERFLOW: usize = 64 * 1024 * 1024;
/// New requests are refused earlier, to leave room for the records of accepted ones.
const MAX_REQUEST_OVERFLOW: usize = 32 * 1024 * 1024;

pub struct Inbox {
    pub areas: [Arc<Area>; 2],
    pub cells: Arc<Cells>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    filling: usize,
    filled: usize,
    taken: usize,
    overflow: VecDeque<Vec<u8>>,
    overflow_bytes: usize,
    sequence: u32,
    closed: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum PushError {
    Full,
    /// The worker is dead.
    Closed,
}

impl Inbox {
    pub fn new() -> Self {
        Self {
            areas: [Area::new(AREA), Area::new(AREA)],
            cells: Arc::new(Cells::default()),
            state: Mutex::new(State::default()),
        }
    }

    /// Adds a record with `parts` after its header, padded at the end. Returns its sequence.
    pub fn push(&self, header: &Header, parts: &[&[u8]]) -> Result<u32, PushError> {
        let length = Header::record_length(parts);
        let mut state = self.state.lock();
        if state.closed {
            return Err(PushError::Closed);
        }
        let limit = if header.kind == kind::REQUEST { MAX_REQUEST_OVERFLOW } else { MAX_OVERFLOW };
        if state.overflow_bytes + length > limit {
            return Err(PushError::Full);
        }
        let sequence = state.sequence.wrapping_add(1);
        state.sequence = sequence;
        if state.overflow.is_empty() && state.filled + length <= AREA {
            let area = &self.areas[state.filling];
            // SAFETY: under the lock, no other thread uses the free part of the filling area.
            let target = unsafe { std::slice::from_raw_parts_mut(area.pointer().add(state.filled), length) };
            header.write(sequence, parts, target);
            state.filled += length;
        } else {
            let mut record = vec![0; length];
            header.write(sequence, parts, &mut record);
            state.overflow_bytes += length;
            state.overflow.push_back(record);
        }
        Ok(sequence)
    }

    /// Adds records from another inbox, with new sequences. Returns the sequence of the first.
    pub fn adopt(&self, records: &[u8]) -> Result<u32, PushError> {
        let mut first = None;
        for record in Records(records) {
            let sequence = self.push(&Header::of(record), &[&record[WORDS * 4..]])?;
            first.get_or_insert(sequence);
        }
        first.ok_or(PushError::Closed)
    }

    /// Called by the worker when it has processed its last batch. Returns the length of the next
    /// batch in the other area, and whether there is another one.
    pub fn take(&self) -> (usize, bool) {
        let mut state = self.state.lock();
        state.taken = state.filled;
        state.filling = 1 - state.filling;
        state.filled = 0;
        while let Some(record) = state.overflow.front() {
            let length = record.len();
            if state.filled + length > AREA {
                break;
            }
            let area = &self.areas[state.filling];
            // SAFETY: as in `push`. The worker has released this area.
            let target = unsafe { std::slice::from_raw_parts_mut(area.pointer().add(state.filled), length) };
            target.copy_from_slice(record);
            state.filled += length;
            state.overflow_bytes -= length;
            state.overflow.pop_front();
        }
        (state.taken, state.filled > 0)
    }

    /// Removes and returns the requests of an I/O thread that the worker has not taken, with all
    /// their records. Only that thread adds records of these requests, so none can follow
    /// meanwhile.
    pub fn reclaim(&self, thread: u8) -> HashMap<ExchangeId, Vec<u8>> {
        let mut state = self.state.lock();
        let mut left = RequestCollector::default();
        let area = &self.areas[state.filling];
        // SAFETY: under the lock, no other thread uses the filling area.
        let filled = unsafe { std::slice::from_raw_parts_mut(area.pointer(), state.filled) };
        let (mut from, mut to) = (0, 0);
        while let Some(length) = Records(&filled[from..]).next().map(<[u8]>::len) {
            if !left.reclaim(&filled[from..from + length], thread) {
                filled.copy_within(from..from + length, to);
                to += length;
            }
            from += length;
        }
        state.filled = to;
        state.overflow.retain(|record| !left.reclaim(record, thread));
        state.overflow_bytes = state.overflow.iter().map(Vec::len).sum();
        left.requests
    }

    /// Called once, when the worker's thread no longer runs. Later pushes fail.
    pub fn close(&self) -> Orphans {
        let mut state = self.state.lock();
        state.closed = true;
        let begun = self.cells.begun.load(Ordering::Acquire);
        // SAFETY: the worker does not run, and the lock excludes the I/O threads.
        let (taken, filled) = unsafe {
            (self.areas[1 - state.filling].bytes(state.taken), self.areas[state.filling].bytes(state.filled))
        };
        let mut left = RequestCollector::after(begun);
        left.look(taken);
        left.look(filled);
        for record in std::mem::take(&mut state.overflow) {
            left.look(&record);
        }
        // A thread that still knows the worker as late may reclaim after this.
        (state.taken, state.filled, state.overflow_bytes) = (0, 0, 0);
        Orphans { begun, requests: left.requests }
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::record::{kind_of, word};

    fn header(kind: u8, slot: u32) -> Header {
        Header { kind, flags: 0, id: ExchangeId { thread: 1, slot, epoch: 7 }, connection: 3, lengths: [0, 0] }
    }

    /// Returns kind, slot and payload of each record that a worker would get.
    fn taken(inbox: &Inbox, area: usize) -> (Vec<(u8, u32, Vec<u8>)>, bool) {
        let (length, more) = inbox.take();
        // SAFETY: the test is the worker.
        let bytes = unsafe { inbox.areas[area].bytes(length) };
        let records = Records(bytes).map(|record| (kind_of(record), word(record, 3), record[32..].to_vec()));
        (records.collect(), more)
    }

    #[test]
    fn all_that_was_pushed_is_taken_in_its_order() {
        let inbox = Inbox::new();
        inbox.push(&header(kind::REQUEST, 1), &[b"abc", b"d"]).unwrap();
        inbox.push(&header(kind::BODY, 1), &[b"xyz"]).unwrap();
        let (records, more) = taken(&inbox, 0);
        assert_eq!(records, [(kind::REQUEST, 1, b"abcd".to_vec()), (kind::BODY, 1, b"xyz\0".to_vec())]);
        assert!(!more);
        inbox.push(&header(kind::CLOSED, 2), &[]).unwrap();
        assert_eq!(taken(&inbox, 1).0, [(kind::CLOSED, 2, Vec::new())]);
        assert_eq!(taken(&inbox, 0).0, []);
    }

    #[test]
    fn what_does_not_fit_waits_and_is_bounded() {
        let inbox = Inbox::new();
        let piece = vec![1; 60_000];
        let mut pushed = 0;
        while inbox.push(&header(kind::REQUEST, pushed), &[&piece]).is_ok() {
            pushed += 1;
        }
        assert!(pushed as usize * piece.len() < AREA + MAX_REQUEST_OVERFLOW);
        assert_eq!(inbox.push(&header(kind::REQUEST, 0), &[&piece]), Err(PushError::Full));
        inbox.push(&header(kind::BODY, pushed), &[&piece]).unwrap();
        let (mut seen, mut area) = (Vec::new(), 0);
        loop {
            let (records, more) = taken(&inbox, area);
            seen.extend(records.iter().map(|record| record.1));
            area = 1 - area;
            if !more {
                break;
            }
        }
        assert_eq!(seen, (0..=pushed).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_not_begun_goes_to_another() {
        let (inbox, other) = (Inbox::new(), Inbox::new());
        let first = inbox.push(&header(kind::REQUEST, 1), &[b"a"]).unwrap();
        inbox.push(&header(kind::REQUEST, 2), &[b"b"]).unwrap();
        inbox.push(&header(kind::BODY, 1), &[b"of 1"]).unwrap();
        taken(&inbox, 0);
        inbox.cells.begun.store(first, Ordering::Release);
        inbox.push(&header(kind::BODY, 2), &[b"of 2"]).unwrap();
        inbox.push(&header(kind::REQUEST, 3), &[b"c"]).unwrap();
        let orphans = inbox.close();
        let mut slots: Vec<_> = orphans.requests.keys().map(|id| id.slot).collect();
        slots.sort_unstable();
        assert_eq!(slots, [2, 3]);
        assert_eq!(inbox.push(&header(kind::REQUEST, 4), &[]), Err(PushError::Closed));
        assert!(inbox.reclaim(1).is_empty());
        assert!(inbox.close().requests.is_empty());
        for slot in slots {
            other.adopt(&orphans.requests[&header(0, slot).id]).unwrap();
        }
        let records = taken(&other, 0).0;
        assert_eq!(records.len(), 3);
        assert_eq!(records[1], (kind::BODY, 2, b"of 2".to_vec()));
    }

    #[test]
    fn what_was_not_taken_can_be_had_back() {
        let inbox = Inbox::new();
        inbox.push(&header(kind::REQUEST, 1), &[b"a"]).unwrap();
        taken(&inbox, 0);
        inbox.push(&header(kind::BODY, 1), &[b"of 1"]).unwrap();
        inbox.push(&header(kind::REQUEST, 2), &[b"b"]).unwrap();
        inbox.push(&header(kind::BODY, 2), &[b"of 2"]).unwrap();
        inbox.push(&header(kind::CREDIT, 1), &[]).unwrap();
        assert!(inbox.reclaim(0).is_empty());
        let requests = inbox.reclaim(1);
        assert_eq!(requests.keys().map(|id| id.slot).collect::<Vec<_>>(), [2]);
        assert_eq!(Records(&requests[&header(0, 2).id]).count(), 2);
        assert_eq!(taken(&inbox, 1).0, [(kind::BODY, 1, b"of 1".to_vec()), (kind::CREDIT, 1, Vec::new())]);
    }

    #[test]
    fn many_threads_lose_nothing() {
        let inbox = Arc::new(Inbox::new());
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let inbox = inbox.clone();
                std::thread::spawn(move || {
                    for number in 0..5_000u32 {
                        let body = vec![thread as u8; (number % 700) as usize];
                        while inbox.push(&header(kind::BODY, thread * 10_000 + number), &[&body]).is_err() {
                            std::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        let (mut next, mut area, mut seen) = ([0; 4], 0, 0);
        while seen < 20_000 {
            for (_, slot, _) in taken(&inbox, area).0 {
                let (thread, number) = ((slot / 10_000) as usize, slot % 10_000);
                assert_eq!(number, next[thread]);
                next[thread] += 1;
                seen += 1;
            }
            area = 1 - area;
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
