//! The body of a connection's request, or the bytes of an upgraded connection.

use std::pin::Pin;
use std::task::Context;

use tokio::io::AsyncWrite;

use super::connection::{Connection, Next, Phase};
use crate::http1::refusal::Refusal;
use crate::io::exchange::Body;
use crate::io::shared::Io;
use crate::limits::READ_AHEAD;
use crate::worker::Form;
use crate::worker::record::kind;

impl Connection {
    pub(super) fn exchange(&mut self, context: &mut Context<'_>, io: &Io) -> Next {
        if !self.input.is_empty() {
            let input = std::mem::take(&mut self.input);
            let taken = self.body(input.unread(), io);
            self.input = input;
            self.input.consume(taken);
        }
        let Phase::Exchange(exchange) = &mut self.phase else { return Next::Again };
        match exchange.body {
            Body::Done if exchange.response_done => self.finish(io),
            Body::Done if self.client_ended || self.input.len() >= READ_AHEAD => Next::Wait,
            Body::Done => Next::Read,
            Body::Raw => self.tunnel(context, io),
            _ if exchange.window == 0 => Next::Wait,
            _ if self.client_ended => self.end_of_client(io),
            // Reads on while the worker can take more of the body.
            _ => Next::Read,
        }
    }

    /// The client has closed its half before the end of the body. The worker's server knows whether
    /// the request was answered by then, and what to say otherwise.
    fn end_of_client(&mut self, io: &Io) -> Next {
        let Phase::Exchange(exchange) = &mut self.phase else { return Next::Again };
        if exchange.response_done {
            return self.end_exchange();
        }
        if exchange.worker.form == Form::Values {
            return self.refuse(Refusal::Malformed, io);
        }
        if !std::mem::replace(&mut exchange.told_client_ended, true) {
            let _ = exchange.push(kind::CLIENT_ENDED, 0, [0, 0], &[], self.number, io);
        }
        Next::Wait
    }

    /// Forwards bytes of the current request's body. Returns how many were taken.
    pub(super) fn body(&mut self, bytes: &[u8], io: &Io) -> usize {
        let mut at = 0;
        while let Phase::Exchange(exchange) = &mut self.phase {
            match exchange.pass_body(&bytes[at..], self.number, io) {
                Ok(0) => break,
                Ok(taken) => {
                    at += taken;
                    self.since = io.entrance.now();
                }
                Err(refusal) => {
                    self.refuse(refusal, io);
                    return bytes.len();
                }
            }
        }
        at
    }

    /// Each half of an upgraded connection ends separately. The connection ends with both.
    fn tunnel(&mut self, context: &mut Context<'_>, io: &Io) -> Next {
        let Phase::Exchange(exchange) = &mut self.phase else { return Next::Again };
        let has_client_ended = self.client_ended && self.input.is_empty();
        if has_client_ended && !std::mem::replace(&mut exchange.told_client_ended, true) {
            let _ = exchange.push(kind::CLIENT_ENDED, 0, [0, 0], &[], self.number, io);
        }
        if exchange.program_ended && self.output.is_empty() && !self.stream.has_unsent() {
            if has_client_ended {
                return self.end_exchange();
            }
            let _ = Pin::new(&mut self.stream).poll_shutdown(context);
        }
        if self.client_ended || exchange.window == 0 || !self.input.is_empty() { Next::Wait } else { Next::Read }
    }
}
