//! How an exchange ends, and a connection.

use std::pin::Pin;
use std::task::Context;

use tokio::io::AsyncWrite;

use super::buffer::{Buffer, KEPT};
use super::connection::{Connection, Next, Phase};
use crate::http1::method::begins_head;
use crate::http1::refusal::{Refusal, Refused};
use crate::io::exchange::Exchange;
use crate::io::shared::Io;
use crate::limits::LINGER_BYTES;
use crate::worker::record::{ExchangeId, Header, flag, kind};

impl Connection {
    /// Closes the connection at once.
    pub(super) fn cut(&mut self) {
        self.phase = Phase::Closed;
        self.wake();
    }

    /// Closes the connection by a reset: the client of a body without a length, or of another
    /// protocol, sees by nothing else that it has not got all.
    pub(super) fn reset(&mut self) {
        self.stream.reset_when_dropped();
        self.cut();
    }

    /// The client, or the network, has broken the connection off.
    pub(super) fn fail(&mut self) {
        self.is_reset = true;
        self.cut();
    }

    /// Called when the connection's task has ended. The workers that know the connection learn
    /// about it.
    pub(super) fn leave_workers(&mut self, io: &Io) {
        self.cut();
        let id = ExchangeId { thread: io.number, slot: self.slot, epoch: 0 };
        let flags = if self.is_reset { flag::RESET } else { 0 };
        for worker in std::mem::take(&mut self.met) {
            let header = Header { kind: kind::CLOSED, flags, id, connection: self.number, lengths: [0, 0] };
            if worker.inbox.push(&header, &[]).is_ok() {
                io.wake_soon(&worker);
            }
        }
    }

    /// Ends an exchange whose request and response are complete.
    pub(super) fn finish(&mut self, io: &Io) -> Next {
        let Phase::Exchange(exchange) = std::mem::replace(&mut self.phase, Phase::Head) else { return Next::Again };
        self.since = io.entrance.now();
        self.is_behind = !self.input.is_empty();
        self.is_head = false;
        self.origin = None;
        // An idle connection keeps little, also after a long head.
        for kept in [&mut self.retry, &mut self.target] {
            kept.clear();
            kept.shrink_to(KEPT);
        }
        if exchange.close { self.end() } else { Next::Again }
    }

    /// Abandons the exchange, and closes the connection when all output is sent.
    pub(super) fn end_exchange(&mut self) -> Next {
        self.end()
    }

    /// Sends the entrance's own response and closes the connection. If a response has begun, it is
    /// cut.
    pub(super) fn refuse(&mut self, refusal: Refusal, io: &Io) -> Next {
        let (begun, is_head, has_no_end) = match std::mem::replace(&mut self.phase, Phase::Head) {
            // The fault is in the rest of a body whose request has its response.
            Phase::Exchange(exchange) if exchange.response_done => return self.end(),
            Phase::Exchange(Exchange { has_begun, response, .. }) => {
                (has_begun, response.is_head_request(), response.lasts_as_connection())
            }
            _ => (false, self.is_head || begins_head(self.input.unread()), false),
        };
        io.entrance.stats.refused(refusal);
        if begun {
            if has_no_end {
                self.reset()
            } else {
                self.cut()
            }
            return Next::Closed;
        }
        let refused = Refused { is_head, target: &self.target, origin: self.origin.as_deref() };
        self.send_last(&refusal.answer(io.entrance.limits.problems, &io.entrance.origins(), refused), io);
        self.end()
    }

    pub(super) fn end(&mut self) -> Next {
        self.phase = Phase::Ending;
        self.wake();
        Next::Again
    }

    pub(super) fn close_half(&mut self, context: &mut Context<'_>, io: &Io) -> Next {
        if Pin::new(&mut self.stream).poll_shutdown(context).is_pending() {
            return Next::Wait;
        }
        self.since = io.entrance.now();
        self.input = Buffer::default();
        self.phase = if self.client_ended { Phase::Closed } else { Phase::Lingering(LINGER_BYTES) };
        Next::Again
    }
}
