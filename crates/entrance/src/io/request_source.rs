//! A source of requests: a connection of HTTP/1 or a stream of HTTP/2. Each has one request in a
//! worker at a time. An I/O thread keeps them in a slab and runs a task for each.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::task::spawn_local;

use super::connection::Connection;
use super::thread::Io;
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::orphans::Orphans;
use crate::worker::record::{ExchangeId, Records, word};

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

impl RequestSource for Connection {
    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        self.poll(context, io)
    }

    fn reply(&mut self, record: &[u8], io: &Io) {
        self.reply(record, io);
    }

    fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io) {
        self.worker_died(dead, orphans, io);
    }

    fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io) {
        self.move_away(id, records, io);
    }

    fn review(&mut self, io: &Io) {
        self.review(io);
    }

    fn look_at_clock(&mut self, now: u64, io: &Io) {
        self.look_at_clock(now, io);
    }

    fn cut(&mut self) {
        self.cut();
    }

    fn closed(&mut self, io: &Io) {
        self.closed(io);
    }
}

impl Io {
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
