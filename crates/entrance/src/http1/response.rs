//! Scans the response that a program's own server writes, to find its end and to learn whether the
//! connection persists. The text is forwarded unchanged, so names, order, 1xx responses and
//! trailers are the program's.

use super::chunks::{Chunks, Step};
use super::fields::{elements, field_of, length_of};

/// Limit for a response's head, in bytes. The content of the head is not checked.
const MAX_HEAD: usize = 1024 * 1024;

/// What a response consists of. A response of 1xx has a head only, and another head follows it.
pub trait ResponseParts {
    /// `head`: the whole text, with its first line.
    fn head(&mut self, status: u16, head: &[u8]);
    /// Bytes of the body, without framing.
    fn data(&mut self, bytes: &[u8]);
    /// Field lines with their line ends. Called at the end of a chunked body.
    fn trailers(&mut self, lines: &[u8]);
}

impl ResponseParts for () {
    fn head(&mut self, _: u16, _: &[u8]) {}
    fn data(&mut self, _: &[u8]) {}
    fn trailers(&mut self, _: &[u8]) {}
}

#[derive(Debug)]
pub struct ResponseScan {
    state: State,
    /// An incomplete head.
    head: Vec<u8>,
    is_head_request: bool,
    /// The connection must be closed after the response.
    pub close: bool,
    /// A response of 1xx has come before it.
    pub has_informed: bool,
    /// The status of the final response; 0 before it.
    pub status: u16,
    /// It is not a response, or not one any more. Where it ends is not known.
    pub is_malformed: bool,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Box<Chunks>),
    /// Until the program closes the connection. Also used for text that is not a response.
    UntilEnd,
    Switched,
    Done,
}

impl ResponseScan {
    pub fn new(is_head_request: bool) -> Self {
        Self {
            state: State::Head,
            head: Vec::new(),
            is_head_request,
            close: false,
            has_informed: false,
            status: 0,
            is_malformed: false,
        }
    }

    /// Returns how many of the bytes belong to the response. Bytes after its end are dropped: a
    /// client would read them as the response to its next request.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        self.feed_to(bytes, &mut ())
    }

    /// The same, and gives the parts of the response to `parts`.
    pub fn feed_to(&mut self, bytes: &[u8], parts: &mut impl ResponseParts) -> usize {
        let mut at = 0;
        while at < bytes.len() && !matches!(self.state, State::Done) {
            at += self.advance(&bytes[at..], parts);
        }
        at
    }

    pub fn is_head_request(&self) -> bool {
        self.is_head_request
    }

    /// False before the final response: after nothing, or after whole responses of 1xx.
    pub fn has_begun(&self) -> bool {
        !matches!(self.state, State::Head) || !self.head.is_empty()
    }

    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// After status 101, the bytes in both directions belong to another protocol.
    pub fn is_switched(&self) -> bool {
        matches!(self.state, State::Switched)
    }

    /// True if the response ends when the program closes its side.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.state, State::UntilEnd)
    }

    /// True if the program ends what the client gets by closing its side, and cannot say otherwise
    /// that it is incomplete.
    pub fn lasts_as_connection(&self) -> bool {
        self.is_switched() || self.ends_with_connection()
    }

    fn advance(&mut self, bytes: &[u8], parts: &mut impl ResponseParts) -> usize {
        match &mut self.state {
            State::Head => self.take_head(bytes, parts),
            State::Length(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= length as u64;
                parts.data(&bytes[..length]);
                if *left == 0 {
                    self.state = State::Done;
                }
                length
            }
            State::Chunked(chunks) => match chunks.step(bytes) {
                Ok(Step::Data(length)) => {
                    parts.data(&bytes[..length]);
                    length
                }
                Ok(Step::Skip(length)) => {
                    if matches!(chunks.step(&[]), Ok(Step::Done)) {
                        parts.trailers(&chunks.trailers);
                        self.state = State::Done;
                    }
                    length
                }
                Ok(Step::Done) => {
                    self.state = State::Done;
                    0
                }
                Ok(Step::More) => bytes.len(),
                Err(_) => self.give_up(bytes.len()),
            },
            State::UntilEnd => {
                parts.data(bytes);
                bytes.len()
            }
            State::Switched => {
                parts.data(bytes);
                bytes.len()
            }
            State::Done => 0,
        }
    }

    fn take_head(&mut self, bytes: &[u8], parts: &mut impl ResponseParts) -> usize {
        if self.head.is_empty() {
            let Some(end) = end_of_head(bytes) else {
                self.head.extend_from_slice(bytes);
                return bytes.len();
            };
            self.interpret(&bytes[..end], parts);
            return end;
        }
        let before = self.head.len();
        self.head.extend_from_slice(bytes);
        let from = before.saturating_sub(3);
        let Some(found) = end_of_head(&self.head[from..]) else {
            return if self.head.len() > MAX_HEAD { self.give_up(bytes.len()) } else { bytes.len() };
        };
        let head = std::mem::take(&mut self.head);
        self.interpret(&head[..from + found], parts);
        from + found - before
    }

    fn give_up(&mut self, length: usize) -> usize {
        self.state = State::UntilEnd;
        self.close = true;
        self.is_malformed = true;
        length
    }

    fn interpret(&mut self, head: &[u8], parts: &mut impl ResponseParts) {
        let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let Some(status) = status_of(lines.next().unwrap_or_default()) else {
            self.give_up(0);
            return;
        };
        parts.head(status, head);
        if status == 101 {
            self.status = status;
            self.state = State::Switched;
            return;
        }
        if status < 200 {
            self.has_informed = true;
            return;
        }
        self.status = status;
        let (mut length, mut chunked) = (None, false);
        for (name, value) in lines.filter_map(field_of) {
            match name.len() {
                10 if name.eq_ignore_ascii_case(b"connection") => {
                    self.close |= elements(value).any(|option| option.eq_ignore_ascii_case(b"close"));
                }
                14 if name.eq_ignore_ascii_case(b"content-length") => length = length_of(value),
                17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                    chunked = elements(value).last().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
                }
                _ => {}
            }
        }
        self.state = match (chunked, length) {
            _ if self.is_head_request || status == 204 || status == 304 => State::Done,
            (true, _) => State::Chunked(Box::new(Chunks::new(MAX_HEAD))),
            (false, Some(0)) => State::Done,
            (false, Some(length)) => State::Length(length),
            (false, None) => State::UntilEnd,
        };
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

fn status_of(line: &[u8]) -> Option<u16> {
    match line {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', a @ b'1'..=b'9', b, c, rest @ ..]
            if b.is_ascii_digit() && c.is_ascii_digit() && rest.first().is_none_or(|&byte| byte == b' ') =>
        {
            Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many bytes belong to the response, and the scan. Feeds pieces of `size` bytes.
    fn scan(text: &[u8], size: usize, is_head: bool) -> (usize, ResponseScan) {
        let mut scan = ResponseScan::new(is_head);
        let taken = text.chunks(size).map(|piece| scan.feed(piece)).sum();
        (taken, scan)
    }

    #[test]
    fn the_end_is_found_whatever_the_pieces() {
        for (text, is_head) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], false),
            (b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: a\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true),
            (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false),
            (b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false),
        ] {
            for size in 1..text.len() + 2 {
                let more = [text, b"more"].concat();
                let (taken, scan) = scan(&more, size, is_head);
                assert!(scan.is_done());
                assert_eq!(taken, text.len(), "{:?} by {size}", String::from_utf8_lossy(text));
            }
        }
    }

    #[test]
    fn it_has_not_begun_after_those_of_1xx() {
        let hints = b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
        assert!(!scan(b"", 1, false).1.has_begun());
        for size in 1..=hints.len() {
            let informed = scan(hints, size, false).1;
            assert!(informed.has_informed && !informed.has_begun());
            assert!(scan(&hints[..hints.len() - 1], size, false).1.has_begun());
            assert!(scan(&[hints, &b"H"[..]].concat(), size, false).1.has_begun());
        }
        assert!(scan(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 4, false).1.has_begun());
    }

    #[test]
    fn what_has_no_end_lasts_as_long_as_the_connection() {
        for text in [&b"HTTP/1.1 200 OK\r\n\r\nhello"[..], b"garbage\r\n\r\nmore"] {
            let (taken, scan) = scan(text, 3, false);
            assert!(scan.ends_with_connection());
            assert_eq!(taken, text.len());
        }
        assert!(scan(b"HTTP/1.1 101 Switching Protocols\r\n\r\nabc", 4, false).1.is_switched());
        assert!(scan(b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", 4, false).1.close);
    }
}
