//! The stream under a connection of HTTP/2: counts its bytes and its frames.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use h2::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::FrameCounter;
use super::sent_resets::SentResets;
use super::shared::Shared;
use crate::http1::refusal::Refusal;
use crate::io::shared::Io;
use crate::io::stream::Stream;
use crate::stats::add;

/// Bytes after which the streams' tasks take what has come. h2 ends a connection that has some
/// 2,000 small frames waiting, and would read all that is there before any of them runs.
const READ_AHEAD: usize = 16 * 1024;
/// Frames that are read while the client takes nothing of what is sent. h2 keeps a reset for each
/// malformed request until then. Far more than the windows allow of ordinary data.
const MAX_FRAMES_WHILE_BLOCKED: u64 = 1_000;

pub struct WatchedStream {
    stream: Stream,
    /// Bytes read since the other tasks last ran.
    ahead: usize,
    frames: FrameCounter,
    resets: SentResets,
    writes: Writes,
    shared: Rc<Shared>,
    io: Rc<Io>,
}

enum Writes {
    Flow,
    /// `seen`: frames that had come by then.
    Blocked {
        seen: u64,
    },
}

impl WatchedStream {
    pub fn new(stream: Stream, shared: Rc<Shared>, io: Rc<Io>) -> Self {
        let frames = FrameCounter::new(io.entrance.now());
        Self { stream, ahead: 0, frames, resets: SentResets::default(), writes: Writes::Flow, shared, io }
    }

    fn waits_for_writes(&self) -> bool {
        matches!(self.writes, Writes::Blocked { seen } if self.frames.seen - seen > MAX_FRAMES_WHILE_BLOCKED)
    }

    /// Returns true at the end of the stream. The buffer may get nothing before it.
    fn read(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<bool>> {
        let before = buffer.filled().len();
        let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) else {
            self.ahead = 0;
            return Poll::Pending;
        };
        let bytes = &mut buffer.filled_mut()[before..];
        let length = bytes.len();
        self.ahead += length;
        add(&self.io.entrance.stats.bytes_in, length as u64);
        let passed = self.frames.received(bytes, self.io.entrance.now());
        buffer.set_filled(before + passed.unwrap_or(0));
        self.shared.head_since.set(self.frames.head_since());
        if passed.is_none() {
            self.shared.floods();
            return Poll::Pending;
        }
        Poll::Ready(read.map(|()| length == 0))
    }
}

impl AsyncRead for WatchedStream {
    /// Reads nothing any more after a flood. The connection's task ends it.
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        loop {
            if this.shared.has_flooded() || this.waits_for_writes() {
                return Poll::Pending;
            }
            let owed = this.frames.owed();
            if !owed.is_empty() {
                let length = owed.len().min(buffer.remaining());
                buffer.put_slice(&owed[..length]);
                this.frames.pay(length);
                return Poll::Ready(Ok(()));
            }
            if this.ahead >= READ_AHEAD {
                this.ahead = 0;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if ready!(this.read(context, buffer))? || buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = written {
            add(&this.io.entrance.stats.bytes_out, length as u64);
            this.frames.sent(length);
            let now = this.io.entrance.now();
            this.resets.sent(&bytes[..length], |stream, reason| {
                let is_first = this.shared.resets.borrow_mut().sent(stream, now);
                // A frame behind the end of a request refuses nothing.
                if is_first && reason != Reason::STREAM_CLOSED {
                    this.io.entrance.stats.refused(Refusal::Malformed);
                }
            });
        }
        this.shared.flushes.tried(written.is_pending());
        match this.writes {
            Writes::Flow if written.is_pending() => this.writes = Writes::Blocked { seen: this.frames.seen },
            Writes::Blocked { .. } if written.is_ready() => {
                if this.waits_for_writes() {
                    context.waker().wake_by_ref();
                }
                this.writes = Writes::Flow;
            }
            _ => {}
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.shared.flushes.tried(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
