//! A worker's channel to the entrance: requests come in batches, replies go in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::{ArrayBuffer, Function};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Error, Result};
use napi_derive::napi;

use crate::entrance::Entrance;
use crate::worker::area::{AREA, Area, Cells};
use crate::worker::outbox::distribute;
use crate::worker::{Form, Worker};

/// Created in the worker's thread.
#[napi]
pub struct EntranceChannel {
    entrance: Arc<Entrance>,
    worker: Arc<Worker>,
    replies: Arc<Area>,
}

#[napi]
impl EntranceChannel {
    /// `on_wake` must not throw. It does not keep the thread alive.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, entrance: u32, values: bool, on_wake: Function<(), ()>) -> Result<Self> {
        let entrance = Entrance::find(entrance).ok_or_else(|| Error::from_reason("there is no such entrance"))?;
        let wake = on_wake.build_threadsafe_function::<()>().weak::<true>().build()?;
        let form = if values { Form::Values } else { Form::Text };
        let worker = entrance.add_worker(
            form,
            Box::new(move || {
                wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
            }),
        );
        // The hook also runs if the thread is terminated, even in an endless loop.
        env.add_env_cleanup_hook((entrance.clone(), worker.clone()), |(entrance, worker)| {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                #[cfg(debug_assertions)]
                super::faults::in_hook();
                entrance.remove_worker(&worker);
            }));
        })?;
        Ok(Self { entrance, worker, replies: Area::new(AREA) })
    }

    /// One of the two areas that `take` fills in turn.
    #[napi(catch_unwind)]
    pub fn requests<'env>(&self, env: &'env Env, index: u32) -> Result<ArrayBuffer<'env>> {
        exported(env, &self.worker.inbox.areas[(index & 1) as usize])
    }

    /// Replies are written here before `send`.
    #[napi(catch_unwind)]
    pub fn replies<'env>(&self, env: &'env Env) -> Result<ArrayBuffer<'env>> {
        exported(env, &self.replies)
    }

    #[napi(catch_unwind)]
    pub fn cells<'env>(&self, env: &'env Env) -> Result<ArrayBuffer<'env>> {
        let cells = self.worker.inbox.cells.clone();
        let pointer = Arc::as_ptr(&cells).cast::<u8>().cast_mut();
        // SAFETY: the finalizer holds the cells until JavaScript releases the buffer.
        unsafe { ArrayBuffer::from_external(env, pointer, size_of::<Cells>(), cells, |_, cells| drop(cells)) }
    }

    /// Microseconds of the clock of arrivals.
    #[napi(catch_unwind)]
    pub fn clock(&self) -> u32 {
        self.entrance.microseconds()
    }

    /// The length of the next batch. Its bitwise complement, which is negative, if another batch
    /// follows.
    #[napi(catch_unwind)]
    pub fn take(&self) -> i32 {
        self.worker.came();
        let (length, more) = self.worker.inbox.take();
        if more { !(length as i32) } else { length as i32 }
    }

    /// Calls `on_wake` again. Node runs the ticks and promises of the current call before it.
    #[napi(catch_unwind)]
    pub fn again(&self) {
        self.worker.wake();
    }

    #[napi(catch_unwind)]
    pub fn send(&self, length: u32) {
        let length = (length as usize).min(self.replies.length());
        // SAFETY: only this thread writes the area, and it is in this call now.
        let batch = unsafe { std::slice::from_raw_parts(self.replies.pointer(), length) };
        match self.entrance.threads.as_slice() {
            [thread] => thread.outbox.push(batch),
            threads => distribute(batch, &threads.iter().map(|thread| &thread.outbox).collect::<Vec<_>>()),
        }
    }

    /// Gets a growing share of the requests for this many milliseconds, beside the other workers.
    #[napi(catch_unwind)]
    pub fn start_slowly(&self, window: u32) {
        self.worker.start_slowly(self.entrance.now(), window);
    }

    /// Takes no new requests. Those in flight are answered.
    #[napi(catch_unwind)]
    pub fn drain(&self) {
        self.worker.drain();
    }

    /// Takes no new requests while its program is unhealthy. It keeps those that it has.
    #[napi(catch_unwind)]
    pub fn pause(&self, is_paused: bool) {
        self.entrance.pause_worker(&self.worker, is_paused);
    }

    #[napi(getter, catch_unwind)]
    pub fn tunnels(&self) -> u32 {
        self.worker.tunnels.load(Ordering::Relaxed)
    }

    /// Connections of clients, of all workers, without those that were upgraded.
    #[napi(getter, catch_unwind)]
    pub fn clients(&self) -> u32 {
        self.entrance.clients()
    }

    #[napi(getter, catch_unwind)]
    pub fn in_flight(&self) -> u32 {
        self.worker.in_flight.load(Ordering::Relaxed)
    }

    /// Returns all requests that the worker has not begun to the entrance.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.entrance.remove_worker(&self.worker);
    }
}

fn exported<'env>(env: &'env Env, area: &Arc<Area>) -> Result<ArrayBuffer<'env>> {
    // SAFETY: the finalizer holds the area until JavaScript releases the buffer.
    unsafe { ArrayBuffer::from_external(env, area.pointer(), area.length(), area.clone(), |_, area| drop(area)) }
}
