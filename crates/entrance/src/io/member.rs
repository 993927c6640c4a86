//! What the threads see of a connection of HTTP/1, and of a stream of HTTP/2: both have one request
//! in a worker at a time. And how a thread keeps them.

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

pub trait Member {
    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()>;
    /// A worker's reply to it, or to what had its slot before.
    fn reply(&mut self, record: &[u8], io: &Io);
    fn worker_died(&mut self, dead: &Arc<Worker>, orphans: &Orphans, io: &Io);
    /// Moves a request whose worker is late and has not taken it. `records` are from that worker's
    /// inbox.
    fn move_away(&mut self, id: ExchangeId, records: Vec<u8>, io: &Io);
    /// A worker has come, or none is expected any more.
    fn review(&mut self, io: &Io);
    fn look_at_clock(&mut self, now: u64, io: &Io);
    /// Closes it at once.
    fn cut(&mut self);
    /// Called when its task has ended. The workers that know it learn about that.
    fn closed(&mut self, io: &Io);
}

impl Member for Connection {
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
    /// Gives a member its slot, its number and its task. `guard` is dropped when the task has
    /// ended.
    pub fn add<M: Member + 'static>(self: &Rc<Self>, make: impl FnOnce(u32, u32) -> M, guard: impl Sized + 'static) {
        let slot = self.members.borrow().vacant_key();
        let member = Rc::new(RefCell::new(make(slot as u32, self.next_number())));
        self.members.borrow_mut().insert(member.clone());
        let owner = Owner { io: self.clone(), member, slot };
        spawn_local(async move {
            let _guard = guard;
            poll_fn(|context| owner.member.borrow_mut().poll(context, &owner.io)).await;
        });
    }

    /// Unique over all threads until it wraps around.
    fn next_number(&self) -> u32 {
        let threads = self.entrance.threads.len() as u32;
        self.numbers.set(self.numbers.get().wrapping_add(1));
        self.numbers.get().wrapping_mul(threads).wrapping_add(u32::from(self.number))
    }

    pub fn each(&self, mut call: impl FnMut(&mut dyn Member)) {
        let all: Vec<_> = self.members.borrow().iter().map(|(_, member)| member.clone()).collect();
        for member in all {
            self.guarded(&member, &mut call);
        }
    }

    pub fn with(&self, slot: u32, mut call: impl FnMut(&mut dyn Member)) {
        let member = self.members.borrow().get(slot as usize).cloned();
        if let Some(member) = member {
            self.guarded(&member, &mut call);
        }
    }

    pub(super) fn replies(&self, batch: &[u8]) {
        for record in Records(batch) {
            self.with(word(record, 2), |member| member.reply(record, self));
        }
    }

    /// A panic while handling a member closes only that one.
    fn guarded(&self, member: &Rc<RefCell<dyn Member>>, call: &mut impl FnMut(&mut dyn Member)) {
        if !self.guard(|| call(&mut *member.borrow_mut())) {
            self.guard(|| member.borrow_mut().cut());
        }
    }
}

/// Removes a member from the thread's list when its task ends, also by a panic.
struct Owner<M: Member> {
    io: Rc<Io>,
    member: Rc<RefCell<M>>,
    slot: usize,
}

impl<M: Member> Drop for Owner<M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            add(&self.io.entrance.stats.panics, 1);
        }
        self.io.guard(|| {
            self.io.members.borrow_mut().try_remove(self.slot);
            if let Ok(mut member) = self.member.try_borrow_mut() {
                member.closed(&self.io);
            }
        });
    }
}
