//! An I/O thread: its runtime, its listeners, and the commands of other threads. It keeps the
//! sources of requests in a slab.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use slab::Slab;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinHandle, LocalSet, spawn_local};

use super::connection::Connection;
use super::request_source::RequestSource;
use super::stream::{Ends, Stream};
use super::{handshake, http2, listener, timer};
use crate::direct;
use crate::entrance::{Command, Entrance, IoThread};
use crate::http1::parser::Fields;
use crate::stats::add;
use crate::worker::Worker;

/// State that the connections of a thread share.
pub struct Io {
    this: Weak<Io>,
    pub entrance: Arc<Entrance>,
    pub number: u8,
    /// Set while connections close once they are idle.
    draining: Cell<Option<Drain>>,
    closed: Cell<bool>,
    pub scratch: RefCell<Vec<u8>>,
    pub fields: RefCell<Fields>,
    pub words: RefCell<Vec<u8>>,
    /// Workers with new records in their inboxes, to be woken.
    unwoken: RefCell<Vec<Arc<Worker>>>,
    wakeup: Notify,
    pub(super) sources: RefCell<Slab<Rc<RefCell<dyn RequestSource>>>>,
    /// The tasks of connections that speak HTTP/2.
    pub http2: RefCell<Slab<AbortHandle>>,
    listeners: RefCell<Vec<JoinHandle<()>>>,
    epochs: Cell<u32>,
    pub(super) numbers: Cell<u32>,
}

#[derive(Clone, Copy)]
struct Drain {
    since: u64,
    /// Milliseconds without a request after which a connection closes.
    quiet: u64,
}

/// Size of one read.
const SCRATCH: usize = 64 * 1024;

pub fn spawn(entrance: Arc<Entrance>, number: u8) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    std::thread::Builder::new().name(format!("busbar-io-{number}")).spawn(move || {
        let io = Rc::new_cyclic(|this| Io {
            this: this.clone(),
            entrance,
            number,
            draining: Cell::new(None),
            closed: Cell::new(false),
            scratch: RefCell::new(vec![0; SCRATCH]),
            fields: RefCell::default(),
            words: RefCell::default(),
            unwoken: RefCell::default(),
            wakeup: Notify::new(),
            sources: RefCell::default(),
            http2: RefCell::default(),
            listeners: RefCell::default(),
            epochs: Cell::new(0),
            numbers: Cell::new(0),
        });
        LocalSet::new().block_on(&runtime, run(io));
    })?;
    Ok(())
}

async fn run(io: Rc<Io>) {
    spawn_local(timer::run(io.clone()));
    spawn_local(wake_workers(io.clone()));
    let mut batch = Vec::new();
    while !io.closed.get() {
        let thread = io.this();
        thread.outbox.notified().await;
        thread.outbox.take(&mut batch);
        io.guard(|| io.replies(&batch));
        for command in thread.commands() {
            io.guard(|| io.obey(command));
        }
    }
}

/// The task runs after all connections that were ready, so that a worker is woken once for all of
/// them.
async fn wake_workers(io: Rc<Io>) {
    loop {
        io.wakeup.notified().await;
        for worker in io.unwoken.take() {
            io.guard(|| {
                if worker.notify(io.entrance.now()) {
                    add(&io.entrance.stats.wakeups, 1);
                }
            });
        }
    }
}

impl Io {
    /// Wakes the worker after the current connections.
    pub fn wake_soon(&self, worker: &Arc<Worker>) {
        let mut unwoken = self.unwoken.borrow_mut();
        if unwoken.iter().any(|other| Arc::ptr_eq(other, worker)) {
            return;
        }
        unwoken.push(worker.clone());
        self.wakeup.notify_one();
    }

    fn this(&self) -> &IoThread {
        &self.entrance.threads[self.number as usize]
    }

    pub fn next_epoch(&self) -> u32 {
        self.epochs.set(self.epochs.get().wrapping_add(1));
        self.epochs.get()
    }

    pub fn accept(self: &Rc<Self>, tcp: TcpStream, secure: bool) {
        let (Ok(remote), Ok(local)) = (tcp.peer_addr(), tcp.local_addr()) else { return };
        let _ = tcp.set_nodelay(true);
        let (ends, open) = (Ends { remote, local }, Open::new(self));
        if secure {
            spawn_local(handshake::run(self.clone(), tcp, ends, open));
        } else {
            self.serve_http1(Stream::Plain(tcp), ends, open);
        }
    }

    pub fn serve_http1(self: &Rc<Self>, stream: Stream, ends: Ends, open: Open) {
        let now = self.entrance.now();
        self.add(|slot, number| Connection::new(stream, slot, number, ends, now), open);
    }

    /// Continues a connection in clear whose client speaks HTTP/2 (RFC 9113, 3.3).
    pub fn serve_http2(&self, stream: Stream, ends: Ends) {
        if let Some(io) = self.this.upgrade() {
            let open = Open::again(&io);
            spawn_local(http2::connection::serve(io, stream, ends, open));
        }
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

    fn obey(self: &Rc<Self>, command: Command) {
        match command {
            Command::Listen(listener, secure) => {
                self.draining.set(None);
                if let Some(task) = listener::start(self.clone(), listener, secure) {
                    self.listeners.borrow_mut().push(task);
                }
            }
            Command::Unlisten => self.listeners.borrow_mut().drain(..).for_each(|task| task.abort()),
            Command::Drain(quiet) => self.draining.set(Some(Drain { since: self.entrance.now(), quiet })),
            Command::Cut => self.cut(),
            Command::Close => {
                self.cut();
                self.closed.set(true);
            }
            Command::Review => self.each(|source| source.review(self)),
            Command::Dead(worker, orphans) => self.each(|source| source.worker_died(&worker, &orphans, self)),
            Command::Return(id, records) => self.with(id.slot, |source| source.move_away(id, records.clone(), self)),
            Command::Serve(target) => drop(spawn_local(direct::serve(self.clone(), target))),
            #[cfg(test)]
            Command::Run(job) => job(self),
        }
    }

    fn cut(&self) {
        self.each(|source| source.cut());
        for (_, task) in self.http2.borrow().iter() {
            task.abort();
        }
    }
}

/// Counts an open connection of a client.
pub struct Open(Rc<Io>);

impl Open {
    fn new(io: &Rc<Io>) -> Self {
        add(&io.entrance.stats.accepted, 1);
        Self::again(io)
    }

    /// Of a connection that was accepted before.
    fn again(io: &Rc<Io>) -> Self {
        add(&io.entrance.stats.open, 1);
        Self(io.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.entrance.stats.open.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
