//! Sends requests that are due, and gives up those that wait too long.

use super::Engine;
use crate::pace::{Nanos, Pacer};
use crate::record::Failure;
use crate::session::{InFlight, Session};

impl Engine<'_> {
    /// Sends what this connection may send now.
    pub(super) fn feed(&mut self, place: usize) {
        self.fill(place);
        self.flush(place);
    }

    /// Buffers requests while the connection has room: in a closed loop until all its slots are in
    /// use, in an open loop those that are due. Returns their number.
    pub(super) fn fill(&mut self, place: usize) -> usize {
        let mut count = 0;
        while self.has_room(place) {
            if self.pacer.is_some() {
                let Some(due) = self.waiting.pop_front() else {
                    self.list_as_free(place);
                    break;
                };
                // The connection became free for a waiting request. That delay is caused by the
                // server.
                self.clock();
                self.record.queued += 1;
                self.queue(place, due);
            } else if !self.may_send() {
                break;
            } else {
                self.budget -= u64::from(self.budget != u64::MAX);
                let from = if self.job.reconnect { self.connections[place].opened_at } else { self.now };
                self.queue(place, from);
            }
            count += 1;
        }
        count
    }

    fn has_room(&mut self, place: usize) -> bool {
        let slots = self.slots;
        self.connections[place].session().is_some_and(|session| session.has_room(slots))
    }

    /// The last in the list is used next: with HTTP/1.1 the one that was free last.
    fn list_as_free(&mut self, place: usize) {
        if !std::mem::replace(&mut self.connections[place].is_listed, true) {
            self.free.push_back(place);
        }
    }

    fn queue(&mut self, place: usize, from: Nanos) {
        let sent = self.now;
        let connection = &mut self.connections[place];
        let request = connection.turn;
        connection.turn = (request + 1) % self.requests.len();
        let Some(session) = connection.session() else { return };
        let in_flight = InFlight { from, sent, request };
        match session.queue(&self.requests[request], in_flight) {
            Ok(()) => self.in_flight += 1,
            Err(error) => {
                self.record.failed(Failure::Broken, from, sent, None, || error.to_string());
                self.broke(place, &error);
            }
        }
    }

    /// Writes what is buffered.
    fn flush(&mut self, place: usize) {
        match self.connections[place].session() {
            Some(Session::Http1(session)) => {
                if let Err(error) = session.wire.flush() {
                    self.broke(place, &error);
                }
            }
            Some(Session::Http2(_)) => self.drive(place),
            None => {}
        }
    }

    /// Open loop: sends due requests on connections with room. The others are queued.
    pub(super) fn send_due(&mut self) {
        while let Some(due) = self.pacer.as_ref().and_then(Pacer::due).filter(|&due| due <= self.now) {
            if let Some(pacer) = &mut self.pacer {
                pacer.advance();
            }
            self.waiting.push_back(due);
        }
        while let Some(&due) = self.waiting.front() {
            let Some(place) = self.free.pop_back() else { return };
            self.connections[place].is_listed = false;
            if !self.has_room(place) {
                continue;
            }
            self.waiting.pop_front();
            self.clock();
            // Connections had room, so the delay since the due time was caused by this loop.
            self.record.paced(due, self.now);
            self.queue(place, due);
            // Others go first, so that requests are spread over the connections.
            if self.has_room(place) && !std::mem::replace(&mut self.connections[place].is_listed, true) {
                self.free.push_front(place);
            }
            self.flush(place);
        }
    }

    pub(super) fn time_out(&mut self) {
        let Some(oldest) = self.now.checked_sub(self.job.timeout_ms * 1_000_000) else { return };
        let why = format!("no answer within {} ms", self.job.timeout_ms);
        for place in 0..self.connections.len() {
            match self.connections[place].session() {
                Some(Session::Http1(session)) if session.waits_since_before(oldest) => {
                    self.close(place, Failure::Timeout, &why);
                }
                Some(Session::Http2(session)) => {
                    let late = session.cancel_sent_before(oldest);
                    self.in_flight -= late.len();
                    for request in &late {
                        self.record.failed(Failure::Timeout, request.from, self.now, None, || why.clone());
                    }
                    if !late.is_empty() {
                        self.feed(place);
                    }
                }
                Some(Session::Http1(_)) | None => {}
            }
        }
    }
}
