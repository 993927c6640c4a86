//! Counts the requests of a worker.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::Worker;

/// A request that a worker has and has not answered. It counts for as long as it exists.
pub struct InFlight {
    worker: Arc<Worker>,
    is_tunnel: bool,
}

impl InFlight {
    pub fn at(worker: &Arc<Worker>) -> Self {
        worker.in_flight.fetch_add(1, Relaxed);
        Self { worker: worker.clone(), is_tunnel: false }
    }

    /// The connection was upgraded. It stays in flight, and a worker that drains does not wait for
    /// it.
    pub fn becomes_tunnel(&mut self) {
        if !self.is_tunnel {
            self.is_tunnel = true;
            self.worker.tunnels.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.worker.in_flight.fetch_sub(1, Relaxed);
        if self.is_tunnel {
            self.worker.tunnels.fetch_sub(1, Relaxed);
        }
    }
}
