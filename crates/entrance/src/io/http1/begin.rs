//! Begins a request: offers it to a worker, and keeps what repeating it takes.

use std::sync::Arc;

use super::connection::{Connection, Phase};
use crate::http1::fields::elements;
use crate::http1::framing::Framing;
use crate::http1::method;
use crate::http1::parser::{Fields, Head, Progress, parse};
use crate::http1::refusal::Refusal;
use crate::http1::span::Span;
use crate::io::offer::{Offer, Origin, offer};
use crate::io::shared::Io;
use crate::limits::BODY_PIECE;
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::record::flag;

impl Connection {
    /// The spans of `head` and `fields` refer to the unread input.
    pub(super) fn begin(&mut self, head: &Head, fields: &Fields, io: &Io) {
        let input = std::mem::take(&mut self.input);
        let text = input.unread();
        let upgrade = head.upgrade && is_tunnel(head, fields, text);
        let taken = if head.upgrade && !upgrade {
            self.begin_without_upgrade(head, text, io)
        } else {
            self.begin_with(head, fields, text, upgrade, io)
        };
        self.input = input;
        self.input.consume(taken);
    }

    fn begin_with(&mut self, head: &Head, fields: &Fields, text: &[u8], upgrade: bool, io: &Io) -> usize {
        // One that waits for a worker is read again.
        if !self.is_repeated && self.waiting_since.is_none() {
            add(&io.entrance.stats.requests, 1);
        }
        self.is_head = head.method.of(text) == b"HEAD";
        let bytes = &text[head.start..head.end];
        self.origin = origin(fields, text).map(Box::from);
        let at_hand = match head.framing {
            Framing::Length(length) => {
                if length > io.entrance.limits.max_body {
                    self.refuse(Refusal::BodyTooLarge, io);
                    return text.len();
                }
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                &text[head.end..text.len().min(head.end.saturating_add(length.min(BODY_PIECE)))]
            }
            _ => &[],
        };
        self.keep_for_retry(head, bytes, text, upgrade);
        let request = Offer { head, fields, text, bytes, body: at_hand, upgrade, method: head.method.of(text) };
        let origin = Origin {
            slot: self.slot,
            number: self.number,
            ends: self.ends,
            flags: if self.stream.is_secure() { flag::SECURE } else { 0 },
            certificate: self.stream.client_certificate(),
            // The last living worker that had a request of this connection.
            pinned: self.met.last().filter(|_| io.entrance.limits.pin_connections),
            retriable: !self.retry.is_empty() && !self.is_repeated,
            is_repeated: self.is_repeated,
        };
        match offer(&origin, &request, io) {
            Ok(exchange) => {
                self.is_repeated = false;
                self.waiting_since = None;
                self.met(&exchange.worker);
                self.output.credit_to(&exchange);
                self.epoch = exchange.id.epoch;
                self.phase = Phase::Exchange(exchange);
                head.end + at_hand.len()
            }
            // Nothing is consumed: it is read again when there is a worker.
            Err(Refusal::NoWorker) if io.entrance.expects_worker() && !io.entrance.has_worker() => {
                self.waiting_since.get_or_insert(io.entrance.now());
                0
            }
            Err(refusal) => {
                self.refuse(refusal, io);
                text.len()
            }
        }
    }

    /// An upgrade to h2c, with a body or in HTTP/1.0 is handled as a plain request. Its `Upgrade`
    /// field is removed, so that Node's parser sees a plain request too.
    fn begin_without_upgrade(&mut self, head: &Head, text: &[u8], io: &Io) -> usize {
        let mut plain = Vec::with_capacity(text.len());
        for line in text[head.start..head.end].split_inclusive(|&byte| byte == b'\n') {
            if !line.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"upgrade:")) {
                plain.extend_from_slice(line);
            }
        }
        let removed = head.end - plain.len();
        plain.extend_from_slice(&text[head.end..]);
        let limits = &io.entrance.limits;
        let mut fields = Fields::new();
        match parse(&plain, &mut Progress::default(), &mut fields, limits.max_head, limits.max_fields) {
            Ok(Some(head)) => match self.begin_with(&head, &fields, &plain, false, io) {
                0 => 0,
                taken => taken.saturating_add(removed).min(text.len()),
            },
            _ => {
                self.refuse(Refusal::Malformed, io);
                text.len()
            }
        }
    }

    fn keep_for_retry(&mut self, head: &Head, bytes: &[u8], text: &[u8], upgrade: bool) {
        self.retry.clear();
        self.target.clear();
        self.target.extend_from_slice(head.target.of(text));
        if head.framing == Framing::None && !upgrade && method::is_idempotent(head.method.of(text)) {
            self.retry.extend_from_slice(bytes);
        }
    }

    pub(super) fn met(&mut self, worker: &Arc<Worker>) {
        if !self.met.iter().any(|other| Arc::ptr_eq(other, worker)) {
            self.met.push(worker.clone());
        }
    }
}

fn origin<'a>(fields: &Fields, text: &'a [u8]) -> Option<&'a [u8]> {
    let found = fields.iter().find(|(name, _)| name.of(text).eq_ignore_ascii_case(b"origin"));
    found.map(|(_, value)| value.of(text))
}

fn is_tunnel(head: &Head, fields: &Fields, text: &[u8]) -> bool {
    let is_h2c = |&(name, value): &(Span, Span)| {
        name.of(text).eq_ignore_ascii_case(b"upgrade")
            && elements(value.of(text)).any(|protocol| protocol.eq_ignore_ascii_case(b"h2c"))
    };
    !head.is_1_0 && head.framing == Framing::None && !fields.iter().any(is_h2c)
}
