//! A byte stream, and a buffer of bytes that its socket has not accepted yet.

use crate::stream::Stream;
use std::io;

pub struct Wire {
    stream: Stream,
    out: Vec<u8>,
    written: usize,
    /// False after a read that took all bytes that were available.
    readable: bool,
    /// The poll reported the end of the stream, after the bytes that can be read now.
    ended: bool,
}

impl Wire {
    pub fn new(stream: Stream) -> Self {
        Wire { stream, out: Vec::new(), written: 0, readable: true, ended: false }
    }

    /// The poll reported an event.
    pub fn wake(&mut self, ended: bool) {
        self.readable = true;
        self.ended |= ended;
    }

    /// Reads available bytes into `buffer`. 0: end of the stream.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.readable {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let read = self.stream.read(buffer);
        match &read {
            // A short read means that no more bytes are available, so another read is unnecessary.
            // Not after the reported end, which is reported only once, and not with TLS, which
            // returns one record at a time.
            Ok(length) if *length < buffer.len() && !self.stream.is_encrypted() && !self.ended => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            _ => {}
        }
        read
    }

    /// Buffers bytes. [`Wire::flush`] sends them.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        self.out.extend_from_slice(bytes);
    }

    /// Number of bytes that are buffered.
    pub fn buffered(&self) -> usize {
        self.out.len() - self.written
    }

    /// Writes buffered bytes until the socket is full.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.written < self.out.len() || self.stream.wants_write() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(0) if self.written < self.out.len() => return Err(io::ErrorKind::WriteZero.into()),
                Ok(0) => return Ok(()),
                Ok(taken) => self.written += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Valid after the handshake, that is, once bytes were read.
    pub fn agreed_on_http2(&self) -> bool {
        self.stream.agreed_on_http2()
    }
}
