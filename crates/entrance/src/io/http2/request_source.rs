//! A stream as a source of requests: time limits, and workers that die.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::stream::{Http2Stream, State};
use crate::http1::refusal::Refusal;
use crate::io::exchange::AfterDeath;
use crate::io::shared::{Io, RequestSource};
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::orphans::Orphans;
use crate::worker::record::{ExchangeId, Header, kind};

impl Http2Stream {
    fn move_to_another(&mut self, records: Vec<u8>, io: &Io) {
        let State::Exchange(exchange) = &mut self.state else { return };
        match exchange.move_to_another(records, io) {
            Ok(Some(worker)) => self.meet(&worker),
            Ok(None) => {}
            Err(refusal) => self.refuse(refusal, io),
        }
        self.wake();
    }
}

impl RequestSource for Http2Stream {
    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        self.progress(context, io)
    }

    fn reply(&mut self, record: &[u8], io: &Io) {
        self.on_reply(record, io);
    }

    fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io) {
        self.met.retain(|worker| !Arc::ptr_eq(worker, dead));
        let State::Exchange(exchange) = &mut self.state else { return };
        match exchange.after_death(dead, orphans) {
            AfterDeath::Nothing => {}
            AfterDeath::Move(records) => self.move_to_another(records, io),
            AfterDeath::Repeat => {
                add(&io.entrance.stats.retried, 1);
                self.is_repeated = true;
                self.offer(io);
            }
            AfterDeath::Refuse => self.refuse(Refusal::WorkerDied, io),
        }
    }

    fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io) {
        if matches!(&self.state, State::Exchange(exchange) if exchange.id == id) {
            self.move_to_another(records, io);
        }
    }

    fn review(&mut self, io: &Io) {
        match &mut self.state {
            State::Waiting(_) => self.offer(io),
            State::Exchange(exchange) if exchange.waiting_since.is_some() => {
                let records = std::mem::take(&mut exchange.unsent);
                self.move_to_another(records, io);
            }
            _ => {}
        }
    }

    fn look_at_clock(&mut self, now: u64, io: &Io) {
        let limits = &io.entrance.limits;
        if self.response.stalled_for(now) > limits.send_timeout.as_millis() as u64 {
            self.response.reset();
            self.state = State::Over;
            return self.wake();
        }
        let waiting_since = match &self.state {
            State::Waiting(since) => Some(*since),
            State::Exchange(exchange) => exchange.waiting_since,
            State::Over | State::Closed => None,
        };
        if waiting_since.is_some_and(|since| io.has_waited(since, now)) {
            return self.refuse(Refusal::NoWorker, io);
        }
        let limit = limits.request_timeout.as_millis() as u64;
        let State::Exchange(exchange) = &self.state else { return };
        if limit > 0 && self.has_body() && now.saturating_sub(exchange.request_since) > limit {
            self.refuse(Refusal::BodyTimeout, io);
        }
    }

    fn cut(&mut self) {
        self.state = State::Closed;
        self.wake();
    }

    fn closed(&mut self, io: &Io) {
        self.state = State::Closed;
        let id = ExchangeId { thread: io.number, slot: self.slot, epoch: 0 };
        for worker in std::mem::take(&mut self.met) {
            let header = Header { kind: kind::CLOSED, flags: 0, id, connection: self.number, lengths: [0, 0] };
            if worker.inbox.push(&header, &[]).is_ok() {
                io.wake_soon(&worker);
            }
        }
    }
}
