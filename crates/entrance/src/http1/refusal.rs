//! The reasons for refusing a request, and the response to each.

use std::borrow::Cow;

use super::{cors, date};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Malformed,
    HeadTooLarge,
    ExtensionTooLarge,
    BodyTooLarge,
    /// The head did not arrive in time.
    HeadTimeout,
    /// The body did not arrive in time.
    BodyTimeout,
    /// CONNECT: the entrance is not a proxy.
    NotImplemented,
    WorkerDied,
    /// The program closed the connection before it responded.
    HungUp,
    /// What the program sent is not HTTP.
    ResponseMalformed,
    /// The response did not begin in time.
    ResponseTimeout,
    /// The service has no instance.
    NotServing,
    /// No worker serves.
    NoWorker,
    /// All workers have as many requests as they may have.
    Overloaded,
    /// As many connections as there may be are open.
    ConnectionLimit,
}

/// What is known of a request that is refused.
#[derive(Clone, Copy, Default)]
pub struct Refused<'a> {
    pub is_head: bool,
    /// Of a request whose head was read.
    pub target: &'a [u8],
    /// Likewise.
    pub origin: Option<&'a [u8]>,
}

/// Each refusal with its name in metrics.
pub const REFUSALS: [(Refusal, &str); 15] = [
    (Refusal::Malformed, "malformed"),
    (Refusal::HeadTooLarge, "head_too_large"),
    (Refusal::ExtensionTooLarge, "extension_too_large"),
    (Refusal::BodyTooLarge, "body_too_large"),
    (Refusal::HeadTimeout, "head_timeout"),
    (Refusal::BodyTimeout, "body_timeout"),
    (Refusal::NotImplemented, "not_implemented"),
    (Refusal::WorkerDied, "worker_died"),
    (Refusal::HungUp, "hung_up"),
    (Refusal::ResponseMalformed, "response_malformed"),
    (Refusal::ResponseTimeout, "response_timeout"),
    (Refusal::NotServing, "not_serving"),
    (Refusal::NoWorker, "no_worker"),
    (Refusal::Overloaded, "overloaded"),
    (Refusal::ConnectionLimit, "connection_limit"),
];

impl Refusal {
    /// The whole response. `problems`: as problem details (RFC 9457), like those of the gateway,
    /// even where Node has a response of its own. `origins`: whose pages may read those.
    pub fn answer(self, problems: bool, origins: &[String], refused: Refused<'_>) -> Cow<'static, [u8]> {
        match self.plain() {
            Some(text) if !problems => Cow::Borrowed(text),
            _ => Cow::Owned(self.problem(origins, refused)),
        }
    }

    /// Of the response. Only CONNECT has two: a server of Node answers 501, and the gateway 400.
    pub fn status(self, problems: bool) -> u16 {
        if self == Self::NotImplemented && !problems { 501 } else { self.details().0 }
    }

    fn problem(self, origins: &[String], Refused { is_head, target, origin }: Refused<'_>) -> Vec<u8> {
        let (status, title, code, detail) = self.details();
        let mut more = format!(r#""code":"{code}""#);
        if status >= 500 && target.first() == Some(&b'/') {
            more.push_str(&format!(r#","instance":"{}""#, escaped(without_query(target))));
        }
        problem(status, title, detail, &more, &cors::fields(origins, origin), is_head)
    }

    /// Status, title, code and detail. The codes are those of
    /// `packages/busbar/src/contract/errors.ts`.
    pub fn details(self) -> (u16, &'static str, &'static str, &'static str) {
        match self {
            Self::Malformed => (
                400,
                "Bad Request",
                "REQUEST_MALFORMED",
                "The request cannot be served: it is not HTTP, or it is ambiguous",
            ),
            Self::NotImplemented => {
                (400, "Bad Request", "REQUEST_MALFORMED", "The request cannot be served: CONNECT is not supported")
            }
            Self::HeadTooLarge => {
                (431, "Request Header Fields Too Large", "HEADERS_TOO_LARGE", "The headers are larger than the limit")
            }
            Self::ExtensionTooLarge | Self::BodyTooLarge => {
                (413, "Payload Too Large", "BODY_TOO_LARGE", "The body is larger than the limit")
            }
            Self::HeadTimeout | Self::BodyTimeout => {
                (408, "Request Timeout", "REQUEST_TIMEOUT", "The request did not arrive in time")
            }
            Self::WorkerDied => (502, "Bad Gateway", "WORKER_DIED", "The worker ended before it had answered"),
            Self::HungUp => (502, "Bad Gateway", "SERVICE_HANGUP", "The program hung up before it had answered"),
            Self::ResponseMalformed => {
                (502, "Bad Gateway", "ANSWER_MALFORMED", "The program answered with something that is not HTTP")
            }
            Self::ResponseTimeout => {
                (504, "Gateway Timeout", "RESPONSE_TIMEOUT", "The program did not begin its response in time")
            }
            Self::NotServing => (503, "Service Unavailable", "SERVICE_UNAVAILABLE", "The service is not serving"),
            Self::NoWorker | Self::Overloaded => {
                (503, "Service Unavailable", "SERVICE_UNAVAILABLE", "No worker can serve the request at the moment")
            }
            Self::ConnectionLimit => {
                (503, "Service Unavailable", "SERVICE_UNAVAILABLE", "The entrance has no room for more connections")
            }
        }
    }

    /// Same text as Node's own (`badRequestResponse` and others in lib/_http_server.js). None where
    /// a server of Node does not refuse.
    fn plain(self) -> Option<&'static [u8]> {
        Some(match self {
            Self::Malformed => b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
            Self::HeadTooLarge => b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n",
            Self::ExtensionTooLarge | Self::BodyTooLarge => {
                b"HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n"
            }
            Self::HeadTimeout | Self::BodyTimeout => b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
            Self::NotImplemented => b"HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            Self::WorkerDied
            | Self::HungUp
            | Self::ResponseMalformed
            | Self::ResponseTimeout
            | Self::NotServing
            | Self::NoWorker
            | Self::Overloaded
            | Self::ConnectionLimit => return None,
        })
    }
}

/// A response with problem details. `more`: further members, as JSON. `fields`: further lines.
pub fn problem(status: u16, title: &str, detail: &str, more: &str, fields: &str, is_head: bool) -> Vec<u8> {
    let body = format!(r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}",{more}}}"#);
    let retry = if status == 503 { "retry-after: 1\r\n" } else { "" };
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {title}\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\n{retry}{fields}date: {}\r\nconnection: close\r\n\r\n{}",
        date::now(),
        if is_head { "" } else { &body }
    )
    .into_bytes()
}

/// A query may have secrets.
pub fn without_query(target: &[u8]) -> &[u8] {
    target.split(|&byte| byte == b'?').next().unwrap_or_default()
}

/// Visible ASCII within a text of JSON.
pub fn escaped(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place_and_the_status_of_its_response() {
        for (place, (refusal, _)) in REFUSALS.into_iter().enumerate() {
            assert_eq!(refusal as usize, place);
            for problems in [false, true] {
                let text = String::from_utf8(refusal.answer(problems, &[], Refused::default()).into_owned()).unwrap();
                assert!(text.starts_with(&format!("HTTP/1.1 {} ", refusal.status(problems))), "{text}");
            }
        }
    }
}
