//! The threads that own listeners and connections.

mod begin;
mod buffer;
mod closing;
mod connection;
mod exchange;
mod failover;
mod handshake;
mod http2;
mod listener;
mod output;
#[cfg(test)]
mod panics;
mod reply;
mod request_source;
mod stream;
pub mod thread;
mod timer;
