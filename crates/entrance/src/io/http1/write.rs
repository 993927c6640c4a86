//! Writes to the client. The worker learns about the progress, and writes no further ahead than its
//! window.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use super::connection::Connection;
use super::output::Credit;
use crate::io::shared::Io;
use crate::io::stream::Stream;
use crate::limits::CREDIT_STEP;
use crate::stats::add;
use crate::worker::record::{Header, kind};

impl Connection {
    /// Writes directly as much as the kernel takes, and queues the rest.
    pub(super) fn send(&mut self, bytes: &[u8], io: &Io) {
        self.send_by(Stream::try_write, bytes, io);
    }

    /// Sends what is last: the caller ends the connection.
    pub(super) fn send_last(&mut self, bytes: &[u8], io: &Io) {
        self.send_by(Stream::try_write_last, bytes, io);
    }

    fn send_by(&mut self, write: fn(&mut Stream, &[u8]) -> std::io::Result<usize>, bytes: &[u8], io: &Io) {
        let mut at = 0;
        if self.output.is_empty() {
            while at < bytes.len() {
                match write(&mut self.stream, &bytes[at..]) {
                    Ok(0) => break,
                    Ok(length) => at += length,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    Err(_) => return self.fail(),
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
                Poll::Ready(_) => return self.fail(),
            }
        }
        if self.stream.has_unsent() && matches!(Pin::new(&mut self.stream).poll_flush(context), Poll::Ready(Err(_))) {
            self.fail();
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
