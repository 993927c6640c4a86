//! How long requests wait until a worker calls their handler.
//!
//! A request's record has the time of its arrival. The worker counts its wait in cells of its own,
//! with plain stores: one for each bound, one for longer ones, and one for the sum. They wrap
//! around, so the entrance adds up their differences, often enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Worker;
use super::area::TIMES;

/// Upper bounds in milliseconds. `packages/busbar/src/shared/entrance/entrance.ts` has the same.
pub const BOUNDS: [u64; TIMES - 2] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];
/// Units of the sum in a millisecond.
pub const SUM_UNITS: u64 = 10;

#[derive(Default)]
pub struct QueueTimes {
    totals: [AtomicU64; TIMES],
}

impl QueueTimes {
    pub fn collect(&self, workers: &[Arc<Worker>]) {
        for worker in workers {
            let mut seen = worker.seen_times.lock();
            for (at, cell) in worker.inbox.cells.times.iter().enumerate() {
                let now = cell.load(Ordering::Relaxed);
                let more = now.wrapping_sub(std::mem::replace(&mut seen[at], now));
                if more > 0 {
                    self.totals[at].fetch_add(u64::from(more), Ordering::Relaxed);
                }
            }
        }
    }

    /// The number up to each bound, then of longer ones, then the sum in units.
    pub fn totals(&self) -> [u64; TIMES] {
        self.totals.each_ref().map(|total| total.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::Form;

    #[test]
    fn cells_that_wrap_around_are_added_up() {
        let times = QueueTimes::default();
        let worker = Worker::new(0, Form::Text, Box::new(|| {}));
        for value in [10, u32::MAX - 5, 4] {
            worker.inbox.cells.times[1].store(value, Ordering::Relaxed);
            times.collect(std::slice::from_ref(&worker));
            times.collect(std::slice::from_ref(&worker));
        }
        assert_eq!(times.totals()[1], (1 << 32) + 4);
        assert_eq!(times.totals()[0], 0);
    }
}
