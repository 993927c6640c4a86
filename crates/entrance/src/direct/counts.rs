//! Counts the requests that instances get without a worker between, as workers count theirs: by
//! route, method, transport, status, and the slot of the instance's worker. The supervisor takes
//! what has been counted.

use std::cell::Cell;
use std::mem::take;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::settings::{Address, Instance};

/// `packages/busbar/src/shared/metrics/latency-buckets.ts` describes them.
pub const BUCKETS: usize = 101;
const FINENESS: u32 = 2;
const DOUBLINGS: u32 = 26;

/// As a worker: beyond so many, methods and routes are one edge of a service, and statuses a class.
const DETAILED_EDGES: usize = 96;
const DETAILED_OUTCOMES: usize = 384;
/// Beyond so many, slots are not distinguished.
const SLOT_OUTCOMES: usize = 256;
const OTHERS: &str = "*";

/// The methods that OpenTelemetry's conventions distinguish.
const METHODS: [&str; 10] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"];

pub struct Edge {
    pub service: String,
    /// A template, or the prefix of the gateway's route.
    pub route: String,
    pub method: &'static str,
    pub transport: &'static str,
    /// Requests that began, without those that ended, since the last time.
    pub open: i64,
    pub retries: u64,
    pub outcomes: Vec<Outcome>,
}

#[derive(Clone)]
pub struct Outcome {
    /// 0 without a complete response. A class (4 for 4xx) beyond the limit.
    pub status: u16,
    /// Of the worker that answered. `None`: none, or not distinguished.
    pub slot: Option<u32>,
    pub count: u64,
    pub sum: Duration,
    pub buckets: Vec<u32>,
}

#[derive(Default)]
pub struct Counts(Mutex<Vec<Edge>>);

impl Counts {
    /// The request begins.
    pub fn begin(&self, service: &str, route: &str, method: &[u8], instance: &Instance) -> Counted<'_> {
        let method = METHODS.into_iter().find(|known| known.as_bytes() == method).unwrap_or("_OTHER");
        let transport = if matches!(instance.address, Address::Private(_)) { "unix" } else { "tcp" };
        let mut edges = self.0.lock();
        let edge = find(&mut edges, service, route, method, transport);
        edges[edge].open += 1;
        let slot = Cell::new(instance.slot);
        Counted {
            counts: self,
            edge,
            began: Instant::now(),
            status: Cell::new(0),
            slot,
            is_withdrawn: Cell::new(false),
        }
    }

    /// What was counted since the last time.
    pub fn take(&self) -> Vec<Edge> {
        let mut edges = self.0.lock();
        edges.iter_mut().map(Edge::take).collect()
    }
}

fn find(edges: &mut Vec<Edge>, service: &str, route: &str, method: &'static str, transport: &'static str) -> usize {
    let (route, method) = if edges.len() < DETAILED_EDGES { (route, method) } else { known(edges, route, method) };
    let is_same = |edge: &Edge| {
        edge.method == method && edge.transport == transport && edge.service == service && edge.route == route
    };
    edges.iter().position(is_same).unwrap_or_else(|| {
        let (service, route) = (service.to_owned(), route.to_owned());
        edges.push(Edge { service, route, method, transport, open: 0, retries: 0, outcomes: Vec::new() });
        edges.len() - 1
    })
}

/// Those that are distinguished already stay so.
fn known<'a>(edges: &[Edge], route: &'a str, method: &'static str) -> (&'a str, &'static str) {
    let is_known = edges.iter().any(|edge| edge.method == method && edge.route == route);
    if is_known { (route, method) } else { ("", OTHERS) }
}

impl Edge {
    fn take(&mut self) -> Self {
        Self {
            service: self.service.clone(),
            route: self.route.clone(),
            open: take(&mut self.open),
            retries: take(&mut self.retries),
            outcomes: self.outcomes.iter_mut().filter(|outcome| outcome.count > 0).map(Outcome::take).collect(),
            ..*self
        }
    }

    /// `known`: how many outcomes all edges have.
    fn end(&mut self, status: u16, slot: Option<u32>, known: usize, duration: Duration) {
        let find = |status, slot| self.outcomes.iter().position(|one| (one.status, one.slot) == (status, slot));
        let slot = if known < SLOT_OUTCOMES || find(status, slot).is_some() { slot } else { None };
        let is_detailed = known < DETAILED_OUTCOMES || status < 100 || find(status, slot).is_some();
        let status = if is_detailed { status } else { status / 100 };
        let at = find(status, slot).unwrap_or_else(|| {
            let buckets = vec![0; BUCKETS];
            self.outcomes.push(Outcome { status, slot, count: 0, sum: Duration::ZERO, buckets });
            self.outcomes.len() - 1
        });
        let outcome = &mut self.outcomes[at];
        outcome.count += 1;
        outcome.sum += duration;
        outcome.buckets[bucket_of(duration)] += 1;
    }
}

impl Outcome {
    fn take(&mut self) -> Self {
        let taken = self.clone();
        (self.count, self.sum) = (0, Duration::ZERO);
        self.buckets.fill(0);
        taken
    }
}

/// A request that has begun. It ends when this is dropped: so does one whose client has left.
pub struct Counted<'a> {
    counts: &'a Counts,
    edge: usize,
    began: Instant,
    /// Of the response, once it has begun; 0 if it is not complete.
    status: Cell<u16>,
    /// Of the instance that has it.
    slot: Cell<Option<u32>>,
    is_withdrawn: Cell<bool>,
}

impl Counted<'_> {
    pub fn answered(&self, status: u16) {
        self.status.set(status);
    }

    /// The response is not complete. A failure is one anyway.
    pub fn cut(&self) {
        if self.status.get() < 500 {
            self.status.set(0);
        }
    }

    /// The entrance answers in place of an instance that has not had the request.
    pub fn refused(&self, status: u16) {
        self.status.set(status);
        self.slot.set(None);
    }

    pub fn retried(&self) {
        self.counts.0.lock()[self.edge].retries += 1;
    }

    /// A worker gets the request, and counts it.
    pub fn withdraw(&self) {
        self.is_withdrawn.set(true);
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let mut edges = self.counts.0.lock();
        let outcomes: usize = edges.iter().map(|edge| edge.outcomes.len()).sum();
        let edge = &mut edges[self.edge];
        edge.open -= 1;
        if !self.is_withdrawn.get() {
            edge.end(self.status.get(), self.slot.get(), outcomes, self.began.elapsed());
        }
    }
}

fn bucket_of(duration: Duration) -> usize {
    let microseconds = duration.as_nanos().div_ceil(1000);
    // The upper bound belongs to its bucket.
    let value = u32::try_from(microseconds.saturating_sub(1)).unwrap_or(u32::MAX);
    if value >= 1 << DOUBLINGS {
        return BUCKETS - 1;
    }
    if value < 1 << FINENESS {
        return value as usize;
    }
    let doubling = value.ilog2();
    let within = (value >> (doubling - FINENESS)) - (1 << FINENESS);
    ((doubling - FINENESS + 1) * (1 << FINENESS) + within) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private() -> Instance {
        Instance { address: Address::Private("/a".to_owned()), slot: Some(3) }
    }

    fn command() -> Instance {
        Instance { address: Address::Port("h".to_owned(), 1), slot: Some(4) }
    }

    fn seen(counts: &Counts) -> Vec<(String, u16, u64)> {
        let text = |edge: &Edge| format!("{} {} {} {}", edge.service, edge.method, edge.route, edge.transport);
        let outcomes =
            |edge: &Edge| -> Vec<_> { edge.outcomes.iter().map(|one| (text(edge), one.status, one.count)).collect() };
        counts.take().iter().flat_map(outcomes).collect()
    }

    #[test]
    fn a_request_counts_once_with_its_last_status() {
        let counts = Counts::default();
        let open = counts.begin("a", "/a", b"GET", &private());
        assert_eq!(counts.take()[0].open, 1);
        open.answered(200);
        drop(open);
        let taken = counts.take();
        assert_eq!((taken[0].open, taken[0].outcomes[0].buckets.iter().sum::<u32>()), (-1, 1));
        assert_eq!(seen(&counts), []);
        for (status, is_cut) in [(200, true), (500, true), (204, false)] {
            let counted = counts.begin("a", "/a", b"GET", &private());
            counted.answered(status);
            if is_cut {
                counted.cut();
            }
        }
        counts.begin("a", "/a", b"BREW", &command()).withdraw();
        drop(counts.begin("a", "/a", b"BREW", &command()));
        let edge = "a GET /a unix".to_owned();
        let other = "a _OTHER /a tcp".to_owned();
        assert_eq!(seen(&counts), [(edge.clone(), 0, 1), (edge.clone(), 500, 1), (edge, 204, 1), (other, 0, 1)]);
    }

    #[test]
    fn requests_count_for_the_slot_of_their_instance() {
        let counts = Counts::default();
        for instance in [private(), command(), private()] {
            counts.begin("a", "/a", b"GET", &instance).answered(200);
        }
        counts.begin("a", "/a", b"GET", &command()).refused(503);
        let slots =
            |edge: &Edge| -> Vec<_> { edge.outcomes.iter().map(|one| (one.status, one.slot, one.count)).collect() };
        let all: Vec<_> = counts.take().iter().flat_map(slots).collect();
        assert_eq!(all, [(200, Some(3), 2), (200, Some(4), 1), (503, None, 1)]);
    }

    #[test]
    fn beyond_the_limit_slots_are_counted_together() {
        let counts = Counts::default();
        for slot in 0..1000 {
            counts.begin("a", "/a", b"GET", &Instance { slot: Some(slot), ..private() }).answered(200);
        }
        counts.begin("a", "/a", b"GET", &private()).answered(200);
        let edges = counts.take();
        let outcomes = &edges[0].outcomes;
        assert_eq!(outcomes.len(), SLOT_OUTCOMES + 1);
        assert_eq!(outcomes.iter().map(|one| one.count).sum::<u64>(), 1001);
        assert_eq!((outcomes[3].count, outcomes[SLOT_OUTCOMES].slot), (2, None));
    }

    #[test]
    fn edges_and_statuses_are_limited() {
        let counts = Counts::default();
        for route in 0..1000 {
            drop(counts.begin("a", &format!("/{route}"), b"GET", &private()));
        }
        for status in 100..1000 {
            counts.begin("a", "/0", b"GET", &private()).answered(status);
        }
        let all = seen(&counts);
        assert_eq!(all.iter().map(|(_, _, count)| count).sum::<u64>(), 1900);
        assert!(all.len() <= DETAILED_OUTCOMES + 20, "{}", all.len());
        assert!(all.contains(&("a *  unix".to_owned(), 0, 1000 - DETAILED_EDGES as u64)));
    }

    #[test]
    fn buckets_are_those_of_the_workers() {
        let bucket = |microseconds| bucket_of(Duration::from_micros(microseconds));
        let all = [0, 1, 2, 4, 5, 8, 9, 10, 11, 1 << 26, (1 << 26) + 1].map(bucket);
        assert_eq!(all, [0, 0, 1, 3, 4, 7, 8, 8, 9, 99, 100]);
    }
}
