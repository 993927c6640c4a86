//! What a request's fields say about its body and its connection.

use super::fields::{elements, length_of};
use super::refusal::Refusal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// Collects the fields that concern the body's framing and the connection.
#[derive(Default)]
pub struct FramingFields {
    length: Option<u64>,
    has_coding: bool,
    /// The last coding is `chunked`, and no earlier one is.
    chunked: bool,
    close: bool,
    keep_alive: bool,
    upgrade: bool,
    names_upgrade: bool,
}

impl FramingFields {
    pub fn take(&mut self, name: &[u8], value: &[u8], line: &[u8]) -> Result<(), Refusal> {
        match name.len() {
            7 if name.eq_ignore_ascii_case(b"upgrade") => self.upgrade = true,
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                if self.length.is_some() || self.has_coding {
                    return Err(Refusal::Malformed);
                }
                self.length = Some(length_of(value).ok_or(Refusal::Malformed)?);
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.coding(value, line)?,
            _ => {}
        }
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.names_upgrade |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }

    fn coding(&mut self, value: &[u8], line: &[u8]) -> Result<(), Refusal> {
        // Node refuses a tab after `chunked`.
        if self.length.is_some() || line.ends_with(b"\t") {
            return Err(Refusal::Malformed);
        }
        self.has_coding = true;
        for coding in elements(value) {
            // No coding may follow `chunked`, not even `chunked`.
            if self.chunked {
                return Err(Refusal::Malformed);
            }
            self.chunked = coding.eq_ignore_ascii_case(b"chunked");
        }
        Ok(())
    }

    pub fn keeps_alive(&self, is_1_0: bool) -> bool {
        !self.close && (self.keep_alive || !is_1_0)
    }

    pub fn is_upgrade(&self) -> bool {
        self.upgrade && self.names_upgrade
    }

    /// A request with a transfer coding must end with `chunked`, otherwise its length is unknown
    /// (RFC 9112, 6.3).
    pub fn framing(&self) -> Result<Framing, Refusal> {
        match (self.length, self.has_coding, self.chunked) {
            (Some(0), false, _) | (None, false, _) => Ok(Framing::None),
            (Some(length), false, _) => Ok(Framing::Length(length)),
            (None, true, true) => Ok(Framing::Chunked),
            _ => Err(Refusal::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::parser::{Fields, Progress, parse};

    fn framed(fields: &str) -> Result<Framing, Refusal> {
        let text = format!("POST /a HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
        let head = parse(text.as_bytes(), &mut Progress::default(), &mut Fields::new(), 16_384, 100);
        head.map(|head| head.unwrap().framing)
    }

    #[test]
    fn one_length_or_one_chunked_frames_a_body() {
        assert_eq!(framed("X: y"), Ok(Framing::None));
        assert_eq!(framed("Content-Length: 0"), Ok(Framing::None));
        assert_eq!(framed("content-LENGTH:\t5 "), Ok(Framing::Length(5)));
        assert_eq!(framed("Transfer-Encoding: Chunked"), Ok(Framing::Chunked));
        assert_eq!(framed("Transfer-Encoding: gzip, chunked"), Ok(Framing::Chunked));
        for fields in [
            "Content-Length: 5\r\nContent-Length: 5",
            "Content-Length: 0\r\nContent-Length: 5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked, identity",
            "Transfer-Encoding: identity",
            "Transfer-Encoding:",
            "Transfer-Encoding: chunked,",
            "Transfer-Encoding: chunked;q=1",
            "Transfer-Encoding: chunked\t",
            "Transfer-Encoding : chunked",
            "Transfer-Encoding:\r\n chunked",
            "Content-Length:",
        ] {
            assert_eq!(framed(fields), Err(Refusal::Malformed), "{fields}");
        }
    }
}
