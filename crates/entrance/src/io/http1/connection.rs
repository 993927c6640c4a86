//! One connection. It reads requests one after the other and gives them to workers. `begin` starts
//! an exchange, `body` passes its body on, `reply` handles what a worker sends, `write` sends it to
//! the client, `closing` ends the connection, and `request_source` handles time limits and workers
//! that die.

use std::io::ErrorKind;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::spawn_local;

use super::buffer::Buffer;
use super::output::Output;
use crate::http1::parser::{Progress, parse};
use crate::http1::refusal::Refusal;
use crate::io::exchange::{Body, Exchange};
use crate::io::http2;
use crate::io::shared::{Io, Open};
use crate::io::stream::{Ends, Stream};
use crate::limits::READ_AHEAD;
use crate::stats::add;
use crate::worker::Worker;

pub struct Connection {
    pub(super) stream: Stream,
    pub(super) slot: u32,
    pub(super) number: u32,
    pub(super) ends: Ends,
    /// Bytes that were read and not consumed.
    pub(super) input: Buffer,
    /// Some of them came before the last response was complete.
    pub(super) is_behind: bool,
    /// The scan of an incomplete head in `input`.
    scan: Progress,
    pub(super) output: Output,
    pub(super) phase: Phase,
    /// The client has closed its half.
    pub(super) client_ended: bool,
    /// Workers that have seen this connection and must learn that it has closed.
    pub(super) met: Vec<Arc<Worker>>,
    /// When the phase began or last made progress.
    pub(super) since: u64,
    pub(super) retry: Vec<u8>,
    /// Of the request in flight, or of the one that waits for a worker.
    pub(super) target: Vec<u8>,
    /// That of its page.
    pub(super) origin: Option<Box<[u8]>>,
    /// That one is a HEAD.
    pub(super) is_head: bool,
    /// The epoch of the current or the last exchange.
    pub(super) epoch: u32,
    /// The request that is read next was begun by a worker that died. It is repeated only once.
    pub(super) is_repeated: bool,
    /// A request was read that no worker could take, and waits for one.
    pub(super) waiting_since: Option<u64>,
    /// Reading or writing has failed.
    pub(super) is_reset: bool,
    waker: Option<Waker>,
}

pub(super) enum Phase {
    /// Waiting for a request, or reading its head.
    Head,
    Exchange(Exchange),
    /// Sends the rest, closes its half, then waits until the client has read it.
    Ending,
    Lingering(usize),
    Closed,
}

pub(super) enum Next {
    Again,
    Read,
    Wait,
    Closed,
}

/// The beginning of a client's HTTP/2 preface (RFC 9113, 3.4). It looks like a request's head.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// A connection yields to others after this many steps.
const MAX_STEPS: usize = 32;

pub fn serve(io: &Rc<Io>, stream: Stream, ends: Ends, open: Open) {
    let now = io.entrance.now();
    io.add(|slot, number| Connection::new(stream, slot, number, ends, now), open);
}

impl Connection {
    fn new(stream: Stream, slot: u32, number: u32, ends: Ends, now: u64) -> Self {
        Self {
            stream,
            slot,
            number,
            ends,
            input: Buffer::default(),
            is_behind: false,
            scan: Progress::default(),
            output: Output::default(),
            phase: Phase::Head,
            client_ended: false,
            met: Vec::new(),
            since: now,
            retry: Vec::new(),
            target: Vec::new(),
            origin: None,
            is_head: false,
            epoch: 0,
            is_repeated: false,
            waiting_since: None,
            is_reset: false,
            waker: None,
        }
    }

    pub(super) fn progress(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.waker = Some(context.waker().clone());
        }
        for _ in 0..MAX_STEPS {
            self.flush(context, io);
            match self.advance(context, io) {
                Next::Again => {}
                Next::Wait => return Poll::Pending,
                Next::Closed => return Poll::Ready(()),
                Next::Read => match self.read(context, io) {
                    Poll::Ready(()) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_tunnel(&self) -> bool {
        matches!(&self.phase, Phase::Exchange(exchange) if matches!(exchange.body, Body::Raw))
    }

    /// Whether it ever had a request.
    pub(super) fn has_begun(&self) -> bool {
        self.epoch != 0
    }

    pub(super) fn wake(&mut self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    fn advance(&mut self, context: &mut Context<'_>, io: &Io) -> Next {
        match &self.phase {
            Phase::Head => self.read_head(io),
            Phase::Exchange(_) => self.exchange(context, io),
            Phase::Ending if !self.output.is_empty() || self.stream.has_unsent() => Next::Wait,
            Phase::Ending => self.close_half(context, io),
            Phase::Lingering(left) => {
                if self.client_ended || *left == 0 {
                    Next::Closed
                } else {
                    Next::Read
                }
            }
            Phase::Closed => Next::Closed,
        }
    }

    fn read(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        let mut scratch = io.scratch.borrow_mut();
        let mut buffer = ReadBuf::new(&mut scratch);
        match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            // Many clients close TLS without a word. As in Node, an upgraded connection ends then.
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof && self.is_tunnel() => {
                self.client_ended = true;
            }
            Poll::Ready(Err(_)) => self.fail(),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                self.client_ended = true;
                self.since = io.entrance.now();
            }
            Poll::Ready(Ok(())) => self.take_in(buffer.filled(), io),
        }
        Poll::Ready(())
    }

    fn take_in(&mut self, bytes: &[u8], io: &Io) {
        add(&io.entrance.stats.bytes_in, bytes.len() as u64);
        match &mut self.phase {
            Phase::Lingering(left) => return *left = left.saturating_sub(bytes.len()),
            Phase::Head if self.input.is_empty() => (self.since, self.is_behind) = (io.entrance.now(), false),
            _ => {}
        }
        // A body is forwarded without a copy in the buffer, if the buffer is empty.
        let taken = if self.input.is_empty() { self.body(bytes, io) } else { 0 };
        self.input.append(&bytes[taken..]);
    }

    fn read_head(&mut self, io: &Io) -> Next {
        if self.input.is_empty() && self.client_ended {
            return self.end();
        }
        // A client that does not read its responses gets no further requests read.
        if self.output.len() > READ_AHEAD {
            return Next::Wait;
        }
        if self.waiting_since.is_some() && !io.entrance.has_worker() && io.entrance.expects_worker() {
            return Next::Wait;
        }
        if self.input.unread().starts_with(PREFACE) && self.met.is_empty() && !self.stream.is_secure() {
            return self.continue_as_http2(io);
        }
        let limits = &io.entrance.limits;
        let mut fields = io.fields.borrow_mut();
        match parse(self.input.unread(), &mut self.scan, &mut fields, limits.max_head, limits.max_fields) {
            Ok(Some(head)) => {
                self.scan = Progress::default();
                self.begin(&head, &fields, io);
                if self.waiting_since.is_some() { Next::Wait } else { Next::Again }
            }
            Ok(None) if self.client_ended => self.refuse_cut_head(io),
            Ok(None) => Next::Read,
            Err(refusal) => self.refuse(refusal, io),
        }
    }

    /// The client speaks HTTP/2 in clear (RFC 9113, 3.3).
    fn continue_as_http2(&mut self, io: &Io) -> Next {
        if let Stream::Plain(tcp) = std::mem::replace(&mut self.stream, Stream::Gone) {
            let stream = Stream::Http2(Bytes::copy_from_slice(self.input.unread()), tcp);
            if let Some(io) = io.owned() {
                let open = Open::again(&io);
                spawn_local(http2::connection::serve(io, stream, self.ends, open));
            }
        }
        self.phase = Phase::Closed;
        Next::Closed
    }

    /// Line ends after a request are not a request.
    fn refuse_cut_head(&mut self, io: &Io) -> Next {
        if self.input.unread().iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            return self.end();
        }
        self.refuse(Refusal::Malformed, io)
    }
}
