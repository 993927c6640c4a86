//! Parses the head of a request. It accepts a subset of what Node's parser accepts in strict mode:
//! lines end with CRLF, one space separates the parts of the first line, the version is 1.1 or 1.0,
//! and lines are not folded. So an accepted head means the same to Node, which may get the same
//! bytes.

use super::fields::field_of;
use super::framing::{Framing, FramingFields};
use super::refusal::Refusal;
use super::request_line::request_line;
use super::span::Span;

/// The positions of a head's parts in its buffer, and their meaning.
#[derive(Debug)]
pub struct Head {
    /// `start` is after the line ends that Node skips too. `end` is after the empty line.
    pub start: usize,
    pub end: usize,
    pub method: Span,
    pub target: Span,
    pub is_1_0: bool,
    pub framing: Framing,
    pub keep_alive: bool,
    /// There is an `Upgrade` field, and `Connection` names it.
    pub upgrade: bool,
}

/// Name and value of each field of the last parsed head. The connections of a thread share one
/// list.
pub type Fields = Vec<(Span, Span)>;

/// How much of an incomplete head has been scanned, so that no byte is scanned twice.
#[derive(Debug, Default)]
pub struct Progress {
    seen: usize,
    line: usize,
    skipped: usize,
    lines: usize,
}

/// Limit for line ends before a request.
const MAX_SKIPPED: usize = 64;

/// Returns nothing if the head is incomplete.
pub fn parse(
    buffer: &[u8],
    progress: &mut Progress,
    fields: &mut Fields,
    max_head: usize,
    max_fields: usize,
) -> Result<Option<Head>, Refusal> {
    let Some(end) = end_of_head(buffer, progress)? else {
        let long = buffer.len() - progress.skipped > max_head || progress.lines > max_fields + 1;
        return if long { Err(Refusal::HeadTooLarge) } else { Ok(None) };
    };
    if end - progress.skipped > max_head {
        return Err(Refusal::HeadTooLarge);
    }
    interpret(buffer, progress.skipped, end, fields, max_fields).map(Some)
}

/// Scans each byte once. Every line must end with CRLF.
fn end_of_head(buffer: &[u8], progress: &mut Progress) -> Result<Option<usize>, Refusal> {
    if progress.lines == 0 {
        skip_line_ends(buffer, progress)?;
    }
    while let Some(found) = memchr::memchr(b'\n', &buffer[progress.seen..]) {
        let at = progress.seen + found;
        if at == 0 || buffer[at - 1] != b'\r' {
            return Err(Refusal::Malformed);
        }
        progress.seen = at + 1;
        if at == progress.line + 1 {
            return Ok(Some(at + 1));
        }
        progress.line = at + 1;
        progress.lines += 1;
    }
    progress.seen = buffer.len();
    Ok(None)
}

/// Line ends before a request are skipped (RFC 9112, 2.2). The next byte must be able to start a
/// method, so that a client that speaks TLS is refused at once.
fn skip_line_ends(buffer: &[u8], progress: &mut Progress) -> Result<(), Refusal> {
    while progress.skipped < buffer.len() && matches!(buffer[progress.skipped], b'\r' | b'\n') {
        progress.skipped += 1;
        if progress.skipped > MAX_SKIPPED {
            return Err(Refusal::Malformed);
        }
    }
    progress.line = progress.line.max(progress.skipped);
    progress.seen = progress.seen.max(progress.skipped);
    match buffer.get(progress.skipped) {
        Some(first) if !first.is_ascii_uppercase() => Err(Refusal::Malformed),
        _ => Ok(()),
    }
}

fn interpret(buffer: &[u8], start: usize, end: usize, fields: &mut Fields, max_fields: usize) -> Result<Head, Refusal> {
    fields.clear();
    let mut lines = Lines(&buffer[start..end - 2]);
    let first = lines.next().ok_or(Refusal::Malformed)?;
    let (method, target, is_1_0) = request_line(first)?;
    let mut found = FramingFields::default();
    for line in lines {
        let (name, value) = field_of(line).ok_or(Refusal::Malformed)?;
        if fields.len() == max_fields {
            return Err(Refusal::HeadTooLarge);
        }
        fields.push((Span::new(buffer, name), Span::new(buffer, value)));
        found.take(name, value, line)?;
    }
    Ok(Head {
        start,
        end,
        method: Span::new(buffer, method),
        target: Span::new(buffer, target),
        is_1_0,
        framing: found.framing()?,
        keep_alive: found.keeps_alive(is_1_0),
        upgrade: found.is_upgrade(),
    })
}

/// Iterates over lines that all end with CRLF.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(b'\n', self.0)?;
        let line = &self.0[..end - 1];
        self.0 = &self.0[end + 1..];
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &[u8]) -> Result<Option<Head>, Refusal> {
        parse(text, &mut Progress::default(), &mut Fields::new(), 16_384, 100)
    }

    #[test]
    fn names_values_and_order_are_as_sent() {
        let text = b"\r\nGET /a?b HTTP/1.1\r\nHOST: a\r\nx-One:  1 \r\nhost2:\r\nX-one: 2\r\n\r\nGET";
        let mut fields = Fields::new();
        let head = parse(text, &mut Progress::default(), &mut fields, 1000, 10).unwrap().unwrap();
        assert_eq!(head.method.of(text), b"GET");
        assert_eq!(head.target.of(text), b"/a?b");
        assert_eq!(&text[head.end..], b"GET");
        let seen: Vec<_> = fields.iter().map(|(name, value)| (name.of(text), value.of(text))).collect();
        let expected: [(&[u8], &[u8]); 4] = [(b"HOST", b"a"), (b"x-One", b"1"), (b"host2", b""), (b"X-one", b"2")];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_head_may_come_byte_by_byte() {
        let text = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut progress = Progress::default();
        for end in 0..text.len() {
            assert!(parse(&text[..end], &mut progress, &mut Fields::new(), 100, 10).unwrap().is_none());
        }
        assert!(parse(text, &mut progress, &mut Fields::new(), 100, 10).unwrap().is_some());
    }

    #[test]
    fn other_line_ends_are_refused_as_soon_as_they_come() {
        for text in [&b"GET / HTTP/1.1\n"[..], b"GET / HTTP/1.1\r\nA: b\n", b"GET / HTTP/1.1\r\nA: b\r\n\n"] {
            assert_eq!(parsed(text).unwrap_err(), Refusal::Malformed);
        }
        assert!(parsed(b"GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n").is_err());
        assert!(parsed(b"GET / HTTP/1.1\r\nA: b\r\r\n\r\n").is_err());
        assert!(parsed(b"\x16\x03\x01").is_err());
    }

    #[test]
    fn connections_persist_and_are_upgraded() {
        let head = |text: &str| parsed(format!("GET / HTTP/1.{text}\r\n\r\n").as_bytes()).unwrap().unwrap();
        assert!(head("1").keep_alive);
        assert!(!head("0").keep_alive);
        assert!(head("0\r\nConnection: Keep-Alive").keep_alive);
        assert!(!head("1\r\nConnection: x, CLOSE").keep_alive);
        assert!(head("1\r\nConnection: x, Upgrade\r\nUpgrade: a").upgrade);
        assert!(!head("1\r\nConnection: Upgrade").upgrade);
        assert!(!head("1\r\nUpgrade: a").upgrade);
    }

    #[test]
    fn heads_are_limited() {
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(20_000));
        assert_eq!(parsed(long.as_bytes()).unwrap_err(), Refusal::HeadTooLarge);
        assert_eq!(parsed(&long.as_bytes()[..17_000]).unwrap_err(), Refusal::HeadTooLarge);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a:\r\n".repeat(101));
        assert_eq!(parsed(many.as_bytes()).unwrap_err(), Refusal::HeadTooLarge);
    }
}
