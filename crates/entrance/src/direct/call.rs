//! One request to an instance, and its response.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::attempt::{Attempt, Outcome};
use super::head::{self, Forwarded};
use super::request::Request;
use super::settings::Address;
use super::target::Target;
use super::upstream::{Pool, Upstream};
use crate::entrance::Command;
use crate::http1::framing::Framing;
use crate::http1::method::is_idempotent;
use crate::io::shared::Io;
use crate::worker::record::{ExchangeId, Header, WORDS, add_flags, address_at, flag, reply, reply_record};

const MAX_PIECE: usize = 64 * 1024;

/// What the calls of a target share.
pub struct Served {
    pub io: Rc<Io>,
    pub target: Arc<Target>,
    pub pool: Pool,
}

/// How far a response may be ahead of its client.
#[derive(Default)]
pub struct Window {
    pub ahead: Cell<usize>,
    pub opened: Notify,
}

pub struct Call {
    pub served: Rc<Served>,
    pub id: ExchangeId,
    /// The request's record.
    pub record: Vec<u8>,
    pub window: Rc<Window>,
}

pub async fn run(call: Call, mut pieces: UnboundedReceiver<Vec<u8>>) {
    let Some(request) = Request::of(&call.record) else { return call.give_back() };
    let directory = &call.served.io.entrance.direct;
    let direct = (directory.find(&request.head, &request.fields, &request.text), directory.settings());
    // The routes may have changed meanwhile.
    let (Some(found), settings) = direct else { return call.refuse_unserved(&request) };
    let Some((instance, _load)) = call.served.target.instance() else { return call.refuse_unserved(&request) };
    let address = &instance.address;
    let forwarded = Forwarded {
        client: call.remote().0,
        is_secure: call.header().flags & flag::SECURE != 0,
        stripped: if found.strip { &found.prefix } else { "" },
        is_shared: matches!(address, Address::Port(..)),
    };
    let text = head::request(&request.head, &request.fields, &request.text, &forwarded);
    let method = request.head.method.of(&request.text);
    let counted = directory.counts.begin(&call.served.target.service, &found.shown, method, &instance);
    let attempt = Attempt { call: &call, request: &request, settings: &settings, address, counted: &counted, text };
    // It is sent again once at most.
    let mut is_lost = false;
    let is_repeatable = request.head.framing == Framing::None && is_idempotent(method);
    if is_repeatable && let Some(kept) = call.served.pool.take(address) {
        match attempt.run(kept, &mut pieces).await {
            // The instance may close a kept connection at any moment (RFC 9112, 9.3.1).
            Outcome::Lost => is_lost = true,
            Outcome::HungUp => return call.refuse_hung_up(&request),
            Outcome::Complete | Outcome::Over => return,
        }
    }
    let Ok(upstream) = Upstream::open(address, call.remote().1).await else {
        if request.left > 0 {
            counted.refused(503);
            return call.refuse_unserved(&request);
        }
        counted.withdraw();
        return if is_lost { call.give_back_lost() } else { call.give_back() };
    };
    if is_lost && !upstream.lasts().await {
        counted.withdraw();
        return call.give_back_lost();
    }
    if is_lost {
        counted.retried();
    }
    match attempt.run(upstream, &mut pieces).await {
        Outcome::Lost if is_repeatable && !is_lost && has_ended(address).await => {
            counted.withdraw();
            call.give_back_lost();
        }
        Outcome::Lost | Outcome::HungUp => call.refuse_hung_up(&request),
        Outcome::Complete | Outcome::Over => {}
    }
}

/// A new connection is refused, or breaks: the instance's process has ended, or is about to.
async fn has_ended(address: &Address) -> bool {
    match Upstream::open(address, 0).await {
        Ok(upstream) => !upstream.lasts().await,
        Err(_) => true,
    }
}

impl Call {
    pub(super) fn header(&self) -> Header {
        Header::of(&self.record)
    }

    fn remote(&self) -> (std::net::IpAddr, u16) {
        address_at(&self.record, WORDS)
    }

    /// A worker gets the request, which must be whole, and decides what comes of it.
    pub(super) fn give_back(&self) {
        self.return_to_worker(self.record.clone());
    }

    /// An instance has had it: the worker counts it even if it finds no other one.
    fn give_back_lost(&self) {
        let mut record = self.record.clone();
        add_flags(&mut record, flag::LOST);
        self.return_to_worker(record);
    }

    fn return_to_worker(&self, record: Vec<u8>) {
        let thread = &self.served.io.entrance.threads[self.id.thread as usize];
        thread.command(Command::Return(self.id, record));
    }

    pub(super) fn send(&self, bytes: &[u8]) {
        self.window.ahead.set(self.window.ahead.get() + bytes.len());
        for piece in bytes.chunks(MAX_PIECE) {
            self.reply(reply::DATA, piece, piece.len());
        }
    }

    pub(super) fn reply(&self, kind: u8, bytes: &[u8], value: usize) {
        let thread = &self.served.io.entrance.threads[self.id.thread as usize];
        thread.outbox.push(&reply_record(kind, flag::TEXT, self.id, value as u32, bytes));
    }
}
