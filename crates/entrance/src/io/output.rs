//! Bytes to the client. The worker learns about the progress, and writes no further ahead than its
//! window.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;

use super::buffer::Buffer;
use super::connection::Connection;
use super::thread::Io;
use crate::limits::CREDIT_STEP;
use crate::stats::add;
use crate::worker::Worker;
use crate::worker::record::{ExchangeId, Header, kind};

#[derive(Default)]
pub(super) struct Output {
    pending: Buffer,
    /// When bytes were last sent.
    since: u64,
    credit: Option<Credit>,
    uncredited: usize,
}

/// The exchange that learns about sent bytes: the last one, even after its end.
pub(super) struct Credit {
    pub worker: Arc<Worker>,
    pub id: ExchangeId,
}

impl Output {
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn is_stalled(&self, now: u64, limit: Duration) -> bool {
        now.saturating_sub(self.since) > limit.as_millis() as u64
    }

    pub fn credit_to(&mut self, credit: Credit) {
        self.credit = Some(credit);
        self.uncredited = 0;
    }

    /// Releases the memory of a dead worker, which the connection would hold otherwise.
    pub fn forget(&mut self, dead: &Arc<Worker>) {
        if self.credit.as_ref().is_some_and(|credit| Arc::ptr_eq(&credit.worker, dead)) {
            self.credit = None;
        }
    }
}

impl Connection {
    /// Writes directly as much as the kernel takes, and queues the rest.
    pub(super) fn send(&mut self, bytes: &[u8], io: &Io) {
        let mut at = 0;
        if self.output.is_empty() {
            while at < bytes.len() {
                match self.stream.try_write(&bytes[at..]) {
                    Ok(0) => break,
                    Ok(length) => at += length,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    Err(_) => return self.cut(),
                }
            }
            self.count(at, io);
            if self.stream.has_unsent() {
                self.output.since = io.entrance.now();
                self.wake();
            }
        }
        if at < bytes.len() {
            if self.output.is_empty() {
                self.output.since = io.entrance.now();
            }
            self.output.pending.append(&bytes[at..]);
            self.wake();
        }
    }

    pub(super) fn flush(&mut self, context: &mut Context<'_>, io: &Io) {
        while !self.output.is_empty() {
            match Pin::new(&mut self.stream).poll_write(context, self.output.pending.unread()) {
                Poll::Pending => return,
                Poll::Ready(Ok(length)) if length > 0 => {
                    self.output.pending.consume(length);
                    self.output.since = io.entrance.now();
                    self.count(length, io);
                }
                Poll::Ready(_) => return self.cut(),
            }
        }
        if self.stream.has_unsent() && matches!(Pin::new(&mut self.stream).poll_flush(context), Poll::Ready(Err(_))) {
            self.cut();
        }
    }

    fn count(&mut self, length: usize, io: &Io) {
        add(&io.entrance.stats.bytes_out, length as u64);
        let output = &mut self.output;
        output.uncredited += length;
        let Some(Credit { worker, id }) = &output.credit else { return };
        if output.uncredited < CREDIT_STEP {
            return;
        }
        let lengths = [output.uncredited as u32, 0];
        output.uncredited = 0;
        let header = Header { kind: kind::CREDIT, flags: 0, id: *id, connection: self.number, lengths };
        if worker.inbox.push(&header, &[]).is_ok() {
            io.wake_soon(worker);
        }
    }
}
