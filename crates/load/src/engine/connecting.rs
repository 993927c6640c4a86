//! Opens and closes connections.

use super::Engine;
use crate::connection::Link;
use crate::pace::Nanos;
use crate::record::Failure;
use crate::session::Session;
use mio::Token;
use std::io;

/// Delay before a failed connect is retried. It doubles each time, up to a second.
const RETRY: Nanos = 10_000_000;

impl Engine<'_> {
    pub(super) fn next_retry(&self) -> Option<Nanos> {
        if self.job.reconnect || self.is_closing() {
            return None;
        }
        self.connections
            .iter()
            .filter_map(|connection| match connection.link {
                Link::Closed { retry } if connection.failures > 0 => Some(retry),
                _ => None,
            })
            .min()
    }

    /// Opens all closed connections whose delay is over.
    pub(super) fn open_all(&mut self) {
        for place in 0..self.connections.len() {
            if let Link::Closed { retry } = self.connections[place].link
                && retry <= self.now
                && !self.is_closing()
            {
                self.open(place);
            }
        }
    }

    pub(super) fn open(&mut self, place: usize) {
        self.connections[place].opened_at = self.now;
        match self.connector.connect(self.poll.registry(), Token(place)) {
            Ok(stream) => self.connections[place].link = Link::Opening(stream),
            Err(error) => self.open_failed(place, &error),
        }
    }

    pub(super) fn open_failed(&mut self, place: usize, error: &io::Error) {
        let connection = &mut self.connections[place];
        let wait = (RETRY << connection.failures.min(7)).min(1_000_000_000);
        connection.failures += 1;
        connection.close(self.now + wait);
        self.record.connect_failed(|| format!("a connection could not be opened: {error}"));
    }

    /// Handles an event of a connection.
    pub(super) fn turn(&mut self, place: usize, writable: bool, ended: bool) {
        if let Link::Opening(stream) = &self.connections[place].link {
            if let Err(error) = stream.take_error() {
                return self.open_failed(place, &error);
            }
            if !writable || !stream.is_connected() {
                return;
            }
            self.opened(place);
        }
        match self.connections[place].session() {
            Some(Session::Http1(session)) => {
                session.wire.wake(ended);
                if writable && let Err(error) = session.wire.flush() {
                    return self.broke(place, &error);
                }
                self.receive(place);
                self.flush_rest(place);
            }
            Some(Session::Http2(session)) => {
                session.wake(ended);
                self.drive(place);
            }
            None => {}
        }
    }

    /// TLS accepts long bodies only after the handshake, whose end was just read.
    fn flush_rest(&mut self, place: usize) {
        if let Some(session) = self.connections[place].http1()
            && session.wire.buffered() > 0
            && let Err(error) = session.wire.flush()
        {
            self.broke(place, &error);
        }
    }

    pub(super) fn opened(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if let Link::Opening(stream) = std::mem::replace(&mut connection.link, Link::Closed { retry: 0 }) {
            match Session::start(self.job.target.protocol, stream) {
                Ok(session) => connection.link = Link::Open(session),
                Err(error) => return self.open_failed(place, &error),
            }
            connection.failures = 0;
            self.record.connects += 1;
            self.progress = self.now;
            self.feed(place);
        }
    }

    /// Handles the end of a connection of HTTP/1.1.
    pub(super) fn ended(&mut self, place: usize) {
        let Some(session) = self.connections[place].http1() else { return };
        if let Some(&oldest) = session.in_flight.front()
            && let Some(answer) = session.reader.finish()
        {
            let checked = self.requests[oldest.request].checker.check(&answer);
            let (status, length) = (answer.head.status, answer.body.len());
            session.in_flight.pop_front();
            self.in_flight -= 1;
            self.record_answer(oldest, status, length, checked);
        }
        if self.connections[place].http1().is_some_and(|session| session.reader.is_midway()) {
            self.close(place, Failure::Truncated, "the connection ended amid an answer");
        } else {
            self.close(place, Failure::Closed, "the connection ended before the answer");
        }
        if !self.is_closing() {
            self.open(place);
        }
    }

    pub(super) fn broke(&mut self, place: usize, error: &io::Error) {
        let reset = matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
        let failure = if reset { Failure::Reset } else { Failure::Broken };
        self.close(place, failure, &error.to_string());
        if !self.is_closing() {
            self.open(place);
        }
    }

    /// Closes a connection. Its requests in flight have failed.
    pub(super) fn close(&mut self, place: usize, failure: Failure, why: &str) {
        for request in self.connections[place].close(self.now) {
            self.in_flight -= 1;
            self.record.failed(failure, request.from, self.now, None, || why.to_owned());
        }
        if std::mem::take(&mut self.connections[place].is_listed) {
            self.free.retain(|&free| free != place);
        }
    }
}
