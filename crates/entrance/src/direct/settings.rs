//! What the supervisor says about direct requests.

use std::sync::Arc;
use std::time::Duration;

/// Where an instance of a service can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// The private socket of a program's own server.
    Private(String),
    /// The port of a command.
    Port(String, u16),
}

/// One instance of a service that is reached directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub address: Address,
    /// Of its worker, for the counts.
    pub slot: Option<u32>,
}

/// What the gateway's config says about direct requests, and about the entrance's own responses.
#[derive(Debug, Default)]
pub struct Settings {
    /// Sizes of heads and of bodies, in bytes. Others go to a worker, which refuses them.
    pub max_head: usize,
    pub max_body: u64,
    /// Until a response begins. Zero: no limit.
    pub response_timeout: Duration,
    /// What a response says of kept connections, in seconds.
    pub keep_alive: u64,
    /// Paths that begin so are the gateway's own.
    pub reserved: Vec<String>,
    /// Sites whose pages may read what the entrance answers itself.
    pub origins: Arc<[String]>,
}
