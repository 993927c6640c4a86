//! One connection and its requests in flight.

use crate::answer::AnswerReader;
use crate::pace::Nanos;
use crate::stream::Stream;
use std::collections::VecDeque;
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

pub enum Link {
    /// Will be opened at this time.
    Closed {
        retry: Nanos,
    },
    Opening(Stream),
    Open(Stream),
}

pub struct Connection {
    pub link: Link,
    pub reader: AnswerReader,
    pub in_flight: VecDeque<InFlight>,
    /// Index of the next request.
    pub turn: usize,
    /// Bytes that the socket has not accepted yet.
    out: Vec<u8>,
    written: usize,
    /// When it began to connect. With a connection per request, latency starts here.
    pub opened_at: Nanos,
    /// Consecutive failed attempts to connect.
    pub failures: u32,
}

impl Connection {
    pub fn new(turn: usize) -> Self {
        Connection {
            link: Link::Closed { retry: 0 },
            reader: AnswerReader::new(),
            in_flight: VecDeque::new(),
            turn,
            out: Vec::new(),
            written: 0,
            opened_at: 0,
            failures: 0,
        }
    }

    /// Buffers a request. [`Connection::flush`] sends it.
    pub fn queue(&mut self, bytes: &[u8], request: InFlight) {
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        self.out.extend_from_slice(bytes);
        self.in_flight.push_back(request);
    }

    /// Writes buffered bytes until the socket is full.
    pub fn flush(&mut self) -> io::Result<()> {
        let Link::Open(stream) = &mut self.link else { return Ok(()) };
        while self.written < self.out.len() || stream.wants_write() {
            match stream.write(&self.out[self.written..]) {
                Ok(0) if self.written < self.out.len() => return Err(io::ErrorKind::WriteZero.into()),
                Ok(0) => return Ok(()),
                Ok(taken) => self.written += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Closes the socket, discards buffers, and returns the requests that stay unanswered.
    pub fn close(&mut self, retry: Nanos) -> VecDeque<InFlight> {
        self.link = Link::Closed { retry };
        self.reader = AnswerReader::new();
        self.out.clear();
        self.written = 0;
        std::mem::take(&mut self.in_flight)
    }

    pub fn is_open(&self) -> bool {
        matches!(self.link, Link::Open(_))
    }
}
