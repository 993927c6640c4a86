//! What the gateway changes in heads: `packages/busbar/src/gateway/forward` does the same.

use std::fmt::Write;
use std::net::IpAddr;

use crate::http1::fields::{elements, field_of, length_of};
use crate::http1::parser::{Fields, Head};

/// What a service learns about the client.
pub struct Forwarded<'a> {
    pub client: IpAddr,
    pub is_secure: bool,
    pub stripped: &'a str,
    /// Clients share the connections to a command.
    pub is_shared: bool,
}

pub fn request(head: &Head, fields: &Fields, text: &[u8], forwarded: &Forwarded<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.end - head.start + 128);
    out.extend_from_slice(head.method.of(text));
    out.push(b' ');
    strip(head.target.of(text), forwarded.stripped.as_bytes(), &mut out);
    out.extend_from_slice(b" HTTP/1.1\r\n");
    let mut host: &[u8] = b"";
    for (name, value) in fields {
        let (name, value) = (name.of(text), value.of(text));
        if name.eq_ignore_ascii_case(b"host") {
            host = value;
        }
        if !(forwarded.is_shared && name.eq_ignore_ascii_case(b"connection")) {
            put(&mut out, name, value);
        }
    }
    put(&mut out, b"x-forwarded-for", forwarded.client.to_string().as_bytes());
    put(&mut out, b"x-forwarded-proto", if forwarded.is_secure { b"https" } else { b"http" });
    put(&mut out, b"x-forwarded-host", host);
    if !forwarded.stripped.is_empty() {
        put(&mut out, b"x-forwarded-prefix", forwarded.stripped.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out
}

/// The service ends its connection behind the response: it takes nothing more there.
pub fn asks_to_close(fields: &Fields, text: &[u8], is_shared: bool) -> bool {
    !is_shared
        && fields
            .iter()
            .filter(|(name, _)| name.of(text).eq_ignore_ascii_case(b"connection"))
            .flat_map(|(_, value)| elements(value.of(text)))
            .any(|option| option.eq_ignore_ascii_case(b"close"))
}

fn strip(path: &[u8], prefix: &[u8], out: &mut Vec<u8>) {
    let rest = path.get(prefix.len()..).unwrap_or_default();
    if !matches!(rest.first(), Some(b'/')) {
        out.push(b'/');
    }
    out.extend_from_slice(rest);
}

fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// The request that a response belongs to, and its client's connection.
#[derive(Clone, Copy)]
pub struct Asked {
    pub is_head: bool,
    /// The client's connection stays open.
    pub keep_alive: bool,
    /// The service may close it.
    pub may_close: bool,
    /// The service was asked to close its own connection.
    pub closes: bool,
    /// In seconds.
    pub timeout: u64,
}

pub struct ResponseHead {
    pub text: Vec<u8>,
    /// The client gets chunks.
    pub is_chunked: bool,
    /// The client's connection ends behind it.
    pub closes: bool,
}

const HOP_BY_HOP: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "te", "upgrade"];
/// It says which protocol is required.
const UPGRADE_REQUIRED: u16 = 426;

/// `None` for a head that cannot be forwarded.
pub fn response(status: u16, head: &[u8], asked: Asked) -> Option<ResponseHead> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = lines.next()?;
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let fields: Vec<_> = lines.iter().map(|line| field_of(line)).collect::<Option<_>>()?;
    let all = |wanted: &'static str| {
        let is_wanted = move |name: &[u8]| name.eq_ignore_ascii_case(wanted.as_bytes());
        fields.iter().filter(move |(name, _)| is_wanted(name)).map(|&(_, value)| value)
    };
    let listed: Vec<_> = all("connection").flat_map(elements).collect();
    let closes = !asked.keep_alive || (asked.may_close && listed.iter().any(|one| one.eq_ignore_ascii_case(b"close")));
    let has_body = !asked.is_head && status != 204 && status != 304;
    let has_length = match all("content-length").collect::<Vec<_>>()[..] {
        [] => false,
        [value] => length_of(value).map(|_| true)?,
        _ => return None,
    };
    let mut codings: Vec<_> = all("transfer-encoding").flat_map(elements).collect();
    // No coding (RFC 9112 has removed it): the connection's end is that of the body.
    let is_plain = !codings.is_empty() && codings.iter().all(|one| one.eq_ignore_ascii_case(b"identity"));
    if is_plain {
        codings.clear();
    }
    let has_chunks = codings.last().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
    if has_length && has_chunks || !codings.is_empty() && !has_chunks {
        return None;
    }
    let mut out = Vec::with_capacity(head.len() + 64);
    out.extend_from_slice(b"HTTP/1.1");
    out.extend_from_slice(first.get(8..)?);
    out.extend_from_slice(b"\r\n");
    let mut names_upgrade = false;
    for &(name, value) in &fields {
        if status == UPGRADE_REQUIRED && name.eq_ignore_ascii_case(b"upgrade") {
            put(&mut out, name, value);
            put(&mut out, b"Connection", if closes { b"upgrade, close" } else { b"upgrade" });
            names_upgrade = true;
            continue;
        }
        let is_dropped = match_any(name, &HOP_BY_HOP)
            || ((!has_body || is_plain) && match_any(name, &["transfer-encoding"]))
            || ((!has_body || has_length) && match_any(name, &["trailer"]))
            || (listed.iter().any(|one| one.eq_ignore_ascii_case(name)) && !is_kept(name));
        if !is_dropped {
            put(&mut out, name, value);
        }
    }
    let adds_chunks = has_body && !has_length && !has_chunks;
    let mut more = String::new();
    if names_upgrade {
        // `Connection` is there.
    } else if closes {
        more.push_str("Connection: close\r\n");
    } else {
        let _ = write!(more, "Connection: keep-alive\r\nKeep-Alive: timeout={}\r\n", asked.timeout);
    }
    if adds_chunks {
        more.push_str("Transfer-Encoding: chunked\r\n");
    }
    more.push_str("\r\n");
    out.extend_from_slice(more.as_bytes());
    Some(ResponseHead { text: out, is_chunked: adds_chunks || (has_body && has_chunks), closes })
}

/// Of 1xx. `None` for a head that cannot be forwarded.
pub fn information(head: &[u8]) -> Option<Vec<u8>> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut out = Vec::with_capacity(head.len());
    out.extend_from_slice(b"HTTP/1.1");
    out.extend_from_slice(lines.next()?.get(8..)?);
    out.extend_from_slice(b"\r\n");
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = field_of(line)?;
        if !match_any(name, &HOP_BY_HOP) && !match_any(name, &["transfer-encoding"]) {
            put(&mut out, name, value);
        }
    }
    out.extend_from_slice(b"\r\n");
    Some(out)
}

fn match_any(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

/// Fields that `Connection` cannot remove.
fn is_kept(name: &[u8]) -> bool {
    match_any(name, &["host", "expect", "trailer", "transfer-encoding"])
        || name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"content-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::parser::{Progress, parse};

    #[test]
    fn a_request_says_who_asks() {
        let text = b"GET /a?x HTTP/1.1\r\nHOST: h:1\r\nConnection: keep-alive\r\nX-One: 1\r\n\r\n";
        let mut fields = Fields::new();
        let head = parse(text, &mut Progress::default(), &mut fields, 1000, 10).unwrap().unwrap();
        let mut forwarded =
            Forwarded { client: "10.0.0.1".parse().unwrap(), is_secure: false, stripped: "/a", is_shared: false };
        assert_eq!(
            String::from_utf8(request(&head, &fields, text, &forwarded)).unwrap(),
            "GET /?x HTTP/1.1\r\nHOST: h:1\r\nConnection: keep-alive\r\nX-One: 1\r\nx-forwarded-for: 10.0.0.1\r\n\
             x-forwarded-proto: http\r\nx-forwarded-host: h:1\r\nx-forwarded-prefix: /a\r\n\r\n"
        );
        (forwarded.is_shared, forwarded.stripped) = (true, "");
        let text = String::from_utf8(request(&head, &fields, text, &forwarded)).unwrap();
        assert!(text.starts_with("GET /a?x HTTP/1.1\r\nHOST: h:1\r\nX-One: 1\r\n"), "{text}");
    }

    #[test]
    fn a_connection_on_which_close_was_asked_is_named() {
        let closes = |connection: &str, is_shared| {
            let text = format!("GET / HTTP/1.1\r\nHost: h\r\nConnection: {connection}\r\n\r\n").into_bytes();
            let mut fields = Fields::new();
            parse(&text, &mut Progress::default(), &mut fields, 1000, 10).unwrap().unwrap();
            asks_to_close(&fields, &text, is_shared)
        };
        assert!(closes("close", false) && closes("X-One, Close", false));
        assert!(!closes("keep-alive", false) && !closes("closed", false));
        // The service does not get the field.
        assert!(!closes("close", true));
    }

    #[test]
    fn a_response_loses_what_is_about_its_connection() {
        let asked = Asked { is_head: false, keep_alive: true, may_close: true, closes: false, timeout: 7 };
        let head = |text: &str, asked| {
            response(200, text.as_bytes(), asked).map(|head| (String::from_utf8(head.text).unwrap(), head.is_chunked))
        };
        let text = "HTTP/1.1 200 Fine\r\nX: 1\r\nKeep-Alive: timeout=5\r\nConnection: x\r\nContent-Length: 3\r\n\r\n";
        let end = "Connection: keep-alive\r\nKeep-Alive: timeout=7\r\n";
        assert_eq!(head(text, asked), Some((format!("HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n{end}\r\n"), false)));
        let text = "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n";
        let closed = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(head(text, asked), Some((closed.to_owned(), true)));
        assert_eq!(
            head("HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\nConnection: close\r\n\r\n", asked).unwrap().0,
            closed
        );
        assert_eq!(head("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", asked), None);
        let kept = Asked { may_close: false, ..asked };
        assert_eq!(
            head(text, kept),
            Some((format!("HTTP/1.1 200 OK\r\n{end}Transfer-Encoding: chunked\r\n\r\n"), true))
        );
        assert_eq!(head("HTTP/1.1 200 OK\r\nX Y: 1\r\n\r\n", asked), None);
        assert_eq!(head("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", asked), None);
    }
}
