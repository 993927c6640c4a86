//! One try to get the response of a request from an instance, over one connection.

use std::cell::Cell;
use std::pin::Pin;

use tokio::sync::mpsc::UnboundedReceiver;

use super::call::Call;
use super::counts::Counted;
use super::forwarding::{Forwarding, Progress};
use super::head::{self, Asked};
use super::request::Request;
use super::settings::{Address, Settings};
use super::upstream::Upstream;
use crate::http1::framing::Framing;
use crate::http1::refusal::Refusal;
use crate::limits::{CREDIT_STEP, PIECE_COST};
use crate::worker::record::{flag, reply};

/// Bytes of a response that the client has not read.
const WINDOW: usize = 256 * 1024;
/// Bytes of one read.
const READ: usize = 16 * 1024;

/// How an attempt ended.
pub enum Outcome {
    Complete,
    /// The instance closed the connection, and its client has got nothing.
    Lost,
    /// It closed the connection behind an informational response, which a repetition would send
    /// again.
    HungUp,
    /// The response had begun, or the client has got an answer of the entrance.
    Over,
}

/// A request on its way to one instance.
pub struct Attempt<'a> {
    pub call: &'a Call,
    pub request: &'a Request,
    pub settings: &'a Settings,
    pub address: &'a Address,
    pub counted: &'a Counted<'a>,
    /// The head that the instance gets.
    pub text: Vec<u8>,
}

impl Attempt<'_> {
    pub async fn run(&self, upstream: Upstream, pieces: &mut UnboundedReceiver<Vec<u8>>) -> Outcome {
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
