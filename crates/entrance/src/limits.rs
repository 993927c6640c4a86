//! Limits on what clients can use.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections on all listeners. More are refused with 503.
    pub max_connections: usize,
    /// A request's first line and fields, in bytes. Also its trailers. Refused with 431.
    pub max_head: usize,
    /// Fields of one request. Refused with 431. Node silently drops those beyond 2,000.
    pub max_fields: usize,
    /// A request's body, in bytes. Refused with 413.
    pub max_body: u64,
    /// Requests in flight in one worker. More are refused with 503.
    pub max_in_flight: u32,
    /// From the first byte of a head to its last. Refused with 408.
    pub head_timeout: Duration,
    /// From the first byte of a request to its last. Refused with 408.
    pub request_timeout: Duration,
    /// Without a request.
    pub idle_timeout: Duration,
    /// Without progress in sending a response. Then the connection is cut.
    pub send_timeout: Duration,
    /// A request that waits for a worker while none serves. Refused with 503.
    pub worker_timeout: Duration,
    /// The entrance's own responses explain themselves (RFC 9457), instead of being those of Node.
    pub problems: bool,
    /// All requests of a connection go to one worker, while it serves.
    pub pin_connections: bool,
    /// Workers get gRPC calls as such, and not as requests of HTTP.
    pub grpc: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 65_536,
            max_head: 16 * 1024,
            max_fields: 2_000,
            max_body: 1 << 30,
            max_in_flight: 10_000,
            head_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(72),
            send_timeout: Duration::from_secs(60),
            worker_timeout: Duration::from_secs(10),
            problems: false,
            pin_connections: false,
            grpc: false,
        }
    }
}

/// Bytes of a request's body that a worker may have without having consumed them.
pub const REQUEST_WINDOW: usize = 256 * 1024;
/// What a piece of a body takes from that window beside its bytes: about what it costs a worker.
/// Without it, a client that sends chunks of one byte would fill the memory of a worker.
pub const PIECE_COST: usize = 256;
/// Size limit for a piece of a body, so that an inbox has room for other records.
pub const BODY_PIECE: usize = 64 * 1024;
/// A worker learns about sent bytes in steps of this size. Its own limit (`window` in
/// `windows.ts`) is a multiple of it.
pub const CREDIT_STEP: usize = 64 * 1024;
/// A worker tells of what it has consumed of a body of HTTP/2 in steps of this. What is not told of
/// fills the connection's window, so it must be a small part of that even for all of its streams.
pub const RELEASE_STEP: usize = 4 * 1024;
/// Bytes read after a request before it is answered: pipelined requests, or the first bytes of an
/// upgraded connection.
pub const READ_AHEAD: usize = 64 * 1024;
/// Time and bytes that a client gets to read the last response. Closing a socket with unread input
/// resets it, and the response may be lost.
pub const LINGER: Duration = Duration::from_secs(1);
pub const LINGER_BYTES: usize = 1024 * 1024;
