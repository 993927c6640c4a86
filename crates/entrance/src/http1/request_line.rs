//! The first line of a request.

use super::fields::is_target;
use super::method;
use super::refusal::Refusal;

pub fn request_line(line: &[u8]) -> Result<(&[u8], &[u8], bool), Refusal> {
    let is_1_0 = match line {
        [.., b' ', b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1'] => false,
        [.., b' ', b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0'] => true,
        _ => return Err(Refusal::Malformed),
    };
    let rest = &line[..line.len() - 9];
    let space = memchr::memchr(b' ', rest).ok_or(Refusal::Malformed)?;
    let (method, target) = (&rest[..space], &rest[space + 1..]);
    if !method::is_known(method) || !is_target(target) {
        return Err(Refusal::Malformed);
    }
    if method == b"CONNECT" {
        return Err(Refusal::NotImplemented);
    }
    if is_plausible(target) { Ok((method, target, is_1_0)) } else { Err(Refusal::Malformed) }
}

/// Accepts a path, `*`, or a URL with a scheme. Node refuses a second `#`, and any `#` in an
/// authority.
fn is_plausible(target: &[u8]) -> bool {
    match target {
        [b'/', rest @ ..] => !rest.contains(&b'#') || rest.iter().filter(|&&byte| byte == b'#').count() == 1,
        b"*" => true,
        _ => {
            let Some(colon) = memchr::memchr(b':', target) else { return false };
            let scheme = &target[..colon];
            scheme.iter().all(u8::is_ascii_alphabetic)
                && !scheme.is_empty()
                && target[colon..].starts_with(b"://")
                && !target.contains(&b'#')
                && !target.contains(&b'\\')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_has_a_known_method_a_plausible_target_and_a_version() {
        for line in ["GET / HTTP/1.1", "GET * HTTP/1.0", "QUERY http://a/ HTTP/1.1", "GET /#a HTTP/1.1"] {
            assert!(request_line(line.as_bytes()).is_ok(), "{line}");
        }
        for line in [
            "GET / HTTP/1.2",
            "GET / HTTP/2.0",
            "GET /",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.1 ",
            "GET / http/1.1",
            "get / HTTP/1.1",
            "FOO / HTTP/1.1",
            "GET a HTTP/1.1",
            "GET /a b HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            "GET a:80 HTTP/1.1",
            "GET\t/ HTTP/1.1",
            " GET / HTTP/1.1",
        ] {
            assert_eq!(request_line(line.as_bytes()), Err(Refusal::Malformed), "{line}");
        }
        assert_eq!(request_line(b"CONNECT a:1 HTTP/1.1"), Err(Refusal::NotImplemented));
    }
}
