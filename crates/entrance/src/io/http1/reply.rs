//! Handles what a worker sends for an exchange.

use super::connection::{Connection, Phase};
use crate::http1::refusal::Refusal;
use crate::io::exchange::Body;
use crate::io::shared::Io;
use crate::limits::REQUEST_WINDOW;
use crate::worker::record::{REPLY_WORDS, flag, reply, word};

impl Connection {
    /// Replies to an earlier exchange, or to another connection that had this slot, are ignored.
    pub(super) fn on_reply(&mut self, record: &[u8], io: &Io) {
        let (second, epoch, length) = (word(record, 1), word(record, 3), word(record, 4) as usize);
        if epoch != self.epoch {
            return;
        }
        let Phase::Exchange(exchange) = &mut self.phase else { return self.ended_when_idle(second as u8) };
        match second as u8 {
            reply::DATA => {
                let start = REPLY_WORDS * 4;
                if let Some(bytes) = record.get(start..start + length) {
                    self.response(bytes, (second >> 16) as u16, io);
                }
            }
            reply::CREDIT => {
                exchange.window = (exchange.window + length).min(REQUEST_WINDOW);
                self.wake();
            }
            reply::END => self.program_ended(false, io),
            reply::DESTROYED | reply::EXPIRED => self.program_ended(true, io),
            reply::RESET => self.program_reset(io),
            _ => {}
        }
    }

    fn response(&mut self, bytes: &[u8], flags: u16, io: &Io) {
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        if exchange.response_done {
            return;
        }
        let taken = if flags & flag::TEXT == 0 {
            exchange.response_done = flags & flag::LAST != 0;
            exchange.close |= flags & flag::CLOSE != 0;
            exchange.has_begun |= !bytes.is_empty();
            bytes.len()
        } else {
            let taken = exchange.response.feed(bytes);
            exchange.response_done = exchange.response.is_done();
            exchange.has_begun = exchange.response.has_begun();
            exchange.close |= exchange.response.close || taken < bytes.len();
            taken
        };
        if exchange.response.is_switched() && exchange.upgrade && !matches!(exchange.body, Body::Raw) {
            exchange.body = Body::Raw;
            exchange.in_flight.becomes_tunnel();
            self.wake();
        }
        self.since = io.entrance.now();
        if matches!(&self.phase, Phase::Exchange(exchange) if exchange.is_complete() && exchange.close) {
            self.send_last(&bytes[..taken], io);
        } else {
            self.send(&bytes[..taken], io);
        }
        self.finish_if_done(io);
    }

    /// Most exchanges end here, without a wake-up of the connection's task, which waits for the
    /// next request anyway.
    fn finish_if_done(&mut self, io: &Io) {
        let Phase::Exchange(exchange) = &self.phase else { return };
        if !exchange.response_done {
            return;
        }
        if !exchange.is_complete() {
            // The rest of the body does not come.
            if self.client_ended {
                self.end_exchange();
            }
            return;
        }
        self.finish(io);
        if !self.input.is_empty() || self.client_ended || !matches!(self.phase, Phase::Head) {
            self.wake();
        }
    }

    /// If a program closes a connection after its response, the connection is closed, whatever the
    /// response's fields say. A request that has begun to arrive since then is answered by another
    /// connection of the program, or of another worker.
    fn ended_when_idle(&mut self, kind: u8) {
        let is_idle = matches!(self.phase, Phase::Head) && (self.input.is_empty() || self.is_behind);
        if matches!(kind, reply::END | reply::DESTROYED | reply::RESET) && is_idle {
            self.end();
        }
    }

    fn program_ended(&mut self, is_destroyed: bool, io: &Io) {
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        if exchange.response.is_switched() {
            exchange.program_ended = true;
            if is_destroyed {
                self.end_exchange();
            }
            return self.wake();
        }
        if exchange.response_done || exchange.response.ends_with_connection() {
            exchange.close = true;
            self.finish(io);
        } else if exchange.has_begun {
            // The client must see that the body is incomplete, so the connection ends before the
            // body's end.
            self.end_exchange();
        } else {
            self.refuse(Refusal::HungUp, io);
        }
        self.wake();
    }

    /// As under Node, what the kernel has not sent is lost.
    fn program_reset(&mut self, io: &Io) {
        match &self.phase {
            Phase::Exchange(exchange) if exchange.has_begun && !exchange.response_done => self.reset(),
            _ => self.program_ended(true, io),
        }
    }
}
