//! What a connection and its streams share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::flushes::Flushes;
use super::resets::Resets;
use crate::worker::Worker;

/// What the streams of a connection share with it.
#[derive(Default)]
pub struct Shared {
    /// Streams of which there are tasks.
    open: Cell<u32>,
    pub resets: RefCell<Resets>,
    pub flushes: Flushes,
    pub is_secure: bool,
    /// That the client has shown, in DER.
    pub certificate: Option<Box<[u8]>>,
    /// The worker that a stream came to last.
    pub worker: RefCell<Option<Arc<Worker>>>,
    /// Its frames were a flood.
    has_flooded: Cell<bool>,
    /// Since when the head of a request is coming, in milliseconds. Nothing else can come before
    /// its end.
    pub head_since: Cell<Option<u64>>,
}

impl Shared {
    pub fn new(is_secure: bool, certificate: Option<Box<[u8]>>) -> Self {
        Self { is_secure, certificate, ..Self::default() }
    }

    pub fn has_streams(&self) -> bool {
        self.open.get() > 0
    }

    /// A client has sent more frames than it may.
    pub fn floods(&self) {
        self.has_flooded.set(true);
    }

    pub fn has_flooded(&self) -> bool {
        self.has_flooded.get()
    }

    pub fn is_flood(&self) -> bool {
        self.has_flooded() || self.resets.borrow().are_flood()
    }
}

/// An open stream of a connection.
pub struct OpenStream(Rc<Shared>);

impl OpenStream {
    pub fn new(shared: &Rc<Shared>) -> Self {
        shared.open.set(shared.open.get() + 1);
        Self(shared.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
    }
}
