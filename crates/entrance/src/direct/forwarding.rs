//! The response of an instance on its way to the client's connection.

use super::head::{self, Asked};
use crate::http1::response::{ResponseParts, ResponseScan};

pub struct Forwarding {
    scan: ResponseScan,
    parts: Parts,
    /// The instance's connection can have another request.
    pub keeps: bool,
}

pub enum Progress {
    More,
    Complete,
    /// It is not a response.
    Malformed,
}

struct Parts {
    asked: Asked,
    /// What the client has not got.
    out: Vec<u8>,
    /// Of the response, once it has begun.
    status: Option<u16>,
    is_chunked: bool,
    is_malformed: bool,
    closes: bool,
}

impl Forwarding {
    pub fn new(asked: Asked) -> Self {
        let parts =
            Parts { asked, out: Vec::new(), status: None, is_chunked: false, is_malformed: false, closes: false };
        Self { scan: ResponseScan::new(asked.is_head), parts, keeps: false }
    }

    /// Of the response, once it has begun.
    pub fn status(&self) -> Option<u16> {
        self.parts.status
    }

    /// The client's connection ends behind the response.
    pub fn closes(&self) -> bool {
        self.parts.closes
    }

    pub fn has_begun(&self) -> bool {
        self.parts.status.is_some()
    }

    /// The client has got a response of 1xx.
    pub fn has_informed(&self) -> bool {
        self.scan.has_informed
    }

    /// `is_last`: the client's connection gets no further response.
    pub fn take(&mut self, bytes: &[u8], is_last: bool, send: impl Fn(&[u8])) -> Progress {
        self.parts.asked.keep_alive &= !is_last;
        let taken = self.scan.feed_to(bytes, &mut self.parts);
        if self.parts.is_malformed || self.scan.is_switched() {
            return Progress::Malformed;
        }
        send(&std::mem::take(&mut self.parts.out));
        // The end of the connection must not end it in order for the client.
        if self.scan.is_malformed {
            return Progress::Malformed;
        }
        if !self.scan.is_done() {
            return Progress::More;
        }
        self.keeps = taken == bytes.len() && !self.scan.close && !self.parts.asked.closes;
        Progress::Complete
    }

    /// The instance has closed its connection. Returns whether the response is complete by that.
    pub fn ends(&mut self, send: impl Fn(&[u8])) -> bool {
        if !self.scan.ends_with_connection() || !self.has_begun() {
            return false;
        }
        if self.parts.is_chunked {
            send(b"0\r\n\r\n");
        }
        true
    }
}

impl ResponseParts for Parts {
    fn head(&mut self, status: u16, text: &[u8]) {
        if status < 200 {
            // 101 is malformed here.
            if status != 101
                && let Some(head) = head::information(text)
            {
                self.out.extend_from_slice(&head);
            }
            return;
        }
        match head::response(status, text, self.asked) {
            Some(head) => {
                self.status = Some(status);
                self.is_chunked = head.is_chunked;
                self.closes = head.closes;
                self.out.extend_from_slice(&head.text);
            }
            None => self.is_malformed = true,
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        if self.status.is_none() {
            self.is_malformed = true;
        } else if !self.is_chunked {
            self.out.extend_from_slice(bytes);
        } else if !bytes.is_empty() {
            self.out.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
            self.out.extend_from_slice(bytes);
            self.out.extend_from_slice(b"\r\n");
        }
    }

    fn trailers(&mut self, lines: &[u8]) {
        if self.is_chunked {
            for part in [b"0\r\n", lines, b"\r\n"] {
                self.out.extend_from_slice(part);
            }
        }
    }
}
