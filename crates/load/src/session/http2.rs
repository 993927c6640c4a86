//! A connection of HTTP/2 by the `h2` crate, which is polled by hand: the event loop says when
//! bytes can be moved, and a list says which streams have news.

use super::InFlight;
use super::exchange::Exchange;
use crate::pace::Nanos;
use crate::prepared::{Form, Prepared};
use crate::received::Received;
use crate::record::Failure;
use crate::wire::Wire;
use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use slab::Slab;
use std::cell::RefCell;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Windows that never make a server wait: a stream may have 8 MiB in flight, a connection the
/// maximum. `h2load` has the maximum for both.
const STREAM_WINDOW: u32 = 8 << 20;
const CONNECTION_WINDOW: u32 = (1 << 31) - 1;
/// Above this, `h2` waits until the socket has accepted bytes.
const MAX_BUFFERED: usize = 1 << 20;

pub struct Http2 {
    wire: Rc<RefCell<Wire>>,
    sender: SendRequest<Bytes>,
    driver: Connection<SharedWire, Bytes>,
    streams: Slab<Exchange>,
    news: Arc<News>,
    /// One for each key of `streams`.
    wakers: Vec<Waker>,
}

/// Why a stream has no answer.
pub struct StreamError {
    pub error: h2::Error,
    /// Part of an answer had come.
    pub is_midway: bool,
}

/// Why a connection is over.
pub enum End {
    /// Closed, after a GOAWAY or without one.
    Closed,
    Failed(h2::Error),
    Broken(io::Error),
}

impl Http2 {
    /// Buffers the preface and the settings.
    pub fn start(wire: Wire) -> io::Result<Self> {
        let wire = Rc::new(RefCell::new(wire));
        let handshake = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .enable_push(false)
            // Until the server has said how many it allows.
            .initial_max_send_streams(1)
            .handshake(SharedWire(wire.clone()));
        // It waits for nothing but the buffer, which accepts everything.
        let Poll::Ready(started) = pin!(handshake).poll(&mut Context::from_waker(Waker::noop())) else {
            return Err(io::Error::other("the preface of HTTP/2 was not accepted"));
        };
        let (sender, driver) = started.map_err(io::Error::other)?;
        Ok(Http2 { wire, sender, driver, streams: Slab::new(), news: Arc::default(), wakers: Vec::new() })
    }

    pub fn wake(&mut self, ended: bool) {
        self.wire.borrow_mut().wake(ended);
    }

    /// Never more than the server's limit, beyond which requests would wait here.
    pub fn has_room(&mut self, limit: usize) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        self.streams.len() < limit.min(self.driver.max_concurrent_send_streams())
            && matches!(self.sender.poll_ready(&mut context), Poll::Ready(Ok(())))
    }

    pub fn queue(&mut self, prepared: &Prepared, request: InFlight) -> io::Result<()> {
        let Form::Http2 { head, body } = &prepared.form else { unreachable!("requests have the form of the protocol") };
        let (response, mut sending) =
            self.sender.send_request((**head).clone(), body.is_empty()).map_err(io::Error::other)?;
        if !body.is_empty() {
            sending.send_data(body.clone(), true).map_err(io::Error::other)?;
        }
        let key = self.streams.insert(Exchange::new(request, response));
        if key == self.wakers.len() {
            self.wakers.push(Waker::from(Arc::new(StreamWaker { key, news: self.news.clone() })));
        }
        // The first poll of the stream registers its waker.
        self.news.add(key);
        Ok(())
    }

    /// Reads and writes until the socket has nothing more. Ready if the connection is over.
    pub fn advance(&mut self) -> Poll<End> {
        let mut context = Context::from_waker(Waker::noop());
        let state = match Pin::new(&mut self.driver).poll(&mut context) {
            Poll::Ready(Ok(())) => Poll::Ready(End::Closed),
            Poll::Ready(Err(error)) => Poll::Ready(End::Failed(error)),
            // After a GOAWAY it accepts no requests, and ends with its last stream.
            Poll::Pending if self.streams.is_empty() && self.is_leaving() => Poll::Ready(End::Closed),
            Poll::Pending => Poll::Pending,
        };
        match self.wire.borrow_mut().flush() {
            Err(error) if state.is_pending() => Poll::Ready(End::Broken(error)),
            _ => state,
        }
    }

    fn is_leaving(&mut self) -> bool {
        matches!(self.sender.poll_ready(&mut Context::from_waker(Waker::noop())), Poll::Ready(Err(_)))
    }

    /// The next request whose stream has ended, with its answer.
    pub fn next_ended(&mut self) -> Option<(InFlight, Result<Received, StreamError>)> {
        while let Some(key) = self.news.take() {
            let Some(exchange) = self.streams.get_mut(key) else { continue };
            if let Poll::Ready(end) = exchange.poll(&mut Context::from_waker(&self.wakers[key])) {
                let exchange = self.streams.remove(key);
                let (request, is_midway) = (exchange.request, exchange.is_midway());
                return Some((
                    request,
                    end.map(|()| exchange.received).map_err(|error| StreamError { error, is_midway }),
                ));
            }
        }
        None
    }

    /// Resets the streams of requests that were sent before `moment`, and returns these.
    pub fn cancel_sent_before(&mut self, moment: Nanos) -> Vec<InFlight> {
        let late: Vec<usize> =
            self.streams.iter().filter(|(_, exchange)| exchange.request.sent < moment).map(|(key, _)| key).collect();
        late.into_iter().map(|key| self.streams.remove(key).request).collect()
    }

    pub fn end(mut self) -> Vec<InFlight> {
        self.streams.drain().map(|exchange| exchange.request).collect()
    }
}

/// What a stream's error counts as.
pub fn failure_of(error: &h2::Error, is_midway: bool) -> (Failure, String) {
    match error.get_io().map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionReset) => (Failure::Reset, error.to_string()),
        Some(io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof) if is_midway => {
            (Failure::Truncated, "the connection ended amid an answer".into())
        }
        Some(io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof) => {
            (Failure::Closed, "the connection ended before the answer".into())
        }
        Some(_) => (Failure::Broken, error.to_string()),
        None if !error.is_remote() => {
            (Failure::Malformed, format!("the answer is not HTTP/2 as it should be: {error}"))
        }
        None if error.is_go_away() => (Failure::GoAway, format!("the server ended the connection: {error}")),
        None => (Failure::StreamReset, format!("the server reset the stream: {error}")),
    }
}

/// Keys of streams to poll.
#[derive(Default)]
struct News(Mutex<Vec<usize>>);

impl News {
    fn add(&self, key: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    fn take(&self) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

struct StreamWaker {
    key: usize,
    news: Arc<News>,
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.news.add(self.key);
    }
}

/// What `h2` reads from and writes to. Its bytes leave in [`Http2::advance`], once for all streams.
struct SharedWire(Rc<RefCell<Wire>>);

impl AsyncRead for SharedWire {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let length = ready!(pending_if_blocked(wire.read(buffer.initialize_unfilled())))?;
        if length > 0 && !wire.agreed_on_http2() {
            return Poll::Ready(Err(io::Error::other("the server did not choose HTTP/2 in its TLS handshake (ALPN)")));
        }
        buffer.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SharedWire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut wire = self.0.borrow_mut();
        if wire.buffered() > MAX_BUFFERED {
            wire.flush()?;
            if wire.buffered() > MAX_BUFFERED {
                return Poll::Pending;
            }
        }
        wire.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.borrow_mut().flush())
    }
}

fn pending_if_blocked<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        other => Poll::Ready(other),
    }
}
