//! The response of a stream, from the text of a worker to frames.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::HeaderMap;

use super::flushes::Ticket;
use super::head;
use super::shared::Shared;
use crate::http1::response::ResponseParts;

pub type Responder = SendResponse<Bytes>;

/// Pieces of a response become one up to this size.
const JOINED: usize = 16 * 1024;

/// The queue is bounded by the worker, which writes no further ahead than its window.
pub struct Response {
    responder: Responder,
    /// Set once the head is sent.
    stream: Option<SendStream<Bytes>>,
    /// 101 becomes 200, and the response lasts for as long as the WebSocket.
    pub is_tunnel: bool,
    queue: VecDeque<BytesMut>,
    trailers: Option<HeaderMap>,
    coming: Coming,
    end: End,
    /// Bytes of the worker's text that were sent and not counted by the caller.
    pub sent: usize,
    /// Bytes of the body so far.
    pub queued: usize,
    /// When bytes were last sent.
    progress_at: u64,
}

/// What comes behind what is queued.
#[derive(Clone, Copy)]
enum Coming {
    More,
    /// Nothing: the response is complete.
    End,
    /// A reset: it is not. The ticket: h2 has all that was queued.
    Reset(Option<Ticket>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    /// All of it, or a reset, is with h2.
    Sent,
    /// The client does not want it any more.
    Reset,
}

impl Response {
    pub fn new(responder: Responder, now: u64) -> Self {
        Self {
            responder,
            stream: None,
            is_tunnel: false,
            queue: VecDeque::new(),
            trailers: None,
            coming: Coming::More,
            end: End::None,
            sent: 0,
            queued: 0,
            progress_at: now,
        }
    }

    pub fn has_begun(&self) -> bool {
        self.stream.is_some()
    }

    /// The head, which is all of the response if `is_last`.
    pub fn begins(&mut self, response: http::Response<()>, is_last: bool) {
        if self.stream.is_some() || self.end != End::None {
            return;
        }
        match self.responder.send_response(response, is_last) {
            Ok(_) if is_last => self.end = End::Sent,
            Ok(stream) => self.stream = Some(stream),
            Err(_) => self.end = End::Reset,
        }
    }

    pub fn ends_with(&mut self, trailers: HeaderMap) {
        self.trailers = Some(trailers).filter(|trailers| !trailers.is_empty());
    }

    /// What is queued is all of it.
    pub fn completes(&mut self) {
        self.coming = Coming::End;
    }

    pub fn is_sent(&self) -> bool {
        self.end == End::Sent
    }

    pub fn was_reset(&self) -> bool {
        self.end == End::Reset
    }

    /// The client has reset the stream.
    pub fn abandon(&mut self) {
        self.end = End::Reset;
    }

    /// What is queued is not all of it, and nothing more comes. The client must see that.
    pub fn breaks_off(&mut self) {
        self.coming = Coming::Reset(None);
    }

    /// As `breaks_off`, and without what the client has not got.
    pub fn reset(&mut self) {
        self.responder.send_reset(Reason::INTERNAL_ERROR);
        self.end = End::Sent;
    }

    /// Before bytes are added: if none were queued, the client has not been slow so far.
    pub fn continues(&mut self, now: u64) {
        if self.queue.is_empty() {
            self.progress_at = now;
        }
    }

    /// Milliseconds without progress of what is queued.
    pub fn stalled_for(&self, now: u64) -> u64 {
        if self.queue.is_empty() { 0 } else { now.saturating_sub(self.progress_at) }
    }

    /// As much as the client's windows allow.
    pub fn send(&mut self, context: &mut Context<'_>, shared: &Shared, now: u64) {
        if self.end != End::None {
            return;
        }
        let Some(stream) = &mut self.stream else {
            if !matches!(self.coming, Coming::More) {
                // A head that HTTP/2 does not have.
                self.reset();
            } else if matches!(self.responder.poll_reset(context), Poll::Ready(_)) {
                self.end = End::Reset;
            }
            return;
        };
        while let Some(chunk) = self.queue.front_mut() {
            stream.reserve_capacity(chunk.len());
            let capacity = match stream.capacity() {
                0 => match stream.poll_capacity(context) {
                    Poll::Ready(Some(Ok(capacity))) => capacity,
                    Poll::Ready(_) => {
                        self.end = End::Reset;
                        return;
                    }
                    Poll::Pending => 0,
                },
                capacity => capacity,
            };
            if capacity == 0 {
                break;
            }
            // A split would make both parts shared memory.
            let piece = if capacity < chunk.len() { chunk.split_to(capacity) } else { std::mem::take(chunk) };
            let piece = piece.freeze();
            if chunk.is_empty() {
                self.queue.pop_front();
            }
            self.sent += piece.len();
            self.progress_at = now;
            let is_last = matches!(self.coming, Coming::End) && self.queue.is_empty() && self.trailers.is_none();
            if stream.send_data(piece, is_last).is_err() {
                self.end = End::Reset;
                return;
            }
            if is_last {
                self.end = End::Sent;
                return;
            }
        }
        if self.queue.is_empty() && matches!(self.coming, Coming::End) {
            let ended = match self.trailers.take() {
                Some(trailers) => stream.send_trailers(trailers),
                None => stream.send_data(Bytes::new(), true),
            };
            self.end = if ended.is_ok() { End::Sent } else { End::Reset };
        } else if matches!(stream.poll_reset(context), Poll::Ready(_)) {
            self.end = End::Reset;
        } else if self.queue.is_empty() {
            self.reset_when_flushed(context, shared);
        }
    }

    fn reset_when_flushed(&mut self, context: &Context<'_>, shared: &Shared) {
        match self.coming {
            Coming::Reset(None) => self.coming = Coming::Reset(Some(shared.flushes.ask(context))),
            Coming::Reset(Some(ticket)) if shared.flushes.is_over(ticket) => self.reset(),
            Coming::More | Coming::End | Coming::Reset(_) => {}
        }
    }
}

impl ResponseParts for Response {
    fn head(&mut self, status: u16, text: &[u8]) {
        if self.stream.is_some() || self.end != End::None {
            return;
        }
        let status = if status == 101 && self.is_tunnel { 200 } else { status };
        let Some(response) = head::response(status, text) else { return };
        if status >= 200 {
            self.begins(response, false);
        } else if status != 101 {
            let _ = self.responder.send_informational(response);
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        self.queued += bytes.len();
        match self.queue.back_mut() {
            // Tiny pieces for a client that does not read would cost more than their bytes.
            Some(last) if last.len() + bytes.len() <= JOINED => last.extend_from_slice(bytes),
            _ if bytes.is_empty() => {}
            _ => self.queue.push_back(bytes.into()),
        }
    }

    fn trailers(&mut self, lines: &[u8]) {
        self.ends_with(head::trailers(lines));
    }
}
