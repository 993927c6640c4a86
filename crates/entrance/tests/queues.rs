//! Threads that push, workers that take, die and are late: each request is begun exactly once.
//! `ENTRANCE_STRESS_SECONDS` makes it longer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use busbar_entrance::worker::inbox::PushError;
use busbar_entrance::worker::record::{ExchangeId, Header, Records, id_of, kind, kind_of, word};
use busbar_entrance::worker::{Form, Worker};

const PUSHERS: u8 = 3;
const WORKERS: usize = 3;

#[derive(Default)]
struct Stage {
    workers: RwLock<Vec<Arc<Worker>>>,
    numbers: AtomicU32,
    begun: Mutex<HashMap<ExchangeId, u32>>,
    pushed: AtomicUsize,
    deaths: AtomicUsize,
    moved: AtomicUsize,
    all_begun: AtomicUsize,
    is_over: AtomicBool,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

impl Stage {
    fn add_worker(&self) -> Arc<Worker> {
        let worker = Worker::new(self.numbers.fetch_add(1, Ordering::Relaxed), Form::Text, Box::new(|| {}));
        self.workers.write().unwrap().push(worker.clone());
        worker
    }

    fn any(&self, random: &mut Random) -> Arc<Worker> {
        let workers = self.workers.read().unwrap();
        workers[random.below(workers.len() as u64) as usize].clone()
    }

    /// Gives the records of a request to some worker.
    fn adopt(&self, records: &[u8], random: &mut Random) {
        self.moved.fetch_add(1, Ordering::Relaxed);
        while self.any(random).inbox.adopt(records).is_err() {
            std::thread::yield_now();
        }
    }

    fn push(&self, thread: u8, until: Instant, seed: u64) {
        let mut random = Random(seed);
        for number in 0.. {
            if Instant::now() > until {
                return;
            }
            let id = ExchangeId { thread, slot: number % 1000, epoch: number };
            let body = vec![7; random.below(3_000) as usize];
            loop {
                let worker = self.any(&mut random);
                match worker.inbox.push(&header(kind::REQUEST, id), &[&body]) {
                    Ok(_) => break,
                    Err(PushError::Closed | PushError::Full) => std::thread::yield_now(),
                }
            }
            self.pushed.fetch_add(1, Ordering::Relaxed);
            // As the clock of an I/O thread does with a worker that is late.
            if random.below(500) == 0 {
                let late = self.any(&mut random);
                for records in late.inbox.reclaim(thread).into_values() {
                    self.adopt(&records, &mut random);
                }
            }
        }
    }

    /// Workers take turns in this thread: one dies, and another one comes.
    fn work(&self, seed: u64) {
        let mut random = Random(seed);
        let (mut worker, mut area) = (self.add_worker(), 0);
        while !self.is_over.load(Ordering::Acquire) {
            let (length, _) = worker.inbox.take();
            // SAFETY: this thread is the worker.
            let batch = unsafe { std::slice::from_raw_parts(worker.inbox.areas[area].pointer(), length) };
            area = 1 - area;
            let dies_at = if random.below(200) == 0 { random.below(20) as usize } else { usize::MAX };
            for record in Records(batch).take(dies_at).filter(|record| kind_of(record) == kind::REQUEST) {
                worker.inbox.cells.begun.store(word(record, 2), Ordering::Release);
                *self.begun.lock().unwrap().entry(id_of(record)).or_default() += 1;
                self.all_begun.fetch_add(1, Ordering::Release);
            }
            if dies_at != usize::MAX {
                let next = self.add_worker();
                self.die(&worker, &mut random);
                (worker, area) = (next, 0);
            } else if length == 0 {
                std::thread::yield_now();
            }
        }
    }

    fn die(&self, worker: &Arc<Worker>, random: &mut Random) {
        self.deaths.fetch_add(1, Ordering::Relaxed);
        self.workers.write().unwrap().retain(|other| !Arc::ptr_eq(other, worker));
        for records in worker.inbox.close().requests.values() {
            self.adopt(records, random);
        }
    }
}

fn header(kind: u8, id: ExchangeId) -> Header {
    Header { kind, flags: 0, id, connection: id.slot, lengths: [0, 0] }
}

#[test]
fn each_request_is_begun_once() {
    let seconds = std::env::var("ENTRANCE_STRESS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let until = Instant::now() + Duration::from_secs(seconds);
    let stage = Arc::new(Stage::default());
    let workers: Vec<_> = (0..WORKERS)
        .map(|number| {
            let stage = stage.clone();
            std::thread::spawn(move || stage.work(number as u64 + 1))
        })
        .collect();
    while stage.workers.read().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let pushers: Vec<_> = (0..PUSHERS)
        .map(|thread| {
            let stage = stage.clone();
            std::thread::spawn(move || stage.push(thread, until, u64::from(thread) + 100))
        })
        .collect();
    pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
    let pushed = stage.pushed.load(Ordering::Acquire);
    let end = Instant::now() + Duration::from_secs(20);
    while stage.all_begun.load(Ordering::Acquire) < pushed {
        assert!(Instant::now() < end, "{} of {pushed} were begun", stage.all_begun.load(Ordering::Acquire));
        std::thread::yield_now();
    }
    stage.is_over.store(true, Ordering::Release);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let begun = stage.begun.lock().unwrap();
    assert_eq!(begun.len(), pushed);
    assert_eq!(begun.values().filter(|&&times| times != 1).count(), 0);
    let (deaths, moved) = (stage.deaths.load(Ordering::Relaxed), stage.moved.load(Ordering::Relaxed));
    assert!(deaths > 0 && moved > 0);
    println!("{pushed} requests, {deaths} deaths, {moved} moves");
}
