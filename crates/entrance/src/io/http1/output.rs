//! Bytes that wait for the client, and the exchange that learns about those that were sent.

use std::sync::Arc;
use std::time::Duration;

use super::buffer::Buffer;
use crate::io::exchange::Exchange;
use crate::worker::Worker;
use crate::worker::record::ExchangeId;

#[derive(Default)]
pub(super) struct Output {
    pub pending: Buffer,
    /// When bytes were last sent.
    pub since: u64,
    pub credit: Option<Credit>,
    pub uncredited: usize,
}

/// The exchange that learns about sent bytes: the last one, even after its end.
pub(super) struct Credit {
    pub worker: Arc<Worker>,
    pub id: ExchangeId,
}

impl Output {
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn is_stalled(&self, now: u64, limit: Duration) -> bool {
        now.saturating_sub(self.since) > limit.as_millis() as u64
    }

    pub fn credit_to(&mut self, exchange: &Exchange) {
        self.credit = Some(Credit { worker: exchange.worker.clone(), id: exchange.id });
        self.uncredited = 0;
    }

    /// Releases the memory of a dead worker, which the connection would hold otherwise.
    pub fn forget(&mut self, dead: &Arc<Worker>) {
        if self.credit.as_ref().is_some_and(|credit| Arc::ptr_eq(&credit.worker, dead)) {
            self.credit = None;
        }
    }
}
