//! Unary calls of gRPC over HTTP/2, as gRPC's `doc/PROTOCOL-HTTP2.md` describes them.

use crate::answer::Malformed;
use crate::received::Received;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;

/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;

pub fn decode(message: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD
        .decode(message)
        .map_err(|error| format!("the job is not valid: a `message` must be base64, and is not: {error}"))
}

/// The body of a call with one message.
pub fn frame(message: &[u8]) -> Result<Vec<u8>, String> {
    let length = u32::try_from(message.len()).map_err(|_| "the job is not valid: a `message` is too long")?;
    let mut framed = Vec::with_capacity(PREFIX + message.len());
    framed.push(0);
    framed.extend_from_slice(&length.to_be_bytes());
    framed.extend_from_slice(message);
    Ok(framed)
}

/// The end of a call.
pub struct Call<'a> {
    /// The `grpc-status`. An answer that is not one of gRPC has its HTTP status, which is above all
    /// of these.
    pub status: u16,
    /// The server's words: `grpc-message`.
    pub reason: Option<String>,
    /// Empty for a call that failed.
    pub message: &'a [u8],
}

pub fn read(received: &Received) -> Result<Call<'_>, Malformed> {
    let Received { status, headers, body, trailers } = received;
    if *status != 200 {
        return Ok(Call { status: *status, reason: None, message: &[] });
    }
    let kind = headers.get("content-type").map_or(&[][..], |value| value.as_bytes());
    if !kind.starts_with(b"application/grpc") {
        return Err(Malformed("the answer is not gRPC: its content-type is not application/grpc"));
    }
    // A call that fails at once has its status in the only header block.
    let end = trailers.as_ref().unwrap_or(headers);
    let status = end
        .get("grpc-status")
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<u16>().ok())
        .filter(|&code| code < 100)
        .ok_or(Malformed("the call ended without a valid grpc-status"))?;
    if status != 0 {
        return Ok(Call { status, reason: reason_in(end), message: &[] });
    }
    Ok(Call { status, reason: None, message: only_message(body)? })
}

fn only_message(body: &[u8]) -> Result<&[u8], Malformed> {
    let Some((prefix, message)) = body.split_at_checked(PREFIX) else {
        return Err(Malformed("a successful call has no message"));
    };
    if prefix[0] != 0 {
        return Err(Malformed("the message is compressed, which was not requested"));
    }
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    if message.len() == length { Ok(message) } else { Err(Malformed("a unary call has not exactly one message")) }
}

/// Percent-encoded UTF-8.
fn reason_in(end: &HeaderMap) -> Option<String> {
    let text = end.get("grpc-message")?.as_bytes();
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let code = text.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match code.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| text[at] == b'%') {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(text[at]);
                at += 1;
            }
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(
        status: u16,
        headers: &[(&'static str, &str)],
        body: &[u8],
        trailers: &[(&'static str, &str)],
    ) -> Received {
        let map = |fields: &[(&'static str, &str)]| -> HeaderMap {
            fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
        };
        let trailers = (!trailers.is_empty()).then(|| map(trailers));
        Received { status, headers: map(headers), body: body.to_vec(), trailers }
    }

    const GRPC: (&str, &str) = ("content-type", "application/grpc+proto");

    #[test]
    fn a_call_has_its_status_its_reason_and_one_message() {
        let good = received(200, &[GRPC], &[0, 0, 0, 0, 2, 8, 1], &[("grpc-status", "0")]);
        let call = read(&good).unwrap();
        assert_eq!((call.status, call.message), (0, &[8, 1][..]));
        let at_once = received(200, &[GRPC, ("grpc-status", "5"), ("grpc-message", "no%20item%")], &[], &[]);
        let call = read(&at_once).unwrap();
        assert_eq!((call.status, call.reason.as_deref()), (5, Some("no item%")));
        assert_eq!(read(&received(502, &[], &[], &[])).unwrap().status, 502);
    }

    #[test]
    fn what_is_no_call_is_malformed() {
        let end = [("grpc-status", "0")];
        for wrong in [
            received(200, &[("content-type", "text/html")], b"<p>", &end),
            received(200, &[GRPC], &[0, 0, 0, 0, 0], &[]),
            received(200, &[GRPC], &[0, 0, 0, 0, 0], &[("grpc-status", "x")]),
            received(200, &[GRPC], &[], &end),
            received(200, &[GRPC], &[1, 0, 0, 0, 0], &end),
            received(200, &[GRPC], &[0, 0, 0, 0, 1], &end),
            received(200, &[GRPC], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &end),
        ] {
            assert!(read(&wrong).is_err());
        }
    }
}
