//! The list of workers, and the choice of one for each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use super::Worker;

/// Late, not to get this request, requests in flight: the least is chosen.
type Rank = (bool, bool, u32);

#[derive(Default)]
pub struct Registry {
    workers: RwLock<Vec<Arc<Worker>>>,
    turn: AtomicUsize,
}

impl Registry {
    pub fn add(&self, worker: Arc<Worker>) {
        self.workers.write().push(worker);
    }

    pub fn remove(&self, worker: &Arc<Worker>) {
        self.workers.write().retain(|other| !Arc::ptr_eq(other, worker));
    }

    pub fn all(&self) -> Vec<Arc<Worker>> {
        self.workers.read().clone()
    }

    /// Chooses the worker with the fewest requests in flight. Late workers, and those that have
    /// just started and do not get this request, are chosen only if there is no other. Workers
    /// with equal load take turns.
    pub fn choose(&self, now: u64, max_in_flight: u32) -> Option<Arc<Worker>> {
        let workers = self.workers.read();
        let first = if workers.len() > 1 { self.turn.fetch_add(1, Ordering::Relaxed) } else { 0 };
        // By the golden ratio, turns that follow each other are spread evenly (Weyl).
        let spread = (first as u32).wrapping_mul(0x9e37_79b9);
        let mut best: Option<(Rank, &Arc<Worker>)> = None;
        for at in 0..workers.len() {
            let worker = &workers[(first.wrapping_add(at)) % workers.len()];
            let load = worker.load();
            if !worker.takes_requests() || load >= max_in_flight {
                continue;
            }
            let rank = (worker.is_late(now), !worker.admits(now, spread), load);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, worker));
            }
        }
        best.map(|(_, worker)| worker.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Form, LATE};
    use super::*;

    fn registry(loads: &[u32]) -> (Registry, Vec<Arc<Worker>>) {
        let registry = Registry::default();
        for (number, &load) in loads.iter().enumerate() {
            let worker = Worker::new(number as u32, Form::Text, Box::new(|| {}));
            worker.in_flight.store(load, Ordering::Relaxed);
            registry.add(worker);
        }
        let all = registry.all();
        (registry, all)
    }

    #[test]
    fn the_least_busy_one_is_chosen() {
        let (registry, _) = registry(&[3, 1, 2]);
        assert_eq!(registry.choose(0, 10).unwrap().number, 1);
    }

    #[test]
    fn equals_take_turns() {
        let (registry, _) = registry(&[1, 1]);
        let chosen: Vec<_> = (0..4).map(|_| registry.choose(0, 10).unwrap().number).collect();
        assert_eq!(chosen, [0, 1, 0, 1]);
    }

    #[test]
    fn one_that_starts_slowly_gets_a_growing_share() {
        let (registry, all) = registry(&[0, 0]);
        all[1].start_slowly(1000, 1000);
        let share = |now| (0..1000).filter(|_| registry.choose(now, 10).unwrap().number == 1).count();
        assert_eq!(share(1000), 0);
        // Of those that it may get, the other one gets half.
        assert!((100..150).contains(&share(1250)));
        assert!((225..275).contains(&share(1500)));
        assert_eq!(share(2000), 500);
        all[0].drain();
        assert_eq!(share(1000), 1000);
    }

    #[test]
    fn late_paused_draining_and_dead_ones_are_passed_over() {
        let (registry, all) = registry(&[1, 2, 3, 0]);
        assert!(all[0].notify(1000));
        assert!(!all[0].notify(1001));
        all[3].drain();
        all[1].pause(true);
        assert_eq!(registry.choose(1001 + LATE, 10).unwrap().number, 2);
        all[1].pause(false);
        assert_eq!(registry.choose(1000 + LATE, 10).unwrap().number, 0);
        assert_eq!(registry.choose(1001 + LATE, 10).unwrap().number, 1);
        all[1].die();
        assert_eq!(registry.choose(2000, 10).unwrap().number, 2);
        all[2].die();
        assert_eq!(registry.choose(2000, 10).unwrap().number, 0);
        all[0].came();
        assert!(registry.choose(2000, 1).is_none());
    }
}
