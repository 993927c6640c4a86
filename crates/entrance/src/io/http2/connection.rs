//! A client's connection that speaks HTTP/2: accepts its streams, and limits what it may cost.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, Connection};
use h2::{Reason, RecvStream};
use http::Request;
use tokio::task::spawn_local;
use tokio::time::{Instant, Sleep, sleep};

use super::resets::MAX_RESETS;
use super::response::Responder;
use super::shared::{OpenStream, Shared};
use super::stream::Http2Stream;
use super::watched::WatchedStream;
use crate::http1::refusal::Refusal;
use crate::io::shared::{Io, Open};
use crate::io::stream::{Ends, Stream};
use crate::limits::{Limits, REQUEST_WINDOW};
use crate::stats::add;

/// Streams of one connection at a time.
const MAX_STREAMS: u32 = 128;
/// Bytes of request bodies that one connection may have sent and workers have not consumed. Enough
/// for 16 streams whose programs do not read: more of them stop the others.
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;
/// How often the connection's own limits are checked.
const TICK: Duration = Duration::from_secs(1);
/// Ticks that a connection has for its end after the entrance has announced it.
const LAST_TICKS: u32 = 5;

/// In a task of its own, so that all connections of a thread can be cut.
pub async fn serve(io: Rc<Io>, stream: Stream, ends: Ends, open: Open) {
    let place = io.http2.borrow().vacant_key();
    let task = spawn_local(run(io.clone(), stream, ends, open));
    io.http2.borrow_mut().insert(task.abort_handle());
    let _ = task.await;
    io.http2.borrow_mut().try_remove(place);
}

async fn run(io: Rc<Io>, stream: Stream, ends: Ends, _open: Open) {
    let limits = &io.entrance.limits;
    let (is_secure, certificate) = (stream.is_secure(), stream.client_certificate().map(Box::from));
    let shared = Rc::new(Shared::new(is_secure, certificate));
    let stream = WatchedStream::new(stream, shared.clone(), io.clone());
    let handshake = builder(limits.max_head).handshake::<_, Bytes>(stream);
    let Ok(outcome) = tokio::time::timeout(limits.head_timeout, handshake).await else {
        return io.entrance.stats.refused(Refusal::HeadTimeout);
    };
    let mut connection = match outcome {
        Ok(connection) => connection,
        Err(error) => return count_malformed(&error, &io),
    };
    let mut tick = Tick::new();
    let mut life = Life { busy_at: io.entrance.now(), last_ticks: None };
    loop {
        let event = poll_fn(|context| {
            loop {
                let accepted = pin!(connection.accept()).poll(context);
                let is_pending = accepted.is_pending();
                match accepted {
                    Poll::Ready(Some(Ok((request, responder)))) => begin(&io, request, responder, ends, &shared),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Event::Error(error)),
                    Poll::Ready(None) => return Poll::Ready(Event::End),
                    Poll::Pending => {}
                }
                // Not only at a tick: a flood would fill a second. It may have just been read.
                if shared.is_flood() && life.last_ticks.is_none() {
                    return Poll::Ready(Event::Flood);
                }
                if is_pending {
                    shared.flushes.has_run(context);
                    return tick.poll(context, &io).map(|()| Event::Tick);
                }
            }
        });
        match event.await {
            Event::End => return,
            Event::Error(error) => {
                if life.last_ticks.is_none() && was_flood(&error) {
                    add(&io.entrance.stats.floods, 1);
                }
                return count_malformed(&error, &io);
            }
            Event::Flood => {
                add(&io.entrance.stats.floods, 1);
                connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                life.last_ticks = Some(0);
            }
            Event::Tick => {
                if !life.goes_on(&mut connection, &shared, &io) {
                    return;
                }
            }
        }
    }
}

enum Event {
    End,
    /// h2 has ended the connection, or its client has.
    Error(h2::Error),
    Flood,
    Tick,
}

/// h2 has limits of its own, such as for resets and continuations in one read.
fn was_flood(error: &h2::Error) -> bool {
    error.is_library() && error.reason() == Some(Reason::ENHANCE_YOUR_CALM)
}

/// Of what h2 cannot decode, such as a name of a field in upper case, no stream begins: it ends the
/// connection. Floods and the entrance's own ends have reasons of their own.
fn count_malformed(error: &h2::Error, io: &Io) {
    let is_ours = matches!(error.reason(), None | Some(Reason::NO_ERROR | Reason::ENHANCE_YOUR_CALM));
    if error.is_library() && !is_ours {
        io.entrance.stats.refused(Refusal::Malformed);
    }
}

/// When the connection's limits are checked next. The timer is asked only when it may be over: the
/// task runs twice for each request.
struct Tick {
    timer: Pin<Box<Sleep>>,
    /// Before this, in milliseconds of the entrance's clock, the timer cannot be over, and it knows
    /// the task.
    asleep_until: u64,
}

/// By how much the entrance's clock may be late, and more.
const CLOCK_ERROR: Duration = Duration::from_millis(100);

impl Tick {
    fn new() -> Self {
        Self { timer: Box::pin(sleep(Duration::ZERO)), asleep_until: 0 }
    }

    fn poll(&mut self, context: &mut Context<'_>, io: &Io) -> Poll<()> {
        let now = io.entrance.now();
        if now < self.asleep_until {
            return Poll::Pending;
        }
        if self.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.timer.as_mut().reset(Instant::now() + TICK);
        // This leaves the task's waker with it.
        if self.timer.as_mut().poll(context).is_pending() {
            self.asleep_until = now + (TICK - CLOCK_ERROR).as_millis() as u64;
        }
        Poll::Ready(())
    }
}

/// When a connection ends.
struct Life {
    /// When it last had a stream.
    busy_at: u64,
    /// Counts from the announcement of its end.
    last_ticks: Option<u32>,
}

impl Life {
    fn goes_on(&mut self, connection: &mut Connection<WatchedStream, Bytes>, shared: &Shared, io: &Io) -> bool {
        let Limits { head_timeout, idle_timeout, .. } = io.entrance.limits;
        let (now, is_busy) = (io.entrance.now(), shared.has_streams());
        if is_busy {
            self.busy_at = now;
        }
        let is_over = |since: u64, limit: Duration| now.saturating_sub(since) > limit.as_millis() as u64;
        match &mut self.last_ticks {
            // Streams end by their own limits.
            Some(_) if is_busy => true,
            Some(ticks) => {
                *ticks += 1;
                *ticks <= LAST_TICKS
            }
            // No other stream gets anything from its client before the end of that head.
            None if shared.head_since.get().is_some_and(|since| is_over(since, head_timeout)) => {
                io.entrance.stats.refused(Refusal::HeadTimeout);
                connection.abrupt_shutdown(Reason::NO_ERROR);
                self.last_ticks = Some(0);
                true
            }
            None => {
                if is_over(self.busy_at, idle_timeout) || io.is_draining() {
                    connection.graceful_shutdown();
                    self.last_ticks = Some(0);
                }
                true
            }
        }
    }
}

fn builder(max_head: usize) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(MAX_STREAMS)
        .initial_window_size(REQUEST_WINDOW as u32)
        .initial_connection_window_size(CONNECTION_WINDOW)
        // Twice what is allowed: the response of h2 to what does not fit has only a status.
        .max_header_list_size(max_head.saturating_mul(2) as u32)
        .max_concurrent_reset_streams(32)
        // Those of one read. The streams' tasks, which count resets, run only after it.
        .max_pending_accept_reset_streams(MAX_RESETS as usize)
        // It would be for the lifetime of the connection. `Resets` counts them.
        .max_local_error_reset_streams(None)
        .max_send_buffer_size(REQUEST_WINDOW)
        // WebSockets (RFC 8441).
        .enable_connect_protocol();
    builder
}

fn begin(io: &Rc<Io>, request: Request<RecvStream>, responder: Responder, ends: Ends, shared: &Rc<Shared>) {
    add(&io.entrance.stats.http2_requests, 1);
    let now = io.entrance.now();
    let shared = shared.clone();
    let guard = OpenStream::new(&shared);
    io.add(
        |slot, number| {
            let mut stream = Http2Stream::new(responder, slot, number, ends, shared, now);
            stream.begin(request, io);
            stream
        },
        guard,
    );
}
