//! The requests of one open connection, over HTTP/1.1 or HTTP/2.

mod exchange;
mod http1;
mod http2;

use crate::job::Protocol;
use crate::pace::Nanos;
use crate::prepared::Prepared;
use crate::stream::Stream;
use crate::wire::Wire;
pub use http1::Http1;
pub use http2::{End, Http2, failure_of};
use std::io;

/// A request in flight.
#[derive(Debug, Clone, Copy)]
pub struct InFlight {
    /// Start of its latency: when it was due (open loop) or written (closed loop).
    pub from: Nanos,
    pub sent: Nanos,
    /// Index in the job's requests.
    pub request: usize,
}

pub enum Session {
    Http1(Box<Http1>),
    Http2(Box<Http2>),
}

impl Session {
    pub fn start(protocol: Protocol, stream: Stream) -> io::Result<Session> {
        let wire = Wire::new(stream);
        Ok(match protocol {
            Protocol::Http1 => Session::Http1(Box::new(Http1::new(wire))),
            Protocol::Http2 => Session::Http2(Box::new(Http2::start(wire)?)),
        })
    }

    /// True if another request may be sent, of at most `limit` in flight.
    pub fn has_room(&mut self, limit: usize) -> bool {
        match self {
            Session::Http1(session) => session.in_flight.len() < limit,
            Session::Http2(session) => session.has_room(limit),
        }
    }

    /// Buffers a request.
    pub fn queue(&mut self, prepared: &Prepared, request: InFlight) -> io::Result<()> {
        match self {
            Session::Http1(session) => session.queue(prepared, request),
            Session::Http2(session) => session.queue(prepared, request)?,
        }
        Ok(())
    }

    /// Ends the session. Returns the requests that stay unanswered.
    pub fn end(self) -> Vec<InFlight> {
        match self {
            Session::Http1(session) => session.in_flight.into(),
            Session::Http2(session) => session.end(),
        }
    }
}
