//! Batches from the workers to one I/O thread. The thread is woken once for all batches that it has
//! not taken.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::record::{Records, word};

/// Memory that an empty batch keeps, in bytes.
const KEPT: usize = 4 * 1024 * 1024;

#[derive(Default)]
pub struct Outbox {
    batches: Mutex<Vec<u8>>,
    notify: Notify,
    /// The thread has ended, and takes nothing any more.
    closed: AtomicBool,
}

impl Outbox {
    pub fn push(&self, records: &[u8]) {
        if self.is_closed() {
            return;
        }
        self.batches.lock().extend_from_slice(records);
        self.notify.notify_one();
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub fn wake(&self) {
        self.notify.notify_one();
    }

    pub async fn notified(&self) {
        self.notify.notified().await;
    }

    /// Swaps the batches with `empty`, so that its memory is reused for the next ones.
    pub fn take(&self, empty: &mut Vec<u8>) {
        std::mem::swap(&mut *self.batches.lock(), empty);
    }
}

/// Empties a batch that was handled. Responses to a thousand clients in one turn of a worker may
/// have made it large.
pub fn empty(batch: &mut Vec<u8>) {
    batch.clear();
    batch.shrink_to(KEPT);
}

/// Gives each I/O thread the records of its connections. Everything after a malformed record is
/// dropped.
pub fn distribute(batch: &[u8], outboxes: &[&Outbox]) {
    if let [outbox] = outboxes {
        return outbox.push(batch);
    }
    let mut parts: Vec<Vec<u8>> = vec![Vec::new(); outboxes.len()];
    for record in Records(batch) {
        let thread = (word(record, 1) >> 8) as u8 as usize;
        if let Some(part) = parts.get_mut(thread) {
            part.extend_from_slice(record);
        }
    }
    for (outbox, part) in outboxes.iter().zip(parts) {
        if !part.is_empty() {
            outbox.push(&part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(thread: u32, slot: u32) -> Vec<u8> {
        [20, 1 | thread << 8, slot, 0, 0u32].iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn slots(outbox: &Outbox) -> Vec<u32> {
        let mut batch = Vec::new();
        outbox.take(&mut batch);
        Records(&batch).map(|record| word(record, 2)).collect()
    }

    #[test]
    fn the_memory_of_a_large_batch_is_released() {
        let outbox = Outbox::default();
        outbox.push(&vec![0; 2 * KEPT]);
        let mut batch = Vec::new();
        outbox.take(&mut batch);
        assert_eq!(batch.len(), 2 * KEPT);
        empty(&mut batch);
        assert!(batch.is_empty() && batch.capacity() <= KEPT);
    }

    #[test]
    fn each_thread_gets_its_own() {
        let (one, two) = (Outbox::default(), Outbox::default());
        let batch = [record(0, 1), record(1, 2), record(0, 3), record(9, 4), vec![1, 2, 3]].concat();
        distribute(&batch, &[&one, &two]);
        assert_eq!(slots(&one), [1, 3]);
        assert_eq!(slots(&two), [2]);
        distribute(&record(0, 5), &[&one]);
        assert_eq!(slots(&one), [5]);
    }
}
