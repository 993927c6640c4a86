//! Heads between HTTP/2 and the text of HTTP/1.1.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::http1::fields::field_of;

/// An intermediary cannot pass on a key that HTTP/2 does not have (RFC 8441, 5). It proves nothing,
/// and the response to it ends here.
const KEY: &[u8] = b"AAAAAAAAAAAAAAAAAAAAAA==";

const GRPC: &[u8] = b"application/grpc";

/// Whether the request is of gRPC, with any encoding of its messages. gRPC-Web is not.
pub fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.strip_prefix(GRPC).is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// A WebSocket that is asked for by an extended CONNECT (RFC 8441), as HTTP/1.1 asks for it.
pub fn websocket_text(head: &http::request::Parts) -> Vec<u8> {
    let mut text = request_text_of("GET", head, false);
    text.truncate(text.len() - 2);
    put(&mut text, b"Connection", b"Upgrade");
    put(&mut text, b"Upgrade", b"websocket");
    put(&mut text, b"Sec-WebSocket-Key", KEY);
    text.extend_from_slice(b"\r\n");
    text
}

/// The text of a request. `has_body`: more than its head comes. The text is then read by the same
/// parser as that of a client of HTTP/1, so nothing passes that would be refused there.
pub fn request_text(head: &http::request::Parts, has_body: bool) -> Vec<u8> {
    request_text_of(head.method.as_str(), head, has_body)
}

fn request_text_of(method: &str, head: &http::request::Parts, has_body: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    for part in [method, " ", path, " HTTP/1.1\r\n"] {
        text.extend_from_slice(part.as_bytes());
    }
    let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
    if let Some(host) = authority.or_else(|| head.headers.get(HOST).map(HeaderValue::as_bytes)) {
        put(&mut text, b"Host", host);
    }
    let mut has_cookie = false;
    for (name, value) in &head.headers {
        match *name {
            HOST => {}
            // Clients send each crumb in a field of its own (RFC 9113, 8.2.3).
            COOKIE => has_cookie = true,
            _ => put(&mut text, name.as_str().as_bytes(), value.as_bytes()),
        }
    }
    if has_cookie {
        let crumbs: Vec<_> = head.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        put(&mut text, b"cookie", &crumbs.join(&b"; "[..]));
    }
    if has_body && !head.headers.contains_key(CONTENT_LENGTH) {
        put(&mut text, b"Transfer-Encoding", b"chunked");
    }
    text.extend_from_slice(b"\r\n");
    text
}

fn put(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        text.extend_from_slice(part);
    }
}

/// Field lines as trailers of HTTP/1.1.
pub fn trailer_lines(trailers: &HeaderMap) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in trailers {
        put(&mut text, name.as_str().as_bytes(), value.as_bytes());
    }
    text
}

/// `None` for a status that HTTP/2 does not have.
pub fn response(status: u16, head: &[u8]) -> Option<Response<()>> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(status).ok()?;
    *response.headers_mut() = fields(head.split(|&byte| byte == b'\n').skip(1));
    Some(response)
}

pub fn trailers(lines: &[u8]) -> HeaderMap {
    fields(lines.split(|&byte| byte == b'\n'))
}

/// Without fields that are about a connection of HTTP/1 (RFC 9113, 8.2.2).
fn fields<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut fields = HeaderMap::new();
    let all = lines.filter_map(|line| field_of(line.strip_suffix(b"\r").unwrap_or(line)));
    for (name, value) in all {
        let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) else { continue };
        if !matches!(
            name.as_str(),
            "sec-websocket-accept" | "connection" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade"
        ) {
            fields.append(name, value);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_of_grpc_are_calls() {
        for (kind, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc;a=b", true),
            ("application/grpc-web", false),
            ("application/json", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
            assert_eq!(is_grpc(&headers), expected, "{kind}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
    use http::Request;

    #[test]
    fn a_request_becomes_text() {
        let request = Request::post("https://shop.example/a?b")
            .header("x-one", "1")
            .header("cookie", "a=1")
            .header("host", "other.example")
            .header("cookie", "b=2")
            .body(())
            .unwrap();
        let (head, ()) = request.into_parts();
        assert_eq!(
            String::from_utf8(request_text(&head, true)).unwrap(),
            "POST /a?b HTTP/1.1\r\nHost: shop.example\r\nx-one: 1\r\ncookie: a=1; b=2\r\n\
             Transfer-Encoding: chunked\r\n\r\n"
        );
    }

    #[test]
    fn fields_of_the_connection_are_left_out() {
        let text =
            b"HTTP/1.1 200 OK\r\nX-One: 1\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nx-one: 2\r\n\r\n";
        let response = response(200, text).unwrap();
        let seen: Vec<_> = response.headers().get_all("x-one").iter().collect();
        assert_eq!(seen, ["1", "2"]);
        assert_eq!(response.headers().len(), 2);
        assert!(super::response(99, text).is_none());
    }
}
