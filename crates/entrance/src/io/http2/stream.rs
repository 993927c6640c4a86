//! One stream: its request in a worker, and the transfer of its body. `response` is the other side.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use h2::ext::Protocol;
use h2::{FlowControl, RecvStream};
use http::header::CONTENT_LENGTH;
use http::{Method, Request};

use super::head;
use super::response::{Responder, Response};
use super::shared::Shared;
use crate::http1::method::is_idempotent;
use crate::http1::parser::{Fields, Progress, parse};
use crate::http1::refusal::Refusal;
use crate::io::exchange::{Body, Exchange};
use crate::io::offer::{Offer, Origin, offer};
use crate::io::shared::Io;
use crate::io::stream::Ends;
use crate::limits::{CREDIT_STEP, REQUEST_WINDOW};
use crate::worker::Worker;
use crate::worker::record::{Header, REPLY_WORDS, flag, kind, reply, word};

pub struct Http2Stream {
    pub(super) slot: u32,
    pub(super) number: u32,
    /// That of HTTP/2.
    id: u32,
    ends: Ends,
    pub(super) shared: Rc<Shared>,
    pub(super) response: Response,
    pub(super) state: State,
    /// `None` once the request has arrived.
    pub(super) body: Option<RecvStream>,
    /// Of a request that has arrived, and whose worker may still consume some of it.
    pub(super) flow: Option<FlowControl>,
    /// Bytes of the body that the worker has no room for.
    pub(super) rest: Bytes,
    /// What came behind `rest`.
    pub(super) gathered: BytesMut,
    /// Bytes of the body that the worker has not consumed.
    pub(super) unconsumed: usize,
    pub(super) is_grpc: bool,
    /// The request's head as text, which a worker gets, or another one after it.
    pub(super) head: Vec<u8>,
    pub(super) is_repeated: bool,
    /// Workers that have seen this stream and must learn that it has closed.
    pub(super) met: Vec<Arc<Worker>>,
    pub(super) since: u64,
    epoch: u32,
    waker: Option<Waker>,
}

pub(super) enum State {
    /// No worker could take the request; since when.
    Waiting(u64),
    Exchange(Box<Exchange>),
    /// The response is complete, or sent by the entrance itself.
    Over,
    Closed,
}

impl Http2Stream {
    pub fn new(responder: Responder, slot: u32, number: u32, ends: Ends, shared: Rc<Shared>, now: u64) -> Self {
        Self {
            slot,
            number,
            id: responder.stream_id().into(),
            ends,
            shared,
            response: Response::new(responder, now),
            state: State::Waiting(now),
            body: None,
            flow: None,
            rest: Bytes::new(),
            gathered: BytesMut::new(),
            unconsumed: 0,
            is_grpc: false,
            head: Vec::new(),
            is_repeated: false,
            met: Vec::new(),
            since: now,
            epoch: 0,
            waker: None,
        }
    }

    pub fn begin(&mut self, request: Request<RecvStream>, io: &Io) {
        let (mut parts, body) = request.into_parts();
        let has_body = !body.is_end_stream();
        if parts.extensions.get::<Protocol>().is_some_and(|protocol| protocol.as_str() == "websocket") {
            // Framing of its own would hide the upgrade from the worker.
            if parts.headers.contains_key(CONTENT_LENGTH) {
                return self.refuse(Refusal::Malformed, io);
            }
            parts.headers.remove("sec-websocket-key");
            self.response.is_tunnel = true;
            self.head = head::websocket_text(&parts);
            self.body = Some(body);
            return self.offer(io);
        }
        if parts.method == Method::CONNECT {
            return self.refuse(Refusal::NotImplemented, io);
        }
        if io.entrance.limits.grpc && head::is_grpc(&parts.headers) {
            self.is_grpc = true;
            self.head = head::request_text(&parts, false);
            self.body = has_body.then_some(body);
            self.read_ahead();
            return self.offer(io);
        }
        let length = parts.headers.get(CONTENT_LENGTH);
        // Its worker would wait for the body.
        if !has_body && length.is_some_and(|length| length != "0") {
            return self.refuse(Refusal::Malformed, io);
        }
        self.head = head::request_text(&parts, has_body);
        self.body = has_body.then_some(body);
        self.offer(io);
    }

    /// Gives the request to a worker, also for a second time.
    pub(super) fn offer(&mut self, io: &Io) {
        let text = std::mem::take(&mut self.head);
        let offered = self.try_offer(&text, io);
        self.head = text;
        if let Err(refusal) = offered {
            if refusal == Refusal::NoWorker && io.entrance.expects_worker() && !io.entrance.has_worker() {
                let since = if let State::Waiting(since) = self.state { since } else { io.entrance.now() };
                self.state = State::Waiting(since);
            } else {
                self.refuse(refusal, io);
            }
        }
    }

    fn try_offer(&mut self, text: &[u8], io: &Io) -> Result<(), Refusal> {
        let limits = &io.entrance.limits;
        let mut fields = Fields::new();
        let head = parse(text, &mut Progress::default(), &mut fields, limits.max_head, limits.max_fields)?;
        let head = head.ok_or(Refusal::Malformed)?;
        let method = head.method.of(text);
        let retriable = self.body.is_none() && self.rest.is_empty() && is_idempotent(method);
        let pinned = self.shared.worker.borrow().clone().filter(|_| limits.pin_connections);
        let origin = Origin {
            slot: self.slot,
            number: self.number,
            ends: self.ends,
            flags: if self.shared.is_secure { flag::SECURE | flag::HTTP2 } else { flag::HTTP2 } | self.call_flags(),
            certificate: self.shared.certificate.as_deref(),
            pinned: pinned.as_ref(),
            retriable: retriable && !self.is_repeated,
            is_repeated: self.is_repeated,
        };
        let bytes = &text[head.start..head.end];
        let upgrade = self.response.is_tunnel;
        let request = Offer { head: &head, fields: &fields, text, bytes, body: &self.rest, upgrade, method };
        let mut exchange = offer(&origin, &request, io)?;
        self.unconsumed += std::mem::take(&mut self.rest).len();
        if self.is_grpc {
            exchange.body = if self.body.is_some() { Body::Raw } else { Body::Done };
        }
        self.meet(&exchange.worker.clone());
        self.epoch = exchange.id.epoch;
        self.state = State::Exchange(Box::new(exchange));
        self.wake();
        Ok(())
    }

    pub(super) fn meet(&mut self, worker: &Arc<Worker>) {
        self.shared.worker.replace(Some(worker.clone()));
        if !self.met.iter().any(|other| Arc::ptr_eq(other, worker)) {
            self.met.push(worker.clone());
        }
    }

    pub(super) fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    pub(super) fn on_reply(&mut self, record: &[u8], io: &Io) {
        let (second, epoch, length) = (word(record, 1), word(record, 3), word(record, 4) as usize);
        let State::Exchange(exchange) = &mut self.state else { return };
        if epoch != self.epoch {
            return;
        }
        match second as u8 {
            reply::DATA => {
                let start = REPLY_WORDS * 4;
                let Some(bytes) = record.get(start..start + length) else { return };
                self.response.continues(io.entrance.now());
                let queued = self.response.queued;
                exchange.response.feed_to(bytes, &mut self.response);
                // The worker counts its text. Head and framing are not ahead of the client.
                self.response.sent += bytes.len().saturating_sub(self.response.queued - queued);
                exchange.has_begun = self.response.has_begun();
                self.since = io.entrance.now();
                if exchange.response.is_switched() {
                    if !self.response.is_tunnel {
                        return self.refuse(Refusal::HungUp, io);
                    }
                    exchange.body = Body::Raw;
                    exchange.in_flight.becomes_tunnel();
                }
                if exchange.response.is_done() {
                    self.ends();
                }
            }
            reply::CREDIT => {
                exchange.window = (exchange.window + length).min(REQUEST_WINDOW);
                self.release(length);
            }
            reply::HEAD | reply::BODY | reply::TRAILERS | reply::ANSWER => self.on_call_reply(record, length, io),
            reply::END | reply::DESTROYED | reply::EXPIRED if exchange.response.lasts_as_connection() => self.ends(),
            reply::END | reply::DESTROYED | reply::EXPIRED | reply::RESET => return self.refuse(Refusal::HungUp, io),
            _ => {}
        }
        // Before the task of the connection runs, which would write a head by itself.
        if let Some(waker) = &self.waker {
            self.response.send(&mut Context::from_waker(waker), &self.shared, io.entrance.now());
        }
        self.wake();
    }

    pub(super) fn ends(&mut self) {
        self.response.completes();
        self.state = State::Over;
    }

    pub(super) fn progress(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.waker = Some(context.waker().clone());
        }
        if let Err(Some(refusal)) = self.pass_body(context, io) {
            self.refuse(refusal, io);
        }
        self.response.send(context, &self.shared, io.entrance.now());
        self.credit(io);
        if self.response.was_reset() {
            // A WebSocket may end in this way.
            if !(self.response.is_tunnel && self.response.has_begun()) {
                self.shared.resets.borrow_mut().noticed(self.id, io.entrance.now());
            }
            return Poll::Ready(());
        }
        match self.state {
            State::Closed => Poll::Ready(()),
            State::Over if self.response.is_sent() => {
                self.shared.resets.borrow_mut().allow_one();
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }

    /// Tells the worker what was sent of its response.
    fn credit(&mut self, io: &Io) {
        let State::Exchange(exchange) = &mut self.state else { return };
        if self.response.sent < CREDIT_STEP {
            return;
        }
        let lengths = [std::mem::take(&mut self.response.sent) as u32, 0];
        let header = Header { kind: kind::CREDIT, flags: 0, id: exchange.id, connection: self.number, lengths };
        if exchange.worker.inbox.push(&header, &[]).is_ok() {
            io.wake_soon(&exchange.worker);
        }
    }

    /// A WebSocket has no body that must arrive in time. The worker limits the time of a gRPC call.
    pub(super) fn has_body(&self) -> bool {
        self.body.is_some() && !self.response.is_tunnel && !self.is_grpc
    }
}
