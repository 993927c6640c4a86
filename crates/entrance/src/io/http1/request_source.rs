//! A connection as a source of requests: time limits, and workers that die.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::connection::{Connection, Phase};
use crate::http1::refusal::Refusal;
use crate::io::exchange::{AfterDeath, Body};
use crate::io::shared::{Io, RequestSource};
use crate::limits::LINGER;
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::orphans::Orphans;
use crate::worker::record::ExchangeId;

/// Milliseconds without progress of a response after the client has closed its half. A client that
/// has disappeared looks the same.
const HALF_CLOSED_TIMEOUT: u64 = 5_000;

impl RequestSource for Connection {
    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        self.progress(context, io)
    }

    fn reply(&mut self, record: &[u8], io: &Io) {
        self.on_reply(record, io);
    }

    fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io) {
        self.met.retain(|worker| !Arc::ptr_eq(worker, dead));
        self.output.forget(dead);
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        match exchange.after_death(dead, orphans) {
            AfterDeath::Nothing => return,
            AfterDeath::Move(records) => self.move_to_another(records, io),
            AfterDeath::Repeat => self.repeat(io),
            AfterDeath::Refuse => {
                self.refuse(Refusal::WorkerDied, io);
            }
        }
        self.wake();
    }

    fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io) {
        if matches!(&self.phase, Phase::Exchange(exchange) if exchange.id == id) {
            self.move_to_another(records, io);
            self.wake();
        }
    }

    fn review(&mut self, io: &Io) {
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

    fn look_at_clock(&mut self, now: u64, io: &Io) {
        let limits = &io.entrance.limits;
        let waited = now.saturating_sub(self.since);
        let has_output = !self.output.is_empty() || self.stream.has_unsent();
        if has_output && self.output.is_stalled(now, limits.send_timeout) {
            return self.cut();
        }
        let exceeds = |limit: Duration| waited > limit.as_millis() as u64;
        match &self.phase {
            Phase::Head if self.waiting_since.is_some_and(|since| io.has_waited(since, now)) => {
                self.refuse(Refusal::NoWorker, io);
            }
            Phase::Head if self.waiting_since.is_some() => {}
            // As in Node, a client that sends nothing has as long as for a head.
            Phase::Head if self.input.is_empty() && !self.has_begun() && exceeds(limits.head_timeout) => {
                self.refuse(Refusal::HeadTimeout, io);
            }
            Phase::Head if self.input.is_empty() && (exceeds(limits.idle_timeout) || io.drains(self.since, now)) => {
                self.end();
            }
            Phase::Head if !self.input.is_empty() && exceeds(limits.head_timeout) => {
                self.refuse(Refusal::HeadTimeout, io);
            }
            Phase::Exchange(exchange) if exchange.waiting_since.is_some_and(|since| io.has_waited(since, now)) => {
                self.refuse(Refusal::NoWorker, io);
            }
            Phase::Exchange(exchange) => {
                let limit = limits.request_timeout.as_millis() as u64;
                let arrived = matches!(exchange.body, Body::Done | Body::Raw);
                if !arrived && limit > 0 && now.saturating_sub(exchange.request_since) > limit {
                    self.refuse(Refusal::BodyTimeout, io);
                } else if self.client_ended
                    && !(exchange.upgrade && exchange.response.is_switched())
                    && waited > HALF_CLOSED_TIMEOUT
                {
                    self.cut();
                }
            }
            Phase::Lingering(_) if exceeds(LINGER) => self.cut(),
            _ => {}
        }
    }

    fn cut(&mut self) {
        self.cut();
    }

    fn closed(&mut self, io: &Io) {
        self.leave_workers(io);
    }
}

impl Connection {
    fn move_to_another(&mut self, records: Vec<u8>, io: &Io) {
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        match exchange.move_to_another(records, io) {
            Ok(Some(worker)) => {
                self.output.credit_to(exchange);
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
