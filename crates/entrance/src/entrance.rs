//! An entrance: the state that its threads share.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use socket2::SockRef;

use crate::direct::directory::Directory;
use crate::direct::target::Target;
use crate::limits::Limits;
use crate::stats::Stats;
use crate::tls::Tls;
use crate::worker::orphans::Orphans;
use crate::worker::outbox::Outbox;
use crate::worker::queue_times::QueueTimes;
use crate::worker::record::ExchangeId;
use crate::worker::registry::Registry;
use crate::worker::{Form, Wake, Worker};

pub struct Entrance {
    pub limits: Limits,
    pub stats: Stats,
    pub registry: Registry,
    pub tls: Tls,
    pub threads: Vec<IoThread>,
    pub queue_times: QueueTimes,
    pub direct: Directory,
    started: u64,
    clock: Instant,
    workers: AtomicU32,
    expects_worker: AtomicBool,
}

/// An I/O thread, as other threads see it.
#[derive(Default)]
pub struct IoThread {
    pub outbox: Outbox,
    commands: Mutex<Vec<Command>>,
}

/// A command from the main thread, or from a worker that dies.
pub enum Command {
    /// True: for TLS.
    Listen(TcpListener, bool),
    /// Closes the listeners.
    Unlisten,
    /// Closes each connection that has been idle for so many milliseconds.
    Drain(u64),
    /// Closes all connections now.
    Cut,
    /// Ends the thread.
    Close,
    /// A worker has come, or none is expected any more: requests may wait for that.
    Review,
    /// A worker is dead, and left these requests.
    Dead(Arc<Worker>, Arc<Orphans>),
    /// A request to a service that cannot be reached directly: a worker gets it.
    Return(ExchangeId, Vec<u8>),
    /// From now on, the thread serves it.
    Serve(Arc<Target>),
    #[cfg(test)]
    Run(Job),
}

#[cfg(test)]
pub type Job = Box<dyn FnOnce(&std::rc::Rc<crate::io::shared::Io>) + Send>;

impl IoThread {
    pub fn command(&self, command: Command) {
        if self.outbox.is_closed() {
            return;
        }
        if matches!(command, Command::Close) {
            self.outbox.close();
        }
        self.commands.lock().push(command);
        self.outbox.wake();
    }

    pub fn commands(&self) -> Vec<Command> {
        std::mem::take(&mut *self.commands.lock())
    }
}

/// By number. A closed entrance leaves its place empty.
static ENTRANCES: RwLock<Vec<Option<Arc<Entrance>>>> = RwLock::new(Vec::new());

impl Entrance {
    /// Its threads are started by `io::thread::start`.
    pub fn new(limits: Limits, threads: usize) -> Arc<Self> {
        Arc::new(Self {
            limits,
            stats: Stats::default(),
            registry: Registry::default(),
            tls: Tls::default(),
            threads: (0..threads.clamp(1, 64)).map(|_| IoThread::default()).collect(),
            queue_times: QueueTimes::default(),
            direct: Directory::default(),
            started: milliseconds(),
            clock: Instant::now(),
            workers: AtomicU32::new(0),
            expects_worker: AtomicBool::new(true),
        })
    }

    /// Sites whose pages may read what the entrance answers itself.
    pub fn origins(&self) -> Arc<[String]> {
        self.direct.settings().origins.clone()
    }

    /// Returns the number by which it is found.
    pub fn register(entrance: &Arc<Self>) -> u32 {
        let mut all = ENTRANCES.write();
        all.push(Some(entrance.clone()));
        all.len() as u32 - 1
    }

    pub fn find(id: u32) -> Option<Arc<Self>> {
        ENTRANCES.read().get(id as usize).cloned().flatten()
    }

    /// Ends its threads. Called when no worker uses it any more.
    pub fn close(&self, id: u32) {
        if let Some(place) = ENTRANCES.write().get_mut(id as usize) {
            place.take();
        }
        self.command_all(|| Command::Close);
    }

    pub fn has_worker(&self) -> bool {
        self.registry.all().iter().any(|worker| worker.takes_requests())
    }

    /// Connections that may send requests. An upgraded one sends none.
    pub fn clients(&self) -> u32 {
        let tunnels: u32 = self.registry.all().iter().map(|worker| worker.tunnels.load(Ordering::Relaxed)).sum();
        (self.stats.open.load(Ordering::Relaxed) as u32).saturating_sub(tunnels)
    }

    /// Whether a worker is about to come, if there is none.
    pub fn expects_worker(&self) -> bool {
        self.expects_worker.load(Ordering::Acquire)
    }

    pub fn expect_worker(&self, is_expected: bool) {
        if self.expects_worker.swap(is_expected, Ordering::AcqRel) != is_expected {
            self.command_all(|| Command::Review);
        }
    }

    /// Milliseconds since the start. Never 0.
    pub fn now(&self) -> u64 {
        milliseconds().saturating_sub(self.started) + 1
    }

    /// Microseconds since the start, exactly; wraps around.
    pub fn microseconds(&self) -> u32 {
        self.clock.elapsed().as_micros() as u32
    }

    pub fn listen(&self, listener: &TcpListener, secure: bool) -> std::io::Result<()> {
        listener.set_nonblocking(true)?;
        // Linux: its connections inherit it.
        SockRef::from(listener).set_tcp_nodelay(true)?;
        for thread in &self.threads {
            thread.command(Command::Listen(listener.try_clone()?, secure));
        }
        Ok(())
    }

    pub fn command_all(&self, make: impl Fn() -> Command) {
        for thread in &self.threads {
            thread.command(make());
        }
    }

    pub fn add_worker(&self, form: Form, wake: Wake) -> Arc<Worker> {
        let worker = Worker::new(self.workers.fetch_add(1, Ordering::Relaxed), form, wake);
        self.registry.add(worker.clone());
        self.command_all(|| Command::Review);
        worker
    }

    pub fn pause_worker(&self, worker: &Worker, is_paused: bool) {
        if worker.pause(is_paused) && !is_paused {
            self.command_all(|| Command::Review);
        }
    }

    /// Called when the worker's thread has ended or is about to. Other workers get the requests
    /// that it has not begun.
    pub fn remove_worker(&self, worker: &Arc<Worker>) {
        if !worker.die() {
            return;
        }
        self.registry.remove(worker);
        self.queue_times.collect(std::slice::from_ref(worker));
        let orphans = Arc::new(worker.inbox.close());
        self.command_all(|| Command::Dead(worker.clone(), orphans.clone()));
    }
}

/// Accurate to a few milliseconds, which is enough for all limits. It is called several times per
/// request, so the cost of the exact clock would show in a profile.
#[cfg(target_os = "linux")]
fn milliseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes only to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

#[cfg(not(target_os = "linux"))]
fn milliseconds() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}
