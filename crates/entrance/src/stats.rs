//! Counters for metrics: written by the I/O threads, read by the main thread.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::http1::refusal::{REFUSALS, Refusal};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[derive(Default)]
        pub struct Stats {
            $($(#[$doc])* pub $name: AtomicU64,)*
            /// Responses that the entrance generated itself.
            refusals: [AtomicU64; REFUSALS.len()],
        }

        impl Stats {
            /// Each counter with its name. `problems`: whether refusals are answered by those.
            pub fn each(&self, problems: bool, mut take: impl FnMut(String, u64)) {
                $(take(stringify!($name).to_owned(), self.$name.load(Relaxed));)*
                for ((refusal, reason), count) in REFUSALS.iter().zip(&self.refusals) {
                    let status = refusal.status(problems);
                    take(format!("refused_{status}_{reason}"), count.load(Relaxed));
                }
            }
        }
    };
}

counters! {
    accepted,
    /// Open connections.
    open,
    handshakes,
    failed_handshakes,
    /// Requests of HTTP/1.
    requests,
    http2_requests,
    /// Connections of HTTP/2 that were closed because of a flood.
    floods,
    /// Requests that were given to another worker because theirs died or was late.
    moved,
    retried,
    /// Requests that were sent to instances without a worker between.
    direct,
    panics,
    bytes_in,
    bytes_out,
    wakeups,
}

impl Stats {
    pub fn refused(&self, refusal: Refusal) {
        add(&self.refusals[refusal as usize], 1);
    }
}

pub fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}
