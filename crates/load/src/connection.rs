//! One connection, and the requests in flight on it.

use crate::answer::AnswerReader;
use crate::pace::Nanos;
use crate::stream::Stream;
use std::collections::VecDeque;
use std::io;

/// A request that was written and has no answer yet.
#[derive(Debug, Clone, Copy)]
pub struct InFlight {
    /// Latency counts from here: when it was due in an open loop, when it was written in a closed one.
    pub from: Nanos,
    pub sent: Nanos,
    /// Its place in the job's requests.
    pub request: usize,
}

pub enum Link {
    /// To be opened at this time.
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
    /// The next request in turn.
    pub turn: usize,
    /// Written by us, not yet taken by the socket.
    out: Vec<u8>,
    written: usize,
    /// When it began to open. With a connection per request, latency counts from here.
    pub opened_at: Nanos,
    /// Opens that failed in a row.
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

    /// Adds a request to what will be written; [`Connection::flush`] sends it.
    pub fn queue(&mut self, bytes: &[u8], request: InFlight) {
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        self.out.extend_from_slice(bytes);
        self.in_flight.push_back(request);
    }

    /// Writes what waits until the socket is full.
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

    /// Closes the socket and forgets what was half said; returns the requests that will have no answer.
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
