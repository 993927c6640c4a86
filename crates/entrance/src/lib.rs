//! The native entrance. It owns the public listeners, parses requests in threads of its own, and
//! gives them to the workers in batches.
//!
//! - `addon`: the interface for JavaScript
//! - `entrance`: an entrance, the state that its threads share
//! - `io`: the I/O threads. `thread` is one with its runtime, `shared` what its tasks share,
//!   `listener` accepts, `http1` and `http2` read requests, `offer` gives one to a worker,
//!   `exchange` is one that a worker has, `timer` enforces time limits
//! - `http1`: the protocol without input and output. `parser` reads heads, `chunks` bodies, and
//!   `response` finds the ends of responses
//! - `worker`: the workers as the I/O threads see them. `registry` chooses one, `inbox` has the
//!   batches to it, `outbox` those from it, `record` their format
//! - `direct`: services that are reached without a worker
//!
//! Threads share the inbox of a worker and the outbox of an I/O thread, whose locks are held only
//! while bytes are copied, and atomic counters. A connection lives in one I/O thread.

mod addon;
pub mod direct;
pub mod entrance;
pub mod http1;
pub mod io;
pub mod limits;
pub mod stats;
pub mod tls;
pub mod worker;
