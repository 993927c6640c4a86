//! The stream under a connection of HTTP/2: counts its bytes and its frames.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::FrameCounter;
use super::shared::Shared;
use crate::io::shared::Io;
use crate::io::stream::Stream;
use crate::stats::add;

/// Bytes after which the streams' tasks take what has come. h2 ends a connection that has some
/// 2,000 small frames waiting, and would read all that is there before any of them runs.
const READ_AHEAD: usize = 16 * 1024;

pub struct WatchedStream {
    stream: Stream,
    /// Bytes read since the other tasks last ran.
    ahead: usize,
    frames: FrameCounter,
    shared: Rc<Shared>,
    io: Rc<Io>,
}

impl WatchedStream {
    pub fn new(stream: Stream, shared: Rc<Shared>, io: Rc<Io>) -> Self {
        Self { stream, ahead: 0, frames: FrameCounter::new(io.entrance.now()), shared, io }
    }
}

impl AsyncRead for WatchedStream {
    /// Reads nothing any more after a flood. The connection's task ends it.
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.shared.has_flooded() {
            return Poll::Pending;
        }
        if this.ahead >= READ_AHEAD {
            this.ahead = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let bytes = &buffer.filled()[before..];
        this.ahead = if read.is_pending() { 0 } else { this.ahead + bytes.len() };
        add(&this.io.entrance.stats.bytes_in, bytes.len() as u64);
        if !this.frames.received(bytes, this.io.entrance.now()) {
            this.shared.floods();
            buffer.set_filled(before);
            return Poll::Pending;
        }
        read
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = written {
            add(&this.io.entrance.stats.bytes_out, length as u64);
            this.frames.sent(length);
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
