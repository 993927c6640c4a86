//! Checks all connections of a thread periodically. A timer per connection would cost each request,
//! and no limit needs more accuracy than a quarter of a second. It also checks the workers: other
//! workers get what a late one has not taken.

use std::rc::Rc;
use std::time::Duration;

use super::shared::Io;

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
