//! Memory that the I/O threads write and a worker reads.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

pub const AREA: usize = 1024 * 1024;

/// Cells that the worker writes with plain stores, by their position. Each cell has one writer.
#[repr(C)]
#[derive(Default)]
pub struct Cells {
    /// The sequence of the last request whose handler was called.
    pub begun: AtomicU32,
    /// See `queue_times`.
    pub times: [AtomicU32; TIMES],
    pub reserved: [AtomicU32; 1],
}

pub const TIMES: usize = 14;

pub struct Area(UnsafeCell<Box<[u8]>>);

// SAFETY: the I/O threads write the filling area under the inbox's lock. The worker reads the other
// one. `Inbox::take` swaps them.
unsafe impl Sync for Area {}
unsafe impl Send for Area {}

impl Area {
    pub fn new(length: usize) -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(vec![0; length].into_boxed_slice())))
    }

    pub fn pointer(&self) -> *mut u8 {
        // SAFETY: this only takes the address.
        unsafe { (*self.0.get()).as_mut_ptr() }
    }

    pub fn length(&self) -> usize {
        // SAFETY: the length never changes.
        unsafe { (&*self.0.get()).len() }
    }

    /// # Safety
    /// Nobody else writes to these bytes meanwhile.
    pub(super) unsafe fn bytes(&self, length: usize) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.pointer(), length) }
    }
}
