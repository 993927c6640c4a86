//! Answers over HTTP/1.1: reads and checks them, then sends more requests.

use super::Engine;
use crate::check::Difference;
use crate::prepared::{Form, Prepared};
use crate::record::Failure;
use crate::session::InFlight;
use std::io;

impl Engine<'_> {
    pub(super) fn receive(&mut self, place: usize) {
        loop {
            let Some(session) = self.connections[place].http1() else { return };
            match session.wire.read(&mut self.buffer) {
                Ok(0) => return self.ended(place),
                Ok(length) => {
                    session.reader.push(&self.buffer[..length]);
                    if !self.take_answers(place) {
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
            let Some(session) = self.connections[place].http1() else { return false };
            let Some(&oldest) = session.in_flight.front() else { break };
            let Prepared { form: Form::Http1 { question, .. }, checker, .. } = &self.requests[oldest.request] else {
                unreachable!("requests have the form of the protocol")
            };
            let (close, status, length, checked) = match session.reader.next(*question) {
                Ok(None) => break,
                Ok(Some(answer)) => (answer.head.close, answer.head.status, answer.body.len(), checker.check(&answer)),
                Err(malformed) => {
                    self.close(place, Failure::Malformed, &malformed.to_string());
                    return false;
                }
            };
            session.in_flight.pop_front();
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
            sent_more |= self.fill(place) > 0;
        }
        if sent_more
            && let Some(session) = self.connections[place].http1()
            && let Err(error) = session.wire.flush()
        {
            self.broke(place, &error);
            return false;
        }
        true
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
