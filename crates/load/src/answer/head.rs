//! The head of an answer, parsed by `httparse`.

use std::fmt;

/// Larger heads are refused.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

#[derive(Debug, Clone, Default)]
pub struct Head {
    pub status: u16,
    pub close: bool,
    /// Names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

/// Properties of the request that affect parsing.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub head_only: bool,
    /// All headers are needed, not only those for framing.
    pub keep_headers: bool,
}

/// Returns the head at the start of `bytes`, its length, and how its body ends. Returns nothing if
/// the head is incomplete.
pub fn read_head(bytes: &[u8], question: Question) -> Result<Option<(Head, usize, Framing)>, Malformed> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(Malformed("the head is longer than 64 KiB")),
        Err(_) => return Err(Malformed("the head is not HTTP/1.1")),
    };
    let mut head = Head { status: parsed.code.unwrap_or(0), close: parsed.version == Some(0), headers: Vec::new() };
    let framing = frame(&mut head, parsed.headers, question)?;
    Ok(Some((head, length, framing)))
}

pub enum Framing {
    Length(usize),
    Chunked,
    Close,
}

/// How the body ends (RFC 9112, section 6.3).
fn frame(head: &mut Head, headers: &[httparse::Header<'_>], question: Question) -> Result<Framing, Malformed> {
    let (mut length, mut chunked) = (None, false);
    for header in headers {
        if header.name.eq_ignore_ascii_case("content-length") {
            let value = std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse::<usize>().ok());
            length = Some(value.ok_or(Malformed("content-length is not a number"))?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = header.value.to_ascii_lowercase().ends_with(b"chunked");
        } else if header.name.eq_ignore_ascii_case("connection") {
            let value = header.value.to_ascii_lowercase();
            if value == b"close" {
                head.close = true;
            } else if value == b"keep-alive" {
                head.close = false;
            }
        }
        if question.keep_headers {
            head.headers.push((header.name.to_ascii_lowercase(), header.value.to_vec()));
        }
    }
    if question.head_only || matches!(head.status, 100..=199 | 204 | 304) {
        return Ok(Framing::Length(0));
    }
    match (chunked, length) {
        (true, _) => Ok(Framing::Chunked),
        (false, Some(length)) => Ok(Framing::Length(length)),
        (false, None) => {
            head.close = true;
            Ok(Framing::Close)
        }
    }
}
