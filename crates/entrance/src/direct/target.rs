//! A service that is reached directly, with its instances and the requests that each has.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::settings::{Address, Instance};
use crate::worker::{Form, Worker};

pub struct Target {
    pub service: String,
    pub worker: Arc<Worker>,
    pub notify: Arc<Notify>,
    /// With the number of requests that each has.
    instances: RwLock<Vec<(Instance, Arc<AtomicU32>)>>,
    /// Those that get no more, and still have some.
    leaving: Mutex<Vec<(Address, Weak<AtomicU32>)>>,
    turn: AtomicUsize,
}

impl Target {
    pub fn new(service: &str) -> Arc<Self> {
        let notify = Arc::new(Notify::new());
        let wake = notify.clone();
        Arc::new(Self {
            service: service.to_owned(),
            worker: Worker::new(u32::MAX, Form::Text, Box::new(move || wake.notify_one())),
            notify,
            instances: RwLock::default(),
            leaving: Mutex::default(),
            turn: AtomicUsize::new(0),
        })
    }

    pub fn is_served(&self) -> bool {
        !self.instances.read().is_empty()
    }

    /// The one with the fewest requests: one that is stuck gets no more than its share. Equals take
    /// turns.
    pub fn instance(&self) -> Option<(Instance, Load)> {
        let instances = self.instances.read();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed).checked_rem(instances.len())?;
        let (later, first) = instances.split_at(turn);
        let least = first.iter().chain(later).min_by_key(|(_, load)| load.load(Ordering::Relaxed))?;
        Some((least.0.clone(), Load::new(&least.1)))
    }

    /// Those that stay keep their numbers.
    pub fn replace(&self, next: impl Iterator<Item = Instance>) {
        let mut instances = self.instances.write();
        let known = std::mem::take(&mut *instances);
        let load =
            |address: &Address| known.iter().find(|(one, _)| one.address == *address).map(|(_, load)| load.clone());
        *instances = next
            .map(|instance| {
                let load = load(&instance.address).unwrap_or_default();
                (instance, load)
            })
            .collect();
        let mut leaving = self.leaving.lock();
        leaving.extend(known.iter().map(|(instance, load)| (instance.address.clone(), Arc::downgrade(load))));
        drop(known);
        let stays = |load: &Weak<AtomicU32>| instances.iter().any(|(_, one)| std::ptr::eq(&**one, load.as_ptr()));
        leaving.retain(|(_, load)| load.strong_count() > 0 && !stays(load));
    }

    /// Those of an instance, also if it gets no more.
    pub fn requests_at(&self, address: &Address) -> u32 {
        let serving =
            self.instances.read().iter().find(|(one, _)| one.address == *address).map(|(_, load)| load.clone());
        let left = self
            .leaving
            .lock()
            .iter()
            .filter(|(one, _)| one == address)
            .filter_map(|(_, load)| load.upgrade())
            .collect::<Vec<_>>();
        serving.iter().chain(&left).map(|load| load.load(Ordering::Relaxed)).sum()
    }

    pub fn has(&self, address: &Address) -> bool {
        self.instances.read().iter().any(|(one, _)| one.address == *address)
    }
}

/// Counts a request of an instance.
pub struct Load(Arc<AtomicU32>);

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

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(port: u16) -> Instance {
        Instance { address: Address::Port("127.0.0.1".to_owned(), port), slot: None }
    }

    #[test]
    fn the_instance_with_the_fewest_requests_is_next() {
        let target = Target::new("a");
        assert!(target.instance().is_none());
        target.replace([instance(1), instance(2)].into_iter());
        let (first, _stuck) = target.instance().unwrap();
        for _ in 0..3 {
            assert_ne!(target.instance().unwrap().0, first);
        }
        target.replace([first.clone(), instance(3)].into_iter());
        for _ in 0..3 {
            assert_eq!(target.instance().unwrap().0, instance(3));
        }
        assert!(target.has(&first.address) && !target.has(&instance(9).address));
    }

    #[test]
    fn one_that_gets_no_more_is_known_while_it_has_requests() {
        let target = Target::new("a");
        let address = instance(1).address;
        target.replace([instance(1)].into_iter());
        let requests = [target.instance().unwrap(), target.instance().unwrap()];
        target.replace([instance(1)].into_iter());
        assert_eq!(target.requests_at(&address), 2);
        target.replace([instance(2)].into_iter());
        assert_eq!(target.requests_at(&address), 2);
        let [first, second] = requests;
        drop(first);
        assert_eq!(target.requests_at(&address), 1);
        drop(second);
        assert_eq!((target.requests_at(&address), target.requests_at(&instance(2).address)), (0, 0));
        target.replace([instance(2)].into_iter());
        assert!(target.leaving.lock().is_empty());
    }
}
