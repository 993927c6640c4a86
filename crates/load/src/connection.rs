//! One connection: closed, being opened, or open.

use crate::pace::Nanos;
use crate::session::{Http1, Http2, InFlight, Session};
use crate::stream::Stream;

pub enum Link {
    /// Will be opened at this time.
    Closed {
        retry: Nanos,
    },
    Opening(Stream),
    Open(Session),
}

pub struct Connection {
    pub link: Link,
    /// Index of the next request.
    pub turn: usize,
    /// When it began to connect. With a connection per request, latency starts here.
    pub opened_at: Nanos,
    /// Consecutive failed attempts to connect.
    pub failures: u32,
    /// Open loop: it is in the engine's list of connections with room.
    pub is_listed: bool,
}

impl Connection {
    pub fn new(turn: usize) -> Self {
        Connection { link: Link::Closed { retry: 0 }, turn, opened_at: 0, failures: 0, is_listed: false }
    }

    /// Closes the socket, discards buffers, and returns the requests that stay unanswered.
    pub fn close(&mut self, retry: Nanos) -> Vec<InFlight> {
        match std::mem::replace(&mut self.link, Link::Closed { retry }) {
            Link::Open(session) => session.end(),
            Link::Closed { .. } | Link::Opening(_) => Vec::new(),
        }
    }

    pub fn session(&mut self) -> Option<&mut Session> {
        match &mut self.link {
            Link::Open(session) => Some(session),
            Link::Closed { .. } | Link::Opening(_) => None,
        }
    }

    /// Its session, if that is of HTTP/1.1.
    pub fn http1(&mut self) -> Option<&mut Http1> {
        match &mut self.link {
            Link::Open(Session::Http1(session)) => Some(session),
            _ => None,
        }
    }

    /// Its session, if that is of HTTP/2.
    pub fn http2(&mut self) -> Option<&mut Http2> {
        match &mut self.link {
            Link::Open(Session::Http2(session)) => Some(session),
            _ => None,
        }
    }
}
