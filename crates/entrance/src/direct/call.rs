//! One request to an instance, and its response.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::counts::Counted;
use super::forwarding::{Forwarding, Progress};
use super::head::{self, Asked, Forwarded};
use super::request::Request;
use super::settings::{Address, Settings};
use super::target::Target;
use super::upstream::{Pool, Upstream};
use crate::entrance::Command;
use crate::http1::framing::Framing;
use crate::http1::method::is_idempotent;
use crate::http1::refusal::Refusal;
use crate::io::shared::Io;
use crate::limits::{CREDIT_STEP, PIECE_COST};
use crate::worker::record::{ExchangeId, Header, WORDS, add_flags, address_at, flag, reply, reply_record};

/// Bytes of a response that the client has not read.
const WINDOW: usize = 256 * 1024;
const MAX_PIECE: usize = 64 * 1024;
/// Bytes of one read.
const READ: usize = 16 * 1024;

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

/// How an attempt ended.
enum Outcome {
    Complete,
    /// The instance closed the connection, and its client has got nothing.
    Lost,
    /// It closed the connection behind an informational response, which a repetition would send
    /// again.
    HungUp,
    /// The response had begun, or the client has got an answer of the entrance.
    Over,
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
    fn header(&self) -> Header {
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

    fn reply(&self, kind: u8, bytes: &[u8], value: usize) {
        let thread = &self.served.io.entrance.threads[self.id.thread as usize];
        thread.outbox.push(&reply_record(kind, flag::TEXT, self.id, value as u32, bytes));
    }
}

struct Attempt<'a> {
    call: &'a Call,
    request: &'a Request,
    settings: &'a Settings,
    address: &'a Address,
    counted: &'a Counted<'a>,
    /// The head that the instance gets.
    text: Vec<u8>,
}

impl Attempt<'_> {
    async fn run(&self, upstream: Upstream, pieces: &mut UnboundedReceiver<Vec<u8>>) -> Outcome {
        let header = self.call.header();
        let mut forwarding = Forwarding::new(Asked {
            is_head: self.request.is_head(),
            keep_alive: header.flags & flag::KEEP_ALIVE != 0,
            may_close: matches!(self.address, Address::Private(_)),
            closes: head::asks_to_close(
                &self.request.fields,
                &self.request.text,
                matches!(self.address, Address::Port(..)),
            ),
            timeout: self.settings.keep_alive,
        });
        let has_begun = Cell::new(false);
        let outcome = {
            let receiving = std::pin::pin!(self.receive(&upstream, &mut forwarding, &has_begun));
            self.exchange(&upstream, pieces, receiving, &has_begun).await
        };
        if matches!(outcome, Outcome::Complete) && forwarding.keeps && self.request.left == 0 {
            self.call.served.pool.keep(self.address, upstream);
        }
        // The client may still send a body, of which nothing more is wanted.
        if matches!(outcome, Outcome::Complete) && forwarding.closes() && self.request.head.framing != Framing::None {
            self.call.reply(reply::END, &[], 0);
        }
        outcome
    }

    /// The response may come before the request is sent, and without all of it.
    async fn exchange(
        &self,
        upstream: &Upstream,
        pieces: &mut UnboundedReceiver<Vec<u8>>,
        mut receiving: Pin<&mut impl Future<Output = Outcome>>,
        has_begun: &Cell<bool>,
    ) -> Outcome {
        let is_whole = tokio::select! {
            biased;
            is_whole = self.send(upstream, pieces) => is_whole,
            outcome = &mut receiving => return outcome,
        };
        if !is_whole && !has_begun.get() {
            self.call.refuse_cut(self.request);
            return Outcome::Over;
        }
        let limit = self.settings.response_timeout;
        if limit.is_zero() {
            return receiving.await;
        }
        match tokio::time::timeout(limit, &mut receiving).await {
            Ok(outcome) => outcome,
            Err(_) if has_begun.get() => receiving.await,
            Err(_) => {
                let what = format!("did not begin its response within {} ms", limit.as_millis());
                self.call.refuse(self.request, Refusal::ResponseTimeout, &what);
                Outcome::Over
            }
        }
    }

    /// Returns false if the client ends before its request does.
    async fn send(&self, upstream: &Upstream, pieces: &mut UnboundedReceiver<Vec<u8>>) -> bool {
        let whole = [self.text.as_slice(), &self.request.body].concat();
        let mut is_open = upstream.write(&whole).await.is_ok();
        let mut left = self.request.left;
        let mut consumed = self.request.body.len();
        while left > 0 {
            let Some(piece) = pieces.recv().await else { return false };
            // An instance that has closed its connection may have answered before.
            is_open = is_open && upstream.write(&piece).await.is_ok();
            left = left.saturating_sub(piece.len());
            consumed += piece.len() + PIECE_COST;
            if consumed >= CREDIT_STEP {
                self.call.reply(reply::CREDIT, &[], std::mem::take(&mut consumed));
            }
        }
        true
    }

    async fn receive(&self, upstream: &Upstream, forwarding: &mut Forwarding, has_begun: &Cell<bool>) -> Outcome {
        let mut buffer = vec![0; READ];
        loop {
            while self.call.window.ahead.get() >= WINDOW {
                self.call.window.opened.notified().await;
            }
            let length = match upstream.read(&mut buffer).await {
                Ok(0) => return self.end(forwarding),
                Ok(length) => length,
                // A reset: a body without a length has no end then.
                Err(_) if forwarding.has_begun() => return self.cut(),
                Err(_) => return lost(forwarding),
            };
            let is_last = self.call.served.io.is_draining();
            let progress = forwarding.take(&buffer[..length], is_last, |bytes| self.call.send(bytes));
            has_begun.set(forwarding.has_begun());
            if let Some(status) = forwarding.status() {
                self.counted.answered(status);
            }
            match progress {
                Progress::More => {}
                Progress::Complete => return Outcome::Complete,
                Progress::Malformed if forwarding.has_begun() => return self.cut(),
                Progress::Malformed => {
                    let what = "answered with something that is not HTTP";
                    self.call.refuse(self.request, Refusal::ResponseMalformed, what);
                    return Outcome::Over;
                }
            }
        }
    }

    fn end(&self, forwarding: &mut Forwarding) -> Outcome {
        if forwarding.ends(|bytes| self.call.send(bytes)) {
            Outcome::Complete
        } else if forwarding.has_begun() {
            self.cut()
        } else {
            lost(forwarding)
        }
    }

    /// The client must see that the response is incomplete.
    fn cut(&self) -> Outcome {
        self.counted.cut();
        self.call.reply(reply::END, &[], 0);
        Outcome::Over
    }
}

fn lost(forwarding: &Forwarding) -> Outcome {
    if forwarding.has_informed() { Outcome::HungUp } else { Outcome::Lost }
}
