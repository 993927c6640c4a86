//! Services in processes and commands that the entrance reaches itself, without a worker between.
//!
//! A target is a service. To the rest of the entrance it looks like a worker: requests go to its
//! inbox, and replies come from it. `serve` runs it in an I/O thread.
//!
//! - `routes`: which requests a target gets. The gateway in a worker gets all others, so what is
//!   unusual is judged in one place only
//! - `head`: what the gateway changes in heads, on both ways
//! - `upstream`: connections to instances, and those that are kept
//! - `call`: one request; `forwarding`: its response

mod call;
mod forwarding;
mod head;
pub mod routes;
mod serve;
mod upstream;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::Notify;

use routes::{Route, Routes};
pub use serve::serve;

use crate::worker::{Form, Worker};

/// Where an instance of a service can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// The private socket of a program's own server.
    Private(String),
    /// The port of a command.
    Port(String, u16),
}

pub struct Target {
    pub service: String,
    pub worker: Arc<Worker>,
    notify: Arc<Notify>,
    /// With the number of requests that each has.
    instances: RwLock<Vec<(Address, Arc<AtomicU32>)>>,
    turn: AtomicUsize,
}

impl Target {
    fn new(service: &str) -> Arc<Self> {
        let notify = Arc::new(Notify::new());
        let wake = notify.clone();
        Arc::new(Self {
            service: service.to_owned(),
            worker: Worker::new(u32::MAX, Form::Text, Box::new(move || wake.notify_one())),
            notify,
            instances: RwLock::default(),
            turn: AtomicUsize::new(0),
        })
    }

    fn is_served(&self) -> bool {
        !self.instances.read().is_empty()
    }

    /// The one with the fewest requests: one that is stuck gets no more than its share. Equals take
    /// turns.
    fn instance(&self) -> Option<(Address, Load)> {
        let instances = self.instances.read();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed).checked_rem(instances.len())?;
        let (later, first) = instances.split_at(turn);
        let least = first.iter().chain(later).min_by_key(|(_, load)| load.load(Ordering::Relaxed))?;
        Some((least.0.clone(), Load::new(&least.1)))
    }

    /// Those that stay keep their numbers.
    fn replace(&self, addresses: impl Iterator<Item = Address>) {
        let mut instances = self.instances.write();
        let known = std::mem::take(&mut *instances);
        let load = |address: &Address| known.iter().find(|(one, _)| one == address).map(|(_, load)| load.clone());
        *instances = addresses
            .map(|address| {
                let load = load(&address).unwrap_or_default();
                (address, load)
            })
            .collect();
    }

    fn has(&self, address: &Address) -> bool {
        self.instances.read().iter().any(|(one, _)| one == address)
    }
}

/// Counts a request of an instance.
struct Load(Arc<AtomicU32>);

impl Load {
    fn new(count: &Arc<AtomicU32>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the gateway's config says about direct requests.
#[derive(Debug, Default)]
pub struct Settings {
    /// Sizes of heads and of bodies, in bytes. Others go to a worker, which refuses them.
    pub max_head: usize,
    pub max_body: u64,
    /// Until a response begins. Zero: no limit.
    pub response_timeout: Duration,
    /// What a response says of kept connections, in seconds.
    pub keep_alive: u64,
    /// Paths that begin so are the gateway's own.
    pub reserved: Vec<String>,
}

#[derive(Default)]
struct State {
    routes: Routes,
    settings: Arc<Settings>,
    targets: HashMap<String, Arc<Target>>,
}

#[derive(Default)]
pub struct Directory {
    state: RwLock<State>,
    /// An instance can be reached.
    is_used: AtomicBool,
}

impl Directory {
    /// `direct`: the services that are reached directly. Returns those that have to be served now.
    pub fn set(&self, routes: Vec<Route>, direct: &[String], settings: Settings) -> Vec<Arc<Target>> {
        let mut state = self.state.write();
        state.routes = Routes::new(routes);
        state.settings = Arc::new(settings);
        let mut added = Vec::new();
        for service in direct {
            if !state.targets.contains_key(service) {
                let target = Target::new(service);
                added.push(target.clone());
                state.targets.insert(service.clone(), target);
            }
        }
        for (service, target) in &state.targets {
            if !direct.contains(service) {
                target.instances.write().clear();
            }
        }
        self.is_used.store(state.targets.values().any(|target| target.is_served()), Ordering::Release);
        added
    }

    /// The instances that serve now. Of a service that is not reached directly, nothing is kept.
    pub fn set_instances(&self, instances: &[(String, Address)]) {
        let state = self.state.read();
        for (service, target) in &state.targets {
            let own = instances.iter().filter(|(of, _)| of == service).map(|(_, address)| address.clone());
            target.replace(own);
        }
        self.is_used.store(state.targets.values().any(|target| target.is_served()), Ordering::Release);
    }

    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.state.read().settings.clone()
    }

    /// Requests that are with instances.
    pub fn in_flight(&self) -> u32 {
        let state = self.state.read();
        state.targets.values().map(|target| target.worker.in_flight.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instance_with_the_fewest_requests_is_next() {
        let target = Target::new("a");
        let address = |port| Address::Port("127.0.0.1".to_owned(), port);
        assert!(target.instance().is_none());
        target.replace([address(1), address(2)].into_iter());
        let (first, _stuck) = target.instance().unwrap();
        for _ in 0..3 {
            assert_ne!(target.instance().unwrap().0, first);
        }
        target.replace([first.clone(), address(3)].into_iter());
        for _ in 0..3 {
            assert_eq!(target.instance().unwrap().0, address(3));
        }
        assert!(target.has(&first) && !target.has(&address(9)));
    }
}
