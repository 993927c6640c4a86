//! What a connection and its streams share, and its measure of a flood.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::worker::Worker;

/// Streams that a client may reset before their response without any that it lets end
/// (CVE-2023-44487). Each complete response allows one more, and so does time: a client of gRPC
/// resets each call that is not answered before its deadline. Malformed requests, which h2 resets,
/// count as well: a proxy's connection may have one of a client now and then.
pub const MAX_RESETS: u32 = 100;
const RESETS_PER_SECOND: u64 = 33;

/// What the streams of a connection share with it.
#[derive(Default)]
pub struct Shared {
    /// Streams of which there are tasks.
    open: RefCell<Vec<u32>>,
    resets: Cell<u32>,
    /// When time last allowed some, in milliseconds.
    since: Cell<u64>,
    pub is_secure: bool,
    /// That the client has shown, in DER.
    pub certificate: Option<Box<[u8]>>,
    /// The worker that a stream came to last.
    pub worker: RefCell<Option<Arc<Worker>>>,
    /// Its frames were a flood.
    has_flooded: Cell<bool>,
}

impl Shared {
    pub fn new(is_secure: bool, certificate: Option<Box<[u8]>>) -> Self {
        Self { is_secure, certificate, ..Self::default() }
    }

    pub fn has_streams(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    /// A stream was reset before its response was complete.
    pub fn was_reset(&self, now: u64) {
        let more = now.saturating_sub(self.since.get()) * RESETS_PER_SECOND / 1000;
        // The rest of an interval counts with the next one.
        self.since.set(self.since.get() + more * 1000 / RESETS_PER_SECOND);
        let counted = self.resets.get().saturating_sub(u32::try_from(more).unwrap_or(u32::MAX));
        self.resets.set(counted + 1);
    }

    /// h2 has reset a stream because of an error in it. The task of an accepted one counts it.
    pub fn was_refused(&self, stream: u32, now: u64) {
        if !self.open.borrow().contains(&stream) {
            self.was_reset(now);
        }
    }

    pub fn has_ended(&self) {
        self.resets.set(self.resets.get().saturating_sub(1));
    }

    /// A client has sent more frames than it may.
    pub fn floods(&self) {
        self.has_flooded.set(true);
    }

    pub fn has_flooded(&self) -> bool {
        self.has_flooded.get()
    }

    pub fn is_flood(&self) -> bool {
        self.has_flooded() || self.resets.get() > MAX_RESETS
    }
}

/// An open stream of a connection.
pub struct OpenStream {
    shared: Rc<Shared>,
    id: u32,
}

impl OpenStream {
    pub fn new(shared: &Rc<Shared>, id: u32) -> Self {
        shared.open.borrow_mut().push(id);
        Self { shared: shared.clone(), id }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.shared.open.borrow_mut();
        if let Some(place) = open.iter().position(|&id| id == self.id) {
            open.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{MAX_RESETS, OpenStream, Shared};

    #[test]
    fn thirty_resets_a_second_are_no_flood_however_they_are_spaced() {
        let shared = Shared::new(false, None);
        for tenth in 0..1000 {
            for offset in [20, 60, 100] {
                shared.was_reset(tenth * 100 + offset);
                assert!(!shared.is_flood());
            }
        }
    }

    #[test]
    fn a_burst_is_a_flood() {
        let shared = Shared::new(false, None);
        for _ in 0..=MAX_RESETS {
            assert!(!shared.is_flood());
            shared.was_reset(60_000);
        }
        assert!(shared.is_flood());
    }

    #[test]
    fn a_reset_by_h2_counts_once() {
        let shared = Rc::new(Shared::new(false, None));
        let open = OpenStream::new(&shared, 3);
        shared.was_refused(3, 60_000);
        assert_eq!(shared.resets.get(), 0);
        drop(open);
        shared.was_refused(3, 60_000);
        assert_eq!(shared.resets.get(), 1);
        assert!(!shared.has_streams());
    }
}
