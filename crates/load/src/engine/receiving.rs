//! Reads and checks answers, then sends more requests.

use super::Engine;
use crate::check::Difference;
use crate::connection::{InFlight, Link};
use crate::record::Failure;
use std::io;

impl Engine<'_> {
    /// `ended`: the poll reported the end of the stream, after the bytes that can be read now.
    pub(super) fn receive(&mut self, place: usize, ended: bool) {
        loop {
            let Link::Open(stream) = &mut self.connections[place].link else { return };
            match stream.read(&mut self.buffer) {
                Ok(0) => return self.ended(place),
                Ok(length) => {
                    self.connections[place].reader.push(&self.buffer[..length]);
                    if !self.take_answers(place) {
                        return;
                    }
                    // A short read means that no more bytes are available, so another read is
                    // unnecessary. Not after the reported end, which is reported only once, and not
                    // with TLS, which returns one record at a time.
                    if length < self.buffer.len() && self.job.target.tls.is_none() && !ended {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.broke(place, &error),
            }
        }
    }

    /// Handles all complete answers, and sends more requests. False if the connection was closed.
    pub(super) fn take_answers(&mut self, place: usize) -> bool {
        self.clock();
        let mut sent_more = false;
        loop {
            let connection = &mut self.connections[place];
            let Some(&oldest) = connection.in_flight.front() else { break };
            let prepared = &self.requests[oldest.request];
            let (close, status, length, checked) = match connection.reader.next(prepared.question) {
                Ok(None) => break,
                Ok(Some(answer)) => {
                    (answer.head.close, answer.head.status, answer.body.len(), prepared.checker.check(&answer))
                }
                Err(malformed) => {
                    self.close(place, Failure::Malformed, &malformed.to_string());
                    return false;
                }
            };
            connection.in_flight.pop_front();
            self.in_flight -= 1;
            self.progress = self.now;
            self.record_answer(oldest, status, length, checked);
            if close || self.job.reconnect {
                self.close(place, Failure::Closed, "the server closed the connection before its answer");
                if !self.is_closing() {
                    self.open(place);
                }
                return false;
            }
            self.refill(place);
            sent_more = true;
        }
        if sent_more && let Err(error) = self.connections[place].flush() {
            self.broke(place, &error);
            return false;
        }
        true
    }

    /// After an answer, a closed loop sends the next request, an open loop only if one is due.
    pub(super) fn refill(&mut self, place: usize) {
        if self.pacer.is_none() {
            if !self.is_closing() {
                self.budget -= u64::from(self.budget != u64::MAX);
                self.queue(place, self.now);
            }
        } else if self.connections[place].in_flight.is_empty() {
            match self.waiting.pop_front() {
                Some(due) => self.send_waiting(place, due),
                None => self.free.push(place),
            }
        }
    }

    pub(super) fn record_answer(
        &mut self,
        request: InFlight,
        status: u16,
        length: usize,
        checked: Result<(), Difference>,
    ) {
        match checked {
            Ok(()) => self.record.answered(request.from, self.now, length, status),
            Err(Difference { kind, detail }) => {
                let detail = || {
                    let detail = detail.map_or(String::new(), |detail| format!(": {detail}"));
                    format!("the answer's {kind:?} was not the expected one{detail} (status {status}, {length} bytes)")
                };
                self.record.failed(Failure::Mismatch(kind), request.from, self.now, Some(status), detail);
            }
        }
    }
}
