//! Which requests go to a service directly. The gateway in a worker routes by the same rules
//! (`packages/busbar/src/gateway/routing`), and gets every request that needs more than them.

use super::settings::Settings;
use crate::http1::framing::Framing;
use crate::http1::parser::Head;
use crate::http1::span::Span;

#[derive(Clone, Debug)]
pub struct Route {
    /// In lower case, without a port. `None`: any host.
    pub host: Option<String>,
    pub prefix: String,
    pub strip: bool,
    pub service: String,
}

#[derive(Default)]
pub struct Routes {
    /// Those with a host first, then the longest prefix first.
    sorted: Vec<Route>,
}

impl Routes {
    pub fn new(mut routes: Vec<Route>) -> Self {
        routes.sort_by_key(|route| (route.host.is_none(), std::cmp::Reverse(route.prefix.len())));
        Self { sorted: routes }
    }

    pub fn find(&self, host: &[u8], path: &[u8]) -> Option<&Route> {
        let is_of_host =
            |route: &&Route| route.host.as_ref().is_none_or(|own| own.as_bytes().eq_ignore_ascii_case(host));
        self.sorted.iter().filter(is_of_host).find(|route| matches(route.prefix.as_bytes(), path))
    }
}

fn matches(prefix: &[u8], path: &[u8]) -> bool {
    prefix.is_empty() || (path.starts_with(prefix) && matches!(path.get(prefix.len()), None | Some(b'/' | b'?')))
}

/// A path that every program reads in the same way.
pub fn is_usual_path(path: &[u8]) -> bool {
    path.first() == Some(&b'/')
        && !path.iter().any(|byte| matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}'))
        && !path.windows(2).any(|pair| matches!(pair, b"/." | b"//" | b"%2"))
}

/// The host of a request without fields that the gateway would remove or judge.
pub fn usual_host<'a>(head: &Head, fields: &[(Span, Span)], text: &'a [u8], settings: &Settings) -> Option<&'a [u8]> {
    let is_short = head.end - head.start <= settings.max_head / 2 && fields.len() <= 500;
    let is_bounded = match head.framing {
        Framing::None => true,
        Framing::Length(length) => length <= settings.max_body,
        Framing::Chunked => false,
    };
    if head.is_1_0 || head.upgrade || !is_short || !is_bounded {
        return None;
    }
    let mut hosts = fields.iter().filter(|(name, _)| name.of(text).eq_ignore_ascii_case(b"host"));
    let (Some((_, host)), None) = (hosts.next(), hosts.next()) else { return None };
    let (name, port) = match host.of(text).split(|&byte| byte == b':').collect::<Vec<_>>()[..] {
        [name] => (name, &b""[..]),
        [name, port] => (name, port),
        _ => return None,
    };
    let is_usual = !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        && port.iter().all(u8::is_ascii_digit)
        && fields.iter().all(|field| is_usual_field(field, text));
    is_usual.then(|| name.strip_suffix(b".").unwrap_or(name))
}

fn is_usual_field((name, value): &(Span, Span), text: &[u8]) -> bool {
    let name = name.of(text);
    match name.len() {
        2 => !name.eq_ignore_ascii_case(b"te"),
        6 => !name.eq_ignore_ascii_case(b"expect"),
        7 => !name.eq_ignore_ascii_case(b"upgrade") && !name.eq_ignore_ascii_case(b"trailer"),
        9 => !name.eq_ignore_ascii_case(b"forwarded") && !name.eq_ignore_ascii_case(b"x-real-ip"),
        10 if name.eq_ignore_ascii_case(b"connection") => matches!(value.of(text), b"keep-alive" | b"close"),
        10 => !name.eq_ignore_ascii_case(b"keep-alive"),
        11 => !name.eq_ignore_ascii_case(b"busbar-hops") && !name.eq_ignore_ascii_case(b"client-cert"),
        16 if name.eq_ignore_ascii_case(b"proxy-connection") => false,
        17 if name.eq_ignore_ascii_case(b"client-cert-chain") => false,
        12.. => !name.get(..12).is_some_and(|start| start.eq_ignore_ascii_case(b"x-forwarded-")),
        _ => true,
    }
}
