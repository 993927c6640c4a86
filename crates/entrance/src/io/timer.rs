//! Checks all connections of a thread periodically. A timer per connection would cost each request,
//! and no limit needs more accuracy than a quarter of a second. It also checks the workers: other
//! workers get what a late one has not taken.

use std::rc::Rc;
use std::time::Duration;

use super::connection::{Connection, Phase};
use super::exchange::Body;
use super::thread::Io;
use crate::http1::refusal::Refusal;
use crate::limits::LINGER;

const PERIOD: Duration = Duration::from_millis(50);
/// Connections are checked once in this many periods.
const CONNECTIONS: u32 = 5;

pub async fn run(io: Rc<Io>) {
    let mut turn = 0;
    loop {
        tokio::time::sleep(PERIOD).await;
        let now = io.entrance.now();
        io.guard(|| relieve_late_workers(&io, now));
        turn = (turn + 1) % CONNECTIONS;
        if turn == 0 {
            io.guard(|| io.each(|source| source.look_at_clock(now, &io)));
            io.entrance.queue_times.collect(&io.entrance.registry.all());
        }
    }
}

/// Moves requests from a busy worker to others that can answer them.
fn relieve_late_workers(io: &Io, now: u64) {
    if io.entrance.limits.pin_connections {
        return;
    }
    let workers = io.entrance.registry.all();
    if !workers.iter().any(|worker| worker.takes_requests() && !worker.is_late(now)) {
        return;
    }
    for worker in workers.iter().filter(|worker| worker.is_late(now)) {
        for (id, records) in worker.inbox.reclaim(io.number) {
            io.with(id.slot, |source| source.move_away(id, records.clone(), io));
        }
    }
}

/// Milliseconds without progress of a response after the client has closed its half. A client that
/// has disappeared looks the same.
const HALF_CLOSED_PATIENCE: u64 = 5_000;

impl Connection {
    pub fn look_at_clock(&mut self, now: u64, io: &Io) {
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
                } else if self.client_ended && !exchange.response.is_switched() && waited > HALF_CLOSED_PATIENCE {
                    self.cut();
                }
            }
            Phase::Lingering(_) if exceeds(LINGER) => self.cut(),
            _ => {}
        }
    }
}
