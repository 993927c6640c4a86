//! The threads that own listeners and connections.

mod exchange;
mod handshake;
mod http1;
mod http2;
mod listener;
mod offer;
#[cfg(test)]
mod panics;
pub mod shared;
mod stream;
pub mod thread;
mod timer;
