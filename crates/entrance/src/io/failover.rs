//! What becomes of a request whose worker dies or is late.

use std::sync::Arc;

use super::connection::{Connection, Phase};
use super::exchange::Exchange;
use super::thread::Io;
use crate::http1::refusal::Refusal;
use crate::stats::add;
use crate::worker::in_flight::InFlight;
use crate::worker::orphans::{Orphans, is_after};
use crate::worker::record::ExchangeId;
use crate::worker::{Form, Worker};

impl Connection {
    /// Another worker gets a request that was not begun, whatever its method. A begun request is
    /// repeated once if it is retriable.
    pub fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io) {
        self.met.retain(|worker| !Arc::ptr_eq(worker, dead));
        self.output.forget(dead);
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        if !Arc::ptr_eq(&exchange.worker, dead) {
            return;
        }
        let orphan = orphans.requests.get(&exchange.id).filter(|_| is_after(exchange.sequence, orphans.begun));
        if let Some(records) = orphan {
            let records = [records.as_slice(), &exchange.unsent].concat();
            exchange.unsent = Vec::new();
            self.move_to_another(records, io);
        } else if exchange.retriable && !exchange.sent_any {
            self.repeat(io);
        } else {
            self.refuse(Refusal::WorkerDied, io);
        }
        self.wake();
    }

    /// Moves a request whose worker is late and has not taken it. `records` are from that worker's
    /// inbox.
    pub fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io) {
        if matches!(&self.phase, Phase::Exchange(exchange) if exchange.id == id) {
            self.move_to_another(records, io);
            self.wake();
        }
    }

    /// A worker has come, or none is expected any more.
    pub fn review(&mut self, io: &Io) {
        match &mut self.phase {
            Phase::Exchange(exchange) if exchange.waiting_since.is_some() => {
                let records = std::mem::take(&mut exchange.unsent);
                self.move_to_another(records, io);
                self.wake();
            }
            Phase::Head if self.waiting_since.is_some() => self.wake(),
            _ => {}
        }
    }

    fn move_to_another(&mut self, records: Vec<u8>, io: &Io) {
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        match exchange.move_to_another(records, io) {
            Ok(Some(worker)) => {
                let credit = exchange.credit();
                self.output.credit_to(credit);
                self.met(&worker);
            }
            Ok(None) => {}
            Err(refusal) => {
                self.refuse(refusal, io);
            }
        }
    }

    /// Reads the head again, as if the client had sent it again.
    fn repeat(&mut self, io: &Io) {
        add(&io.entrance.stats.retried, 1);
        self.is_repeated = true;
        self.phase = Phase::Head;
        self.since = io.entrance.now();
        let head = std::mem::take(&mut self.retry);
        self.input.prepend(&head);
    }
}

impl Exchange {
    /// Returns the new worker. Undefined if there is none, and the request waits for one.
    pub(super) fn move_to_another(&mut self, records: Vec<u8>, io: &Io) -> Result<Option<Arc<Worker>>, Refusal> {
        let entrance = &io.entrance;
        let Some((worker, sequence)) = place(self.worker.form, &records, io) else {
            if entrance.has_worker() {
                return Err(Refusal::Overloaded);
            }
            if !entrance.expects_worker() {
                return Err(Refusal::NoWorker);
            }
            // The dead worker's inbox refuses what comes next, which then joins these records.
            self.unsent = records;
            self.waiting_since.get_or_insert(entrance.now());
            return Ok(None);
        };
        self.in_flight = InFlight::at(&worker);
        self.worker = worker.clone();
        self.sequence = sequence;
        self.waiting_since = None;
        add(&entrance.stats.moved, 1);
        io.wake_soon(&worker);
        Ok(Some(worker))
    }
}

fn place(form: Form, records: &[u8], io: &Io) -> Option<(Arc<Worker>, u32)> {
    let entrance = &io.entrance;
    let worker = entrance.registry.choose(entrance.now(), entrance.limits.max_in_flight)?;
    if worker.form != form {
        return None;
    }
    let sequence = worker.inbox.adopt(records).ok()?;
    Some((worker, sequence))
}
