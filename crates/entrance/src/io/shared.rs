//! What the tasks of an I/O thread share: its entrance, the sources of requests, and the workers to
//! wake.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};

use slab::Slab;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};

use crate::entrance::Entrance;
use crate::http1::parser::Fields;
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::orphans::Orphans;
use crate::worker::record::{ExchangeId, Records, word};

/// State that the tasks of a thread share.
pub struct Io {
    this: Weak<Io>,
    pub entrance: Arc<Entrance>,
    pub number: u8,
    /// Set while connections close once they are idle.
    draining: Cell<Option<Drain>>,
    pub scratch: RefCell<Vec<u8>>,
    pub fields: RefCell<Fields>,
    pub words: RefCell<Vec<u8>>,
    /// Workers with new records in their inboxes, to be woken, and how many records.
    unwoken: RefCell<Vec<(Arc<Worker>, u32)>>,
    wakeup: Notify,
    sources: RefCell<Slab<Rc<RefCell<dyn RequestSource>>>>,
    /// The tasks of connections that speak HTTP/2.
    pub http2: RefCell<Slab<AbortHandle>>,
    epochs: Cell<u32>,
    numbers: Cell<u32>,
}

#[derive(Clone, Copy)]
struct Drain {
    since: u64,
    /// Milliseconds without a request after which a connection closes.
    quiet: u64,
}

/// A connection of HTTP/1 or a stream of HTTP/2. Each has one request in a worker at a time. An I/O
/// thread keeps them in a slab and runs a task for each.
pub trait RequestSource {
    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()>;
    /// A worker's reply to it, or to an earlier source in its slot.
    fn reply(&mut self, record: &[u8], io: &Io);
    fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io);
    /// Moves a request whose worker is late and has not taken it. `records` are from that worker's
    /// inbox.
    fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io);
    /// A worker was added, or no worker is expected any more.
    fn review(&mut self, io: &Io);
    fn look_at_clock(&mut self, now: u64, io: &Io);
    /// Closes it at once.
    fn cut(&mut self);
    /// Called when its task has ended. It tells the workers that know it.
    fn closed(&mut self, io: &Io);
}

/// A worker begins with so many records while the thread reads the next ones.
const WAKE_AT: u32 = 16;
/// Size of one read.
const SCRATCH: usize = 64 * 1024;

impl Io {
    pub fn new(entrance: Arc<Entrance>, number: u8) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            this: this.clone(),
            entrance,
            number,
            draining: Cell::new(None),
            scratch: RefCell::new(vec![0; SCRATCH]),
            fields: RefCell::default(),
            words: RefCell::default(),
            unwoken: RefCell::default(),
            wakeup: Notify::new(),
            sources: RefCell::default(),
            http2: RefCell::default(),
            epochs: Cell::new(0),
            numbers: Cell::new(0),
        })
    }

    /// For a task that outlives the caller's reference.
    pub fn owned(&self) -> Option<Rc<Self>> {
        self.this.upgrade()
    }

    /// Wakes the worker after the current connections, or at once if it has much to do.
    pub fn wake_soon(&self, worker: &Arc<Worker>) {
        let mut unwoken = self.unwoken.borrow_mut();
        let Some((_, records)) = unwoken.iter_mut().find(|(other, _)| Arc::ptr_eq(other, worker)) else {
            unwoken.push((worker.clone(), 1));
            return self.wakeup.notify_one();
        };
        *records += 1;
        if *records == WAKE_AT {
            *records = 0;
            drop(unwoken);
            self.wake_worker(worker);
        }
    }

    fn wake_worker(&self, worker: &Worker) {
        self.guard(|| {
            if worker.notify(self.entrance.now()) {
                add(&self.entrance.stats.wakeups, 1);
            }
        });
    }

    /// The task runs after all connections that were ready, so that a worker is woken once for all
    /// of them.
    pub async fn wake_workers(&self) {
        loop {
            self.wakeup.notified().await;
            for (worker, _) in self.unwoken.take() {
                self.wake_worker(&worker);
            }
        }
    }

    pub fn next_epoch(&self) -> u32 {
        self.epochs.set(self.epochs.get().wrapping_add(1));
        self.epochs.get()
    }

    pub fn drain(&self, quiet: u64) {
        self.draining.set(Some(Drain { since: self.entrance.now(), quiet }));
    }

    pub fn stop_draining(&self) {
        self.draining.set(None);
    }

    pub fn is_full(&self) -> bool {
        let open = self.entrance.stats.open.load(std::sync::atomic::Ordering::Relaxed);
        open >= self.entrance.limits.max_connections as u64
    }

    pub fn is_draining(&self) -> bool {
        self.draining.get().is_some()
    }

    /// Whether a connection that has been idle since then is to close.
    pub fn drains(&self, since: u64, now: u64) -> bool {
        self.draining.get().is_some_and(|drain| now.saturating_sub(drain.since.max(since)) >= drain.quiet)
    }

    /// Whether a request has waited for a worker for too long.
    pub fn has_waited(&self, since: u64, now: u64) -> bool {
        now.saturating_sub(since) > self.entrance.limits.worker_timeout.as_millis() as u64
    }

    /// A panic ends neither the thread nor its tasks. Returns false after one.
    pub fn guard(&self, call: impl FnOnce()) -> bool {
        let outcome = catch_unwind(AssertUnwindSafe(call));
        if outcome.is_err() {
            add(&self.entrance.stats.panics, 1);
        }
        outcome.is_ok()
    }

    /// Gives a source its slot, its number and its task. `guard` is dropped when the task has
    /// ended.
    pub fn add<M: RequestSource + 'static>(
        self: &Rc<Self>,
        make: impl FnOnce(u32, u32) -> M,
        guard: impl Sized + 'static,
    ) {
        let slot = self.sources.borrow().vacant_key();
        let source = Rc::new(RefCell::new(make(slot as u32, self.next_number())));
        self.sources.borrow_mut().insert(source.clone());
        let owner = Owner { io: self.clone(), source, slot };
        spawn_local(async move {
            let _guard = guard;
            poll_fn(|context| owner.source.borrow_mut().poll(context, &owner.io)).await;
        });
    }

    /// Unique over all threads until it wraps around.
    fn next_number(&self) -> u32 {
        let threads = self.entrance.threads.len() as u32;
        self.numbers.set(self.numbers.get().wrapping_add(1));
        self.numbers.get().wrapping_mul(threads).wrapping_add(u32::from(self.number))
    }

    pub fn each(&self, mut call: impl FnMut(&mut dyn RequestSource)) {
        let all: Vec<_> = self.sources.borrow().iter().map(|(_, source)| source.clone()).collect();
        for source in all {
            self.guarded(&source, &mut call);
        }
    }

    pub fn with(&self, slot: u32, mut call: impl FnMut(&mut dyn RequestSource)) {
        let source = self.sources.borrow().get(slot as usize).cloned();
        if let Some(source) = source {
            self.guarded(&source, &mut call);
        }
    }

    pub(super) fn replies(&self, batch: &[u8]) {
        for record in Records(batch) {
            self.with(word(record, 2), |source| source.reply(record, self));
        }
    }

    /// A panic while handling a source closes only that one.
    fn guarded(&self, source: &Rc<RefCell<dyn RequestSource>>, call: &mut impl FnMut(&mut dyn RequestSource)) {
        if !self.guard(|| call(&mut *source.borrow_mut())) {
            self.guard(|| source.borrow_mut().cut());
        }
    }

    /// Closes all connections at once.
    pub fn cut(&self) {
        self.each(|source| source.cut());
        for (_, task) in self.http2.borrow().iter() {
            task.abort();
        }
    }
}

/// Removes a source from the thread's list when its task ends, also by a panic.
struct Owner<M: RequestSource> {
    io: Rc<Io>,
    source: Rc<RefCell<M>>,
    slot: usize,
}

impl<M: RequestSource> Drop for Owner<M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            add(&self.io.entrance.stats.panics, 1);
        }
        self.io.guard(|| {
            self.io.sources.borrow_mut().try_remove(self.slot);
            if let Ok(mut source) = self.source.try_borrow_mut() {
                source.closed(&self.io);
            }
        });
    }
}

/// Counts an open connection of a client.
pub struct Open(Rc<Io>);

impl Open {
    pub fn new(io: &Rc<Io>) -> Self {
        add(&io.entrance.stats.accepted, 1);
        Self::again(io)
    }

    /// Counts a connection that was accepted before.
    pub fn again(io: &Rc<Io>) -> Self {
        add(&io.entrance.stats.open, 1);
        Self(io.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.entrance.stats.open.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::limits::Limits;
    use crate::worker::Form;

    #[test]
    fn a_worker_with_much_to_do_is_woken_at_once() {
        let io = Io::new(Entrance::new(Limits::default(), 1), 0);
        let woken = Arc::new(AtomicU32::new(0));
        let count = woken.clone();
        let worker = Worker::new(0, Form::Text, Box::new(move || count.store(count.load(Relaxed) + 1, Relaxed)));
        let wakes_after = |records: u32| {
            (0..records).for_each(|_| io.wake_soon(&worker));
            woken.load(Relaxed)
        };
        assert_eq!(wakes_after(WAKE_AT - 1), 0);
        assert_eq!(wakes_after(1), 1);
        assert_eq!(wakes_after(2 * WAKE_AT), 1);
        worker.came();
        assert_eq!(wakes_after(WAKE_AT), 2);
    }
}
