//! Gives a request to a worker.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::exchange::{Body, Exchange};
use super::shared::Io;
use super::stream::Ends;
use crate::entrance::Entrance;
use crate::http1::chunks::Chunks;
use crate::http1::framing::Framing;
use crate::http1::parser::Head;
use crate::http1::refusal::Refusal;
use crate::http1::response::ResponseScan;
use crate::http1::span::Span;
use crate::limits::REQUEST_WINDOW;
use crate::stats::add;
use crate::worker::in_flight::InFlight;
use crate::worker::inbox::PushError;
use crate::worker::record::{ExchangeId, Header, RequestParts, flag, kind};
use crate::worker::{Form, Worker};

/// Workers that are tried before a request is refused.
const MAX_CHOICES: usize = 4;

/// A request that is offered to workers.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    pub head: &'a Head,
    pub fields: &'a [(Span, Span)],
    /// What the spans refer to.
    pub text: &'a [u8],
    /// The head's text.
    pub bytes: &'a [u8],
    /// What there is of the body.
    pub body: &'a [u8],
    pub upgrade: bool,
    pub method: &'a [u8],
}

/// The connection, or the stream, that a request comes from.
pub(super) struct Origin<'a> {
    pub slot: u32,
    pub number: u32,
    pub ends: Ends,
    /// What a request's record says about it.
    pub flags: u16,
    /// In DER.
    pub certificate: Option<&'a [u8]>,
    /// The worker that gets all requests of the connection, while it takes any.
    pub pinned: Option<&'a Arc<Worker>>,
    /// Another worker may get the request if the first one dies.
    pub retriable: bool,
    /// An earlier one has died.
    pub is_repeated: bool,
}

/// Gives the request to the worker with the fewest.
pub(super) fn offer(origin: &Origin<'_>, offer: &Offer<'_>, io: &Io) -> Result<Exchange, Refusal> {
    let Offer { head, fields, bytes, body, upgrade, method, .. } = *offer;
    let Origin { slot, number, ends: Ends { remote, local }, flags, certificate, pinned, retriable, .. } = *origin;
    let id = ExchangeId { thread: io.number, slot, epoch: io.next_epoch() };
    let left = match head.framing {
        Framing::Length(length) if length > body.len() as u64 => Body::Length(length - body.len() as u64),
        Framing::Chunked => Body::Chunked(Box::new(Chunks::new(io.entrance.limits.max_head))),
        _ => Body::Done,
    };
    let lengths = [bytes.len() as u32, body.len() as u32];
    let length_of_certificate = certificate.map_or([0; 4], |der| (der.len() as u32).to_le_bytes());
    let behind: [&[u8]; 2] = certificate.map_or([&[], &[]], |der| [&length_of_certificate[..], der]);
    let flags = flags | flags_of(head, upgrade, &left) | certificate.map_or(0, |_| flag::CERTIFICATE);
    let header = Header { kind: kind::REQUEST, flags, id, connection: number, lengths };
    let mut words = io.words.borrow_mut();
    let max_in_flight = io.entrance.limits.max_in_flight;
    let mut pinned = pinned.filter(|worker| worker.takes_requests() && worker.load() < max_in_flight);
    let mut direct = find_direct(origin, offer, io);
    for _ in 0..MAX_CHOICES {
        let now = io.entrance.now();
        let first = direct.take().or_else(|| pinned.take().cloned());
        let Some(worker) = first.or_else(|| io.entrance.registry.choose(now, max_in_flight)) else {
            return Err(if io.entrance.has_worker() { Refusal::Overloaded } else { Refusal::NoWorker });
        };
        let has_table = worker.form == Form::Values || flags & flag::GRPC != 0;
        let fields: &[_] = if has_table { fields } else { &[] };
        let Head { method: name, target, start, .. } = *head;
        let arrived = io.entrance.microseconds();
        RequestParts { remote, local, method: name, target, arrived, fields, start: start as u32 }.write(&mut words);
        match worker.inbox.push(&header, &[&words, bytes, body, behind[0], behind[1]]) {
            Ok(sequence) => {
                io.wake_soon(&worker);
                return Ok(Exchange {
                    id,
                    in_flight: InFlight::at(&worker),
                    worker,
                    sequence,
                    body: left,
                    request_since: now,
                    window: REQUEST_WINDOW - body.len(),
                    response: ResponseScan::new(method == b"HEAD"),
                    has_begun: false,
                    response_done: false,
                    // A client of HTTP/1.0 may not have meant the coding (RFC 9112, 6.1).
                    close: !head.keep_alive || (head.is_1_0 && head.framing == Framing::Chunked),
                    upgrade,
                    retriable,
                    told_client_ended: false,
                    unsent: Vec::new(),
                    waiting_since: None,
                    program_ended: false,
                });
            }
            Err(PushError::Closed) => {}
            Err(PushError::Full) => return Err(Refusal::Overloaded),
        }
    }
    Err(Refusal::NoWorker)
}

/// A service that is reached without a worker.
fn find_direct(origin: &Origin<'_>, offer: &Offer<'_>, io: &Io) -> Option<Arc<Worker>> {
    let Entrance { direct, limits, stats, .. } = &*io.entrance;
    let is_grpc = origin.flags & flag::GRPC != 0;
    if !direct.is_used() || offer.upgrade || is_grpc || origin.is_repeated || origin.certificate.is_some() {
        return None;
    }
    let found = direct.find(offer.head, offer.fields, offer.text)?.target.worker.clone();
    if found.in_flight.load(Relaxed) >= limits.max_in_flight {
        return None;
    }
    add(&stats.direct, 1);
    Some(found)
}

fn flags_of(head: &Head, upgrade: bool, left: &Body) -> u16 {
    let mut flags = 0;
    for (is_set, bit) in [
        (!matches!(left, Body::Done), flag::MORE),
        (head.keep_alive, flag::KEEP_ALIVE),
        (head.is_1_0, flag::IS_1_0),
        (upgrade, flag::UPGRADE),
        (head.framing == Framing::Chunked, flag::CHUNKED),
    ] {
        flags |= if is_set { bit } else { 0 };
    }
    flags
}
