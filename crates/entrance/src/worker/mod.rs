//! The workers: JavaScript threads that handle requests.

pub mod area;
pub mod in_flight;
pub mod inbox;
pub mod orphans;
pub mod outbox;
pub mod queue_times;
pub mod record;
pub mod registry;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use inbox::Inbox;
use parking_lot::{Mutex, RwLock};

/// A worker that has not reacted to a wake-up for this long, in milliseconds, is late. It gets no
/// requests while others are available.
pub const LATE: u64 = 50;

/// Wakes the worker's event loop.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// The form in which a worker gets requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As HTTP text: the head as sent, and the body with its framing.
    Text,
    /// As values: the head with a table of its parts, and the body without framing.
    Values,
}

/// A registered worker, as the I/O threads see it.
pub struct Worker {
    pub number: u32,
    pub form: Form,
    pub inbox: Inbox,
    /// Requests that the worker has and has not answered.
    pub in_flight: AtomicU32,
    /// How many of these are upgraded connections.
    pub tunnels: AtomicU32,
    draining: AtomicBool,
    /// Its program is unhealthy.
    paused: AtomicBool,
    dead: AtomicBool,
    /// When the worker was woken, in milliseconds of the entrance's clock. 0 if it has reacted
    /// since.
    expected_since: AtomicU64,
    /// How long it gets a growing share of the requests, in milliseconds, and since when. 0: it
    /// gets as many as the others.
    slow_start: AtomicU32,
    started_at: AtomicU64,
    /// Of the queue times in its cells, what the entrance has added to its totals.
    pub seen_times: Mutex<[u32; area::TIMES]>,
    wake: RwLock<Option<Wake>>,
}

impl Worker {
    pub fn new(number: u32, form: Form, wake: Wake) -> Arc<Self> {
        Arc::new(Self {
            number,
            form,
            inbox: Inbox::new(),
            in_flight: AtomicU32::new(0),
            tunnels: AtomicU32::new(0),
            draining: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            expected_since: AtomicU64::new(0),
            slow_start: AtomicU32::new(0),
            started_at: AtomicU64::new(0),
            seen_times: Mutex::default(),
            wake: RwLock::new(Some(wake)),
        })
    }

    /// It has just started beside others: for `window` milliseconds it gets a growing share of the
    /// requests.
    pub fn start_slowly(&self, now: u64, window: u32) {
        self.started_at.store(now, Ordering::Relaxed);
        self.slow_start.store(window, Ordering::Release);
    }

    /// Whether it may get a request. `at` is evenly distributed over all u32.
    pub fn admits(&self, now: u64, at: u32) -> bool {
        let window = u64::from(self.slow_start.load(Ordering::Acquire));
        let elapsed = now.saturating_sub(self.started_at.load(Ordering::Relaxed));
        elapsed >= window || u64::from(at) * window < elapsed << u32::BITS
    }

    /// Wakes the worker after a push to its inbox, once until it takes. Returns true if it was
    /// woken.
    pub fn notify(&self, now: u64) -> bool {
        if self.expected_since.load(Ordering::Acquire) != 0
            || self.expected_since.compare_exchange(0, now.max(1), Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            return false;
        }
        self.wake();
        true
    }

    /// Calls the worker's callback in its thread, if it is alive.
    pub fn wake(&self) {
        if let Some(wake) = &*self.wake.read() {
            wake();
        }
    }

    /// The worker has reacted and takes its inbox next.
    pub fn came(&self) {
        self.expected_since.store(0, Ordering::Release);
    }

    /// The time since the wake-up that the worker has not reacted to. It serves as the age of a
    /// heartbeat without a timer.
    pub fn late_by(&self, now: u64) -> u64 {
        match self.expected_since.load(Ordering::Acquire) {
            0 => 0,
            since => now.saturating_sub(since),
        }
    }

    pub fn is_late(&self, now: u64) -> bool {
        self.late_by(now) > LATE
    }

    pub fn takes_requests(&self) -> bool {
        ![&self.draining, &self.paused, &self.dead].into_iter().any(|flag| flag.load(Ordering::Acquire))
    }

    /// Requests that it has and has not answered.
    pub fn load(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Takes no new requests for now. It keeps those that it has. Returns whether that is a change.
    pub fn pause(&self, is_paused: bool) -> bool {
        self.paused.swap(is_paused, Ordering::AcqRel) != is_paused
    }

    /// Wakes the worker no more: the callback is about to become invalid. Returns false if the
    /// worker was already dead.
    pub fn die(&self) -> bool {
        let was_dead = self.dead.swap(true, Ordering::AcqRel);
        self.wake.write().take();
        !was_dead
    }

    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }
}
