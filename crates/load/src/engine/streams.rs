//! Answers over HTTP/2.

use super::Engine;
use crate::record::Failure;
use crate::session::{End, failure_of};
use std::task::Poll;

impl Engine<'_> {
    /// Moves bytes, handles answers and sends more requests, until nothing is left to do.
    pub(super) fn drive(&mut self, place: usize) {
        loop {
            let Some(session) = self.connections[place].http2() else { return };
            let state = session.advance();
            self.clock();
            let answered = self.take_streams(place, &state);
            if let Poll::Ready(end) = state {
                return self.over(place, end);
            }
            if self.job.reconnect && answered > 0 {
                self.close(place, Failure::Closed, "the connection was used for one request");
                if !self.is_closing() {
                    self.open(place);
                }
                return;
            }
            if self.fill(place) == 0 {
                return;
            }
        }
    }

    /// Returns the number of requests that ended. `state`: of the connection.
    fn take_streams(&mut self, place: usize, state: &Poll<End>) -> usize {
        let mut count = 0;
        while let Some((request, end)) = self.connections[place].http2().and_then(|session| session.next_ended()) {
            count += 1;
            self.in_flight -= 1;
            self.progress = self.now;
            let checked = end.map_err(|failed| failure_of(cause_of(&failed.error, state), failed.is_midway)).and_then(
                |received| {
                    let prepared = &self.requests[request.request];
                    prepared.check(&received).map_err(|malformed| (Failure::Malformed, malformed.to_string()))
                },
            );
            match checked {
                Ok((status, length, checked)) => self.record_answer(request, status, length, checked),
                Err((failure, why)) => self.record.failed(failure, request.from, self.now, None, || why),
            }
        }
        count
    }

    fn over(&mut self, place: usize, end: End) {
        match end {
            End::Broken(error) => return self.broke(place, &error),
            End::Failed(error) => {
                let (failure, why) = failure_of(&error, false);
                self.close(place, failure, &why);
            }
            End::Closed => self.close(place, Failure::Closed, "the connection ended before the answer"),
        }
        if !self.is_closing() {
            self.open(place);
        }
    }
}

/// Streams that end with their connection do not tell that the server said why, by a GOAWAY.
fn cause_of<'a>(error: &'a h2::Error, state: &'a Poll<End>) -> &'a h2::Error {
    match state {
        Poll::Ready(End::Failed(why)) if error.is_io() && why.is_go_away() => why,
        _ => error,
    }
}
