//! Connections that speak HTTP/1. `crate::http1` is the protocol.

mod begin;
mod body;
mod buffer;
mod closing;
pub mod connection;
mod output;
mod reply;
mod request_source;
mod write;
