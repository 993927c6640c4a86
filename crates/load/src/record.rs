//! Counts answers, and records latencies in histograms.

use crate::check::Mismatch;
use crate::pace::Nanos;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Failure {
    /// The answer was complete, but not the expected one.
    Mismatch(Mismatch),
    /// No answer within `timeoutMs`.
    Timeout,
    /// The connection was reset.
    Reset,
    /// The connection ended before the answer began.
    Closed,
    /// The connection ended within the answer.
    Truncated,
    /// The answer was not one of the job's protocol.
    Malformed,
    /// HTTP/2: the server reset the stream.
    StreamReset,
    /// HTTP/2: the server ended the connection by GOAWAY, and did not handle the request.
    GoAway,
    /// TLS failed, or reading or writing failed for another reason.
    Broken,
}

/// Microseconds from 1 to an hour, with three significant digits.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constants that the library allows")
}

/// One tick of 100 ms.
pub struct Tick {
    pub done: u64,
    pub failed: u64,
    pub bytes: u64,
    pub latency: Histogram<u64>,
}

pub struct Record {
    /// Earlier answers are checked, not counted.
    discard: Nanos,
    /// End of new requests. Later answers do not count as throughput. None: after the last answer.
    end: Option<Nanos>,
    pub done: u64,
    pub bytes: u64,
    pub latency: Histogram<u64>,
    /// Time from due to written, which is the generator's own delay. Open loop only.
    pub pacing: Histogram<u64>,
    /// Open loop: requests that found all connections busy, so that the server delayed them.
    pub queued: u64,
    /// Due requests that never got a connection.
    pub unsent: u64,
    /// In flight after the grace period. They are in `latency` with the time waited.
    pub unfinished: u64,
    /// Answered in the grace period.
    pub late: u64,
    pub statuses: BTreeMap<u16, u64>,
    pub failures: BTreeMap<Failure, u64>,
    pub connects: u64,
    pub connect_failures: u64,
    pub first_problem: Option<String>,
    pub tick: Tick,
}

impl Record {
    pub fn new(discard: Nanos, end: Option<Nanos>) -> Self {
        Record {
            discard,
            end,
            done: 0,
            bytes: 0,
            latency: new_histogram(),
            pacing: new_histogram(),
            queued: 0,
            unsent: 0,
            unfinished: 0,
            late: 0,
            statuses: BTreeMap::new(),
            failures: BTreeMap::new(),
            connects: 0,
            connect_failures: 0,
            first_problem: None,
            tick: Tick { done: 0, failed: 0, bytes: 0, latency: new_histogram() },
        }
    }

    /// A good answer. `from`: start of its latency.
    pub fn answered(&mut self, from: Nanos, now: Nanos, bytes: usize, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
        let micros = micros(now - from);
        self.tick.done += 1;
        self.tick.bytes += bytes as u64;
        self.tick.latency.saturating_record(micros);
        if now < self.discard {
            return;
        }
        if self.end.is_some_and(|end| now > end) {
            self.late += 1;
        } else {
            self.done += 1;
            self.bytes += bytes as u64;
        }
        self.latency.saturating_record(micros);
    }

    /// A failed request. Counted from the start of the job, with its latency.
    pub fn failed(
        &mut self,
        failure: Failure,
        from: Nanos,
        now: Nanos,
        status: Option<u16>,
        what: impl FnOnce() -> String,
    ) {
        if let Some(status) = status {
            *self.statuses.entry(status).or_default() += 1;
        }
        *self.failures.entry(failure).or_default() += 1;
        self.tick.failed += 1;
        if now >= self.discard {
            self.latency.saturating_record(micros(now - from));
        }
        if self.first_problem.is_none() {
            self.first_problem = Some(what());
        }
    }

    /// Unanswered at the end of the job: the latency is at least this long.
    pub fn unfinished(&mut self, from: Nanos, now: Nanos, was_sent: bool) {
        if was_sent {
            self.unfinished += 1;
        } else {
            self.unsent += 1;
        }
        self.latency.saturating_record(micros(now.saturating_sub(from)));
    }

    pub fn paced(&mut self, due: Nanos, sent: Nanos) {
        if due >= self.discard {
            self.pacing.saturating_record(micros(sent - due));
        }
    }

    pub fn connect_failed(&mut self, what: impl FnOnce() -> String) {
        self.connect_failures += 1;
        self.tick.failed += 1;
        if self.first_problem.is_none() {
            self.first_problem = Some(what());
        }
    }

    pub fn total_failed(&self) -> u64 {
        self.failures.values().sum::<u64>()
    }
}

/// Rounded up, so that it is never 0.
fn micros(nanos: Nanos) -> u64 {
    nanos.div_ceil(1000).max(1)
}
