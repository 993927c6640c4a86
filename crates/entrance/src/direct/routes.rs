//! Which requests go to a service directly. The gateway in a worker routes by the same rules
//! (`packages/busbar/src/gateway/routing`), and gets every request that needs more than them.

use std::sync::Arc;

use super::{Directory, Settings, Target};
use crate::http1::framing::Framing;
use crate::http1::parser::Head;
use crate::http1::span::Span;

#[derive(Clone, Debug)]
pub struct Route {
    /// In lower case, without a port. Undefined: any host.
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

    fn find(&self, host: &[u8], path: &[u8]) -> Option<&Route> {
        let is_of_host =
            |route: &&Route| route.host.as_ref().is_none_or(|own| own.as_bytes().eq_ignore_ascii_case(host));
        self.sorted.iter().filter(is_of_host).find(|route| matches(route.prefix.as_bytes(), path))
    }
}

fn matches(prefix: &[u8], path: &[u8]) -> bool {
    prefix.is_empty() || (path.starts_with(prefix) && matches!(path.get(prefix.len()), None | Some(b'/' | b'?')))
}

/// A service for a request, and the prefix that its path loses.
pub struct Direct {
    pub target: Arc<Target>,
    pub stripped: String,
}

impl Directory {
    /// Undefined for a request that a worker gets.
    pub fn find(&self, head: &Head, fields: &[(Span, Span)], text: &[u8]) -> Option<Direct> {
        let state = self.state.read();
        let path = head.target.of(text);
        let host = usual_host(head, fields, text, &state.settings)?;
        if !is_usual_path(path) || state.settings.reserved.iter().any(|own| path.starts_with(own.as_bytes())) {
            return None;
        }
        let route = state.routes.find(host, path)?;
        let target = state.targets.get(&route.service).filter(|target| target.is_served())?;
        let stripped = if route.strip { route.prefix.clone() } else { String::new() };
        Some(Direct { target: target.clone(), stripped })
    }
}

/// A path that every program reads in the same way.
fn is_usual_path(path: &[u8]) -> bool {
    path.first() == Some(&b'/')
        && !path.iter().any(|byte| matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}'))
        && !path.windows(2).any(|pair| matches!(pair, b"/." | b"//" | b"%2"))
}

/// The host of a request without fields that the gateway would remove or judge.
fn usual_host<'a>(head: &Head, fields: &[(Span, Span)], text: &'a [u8], settings: &Settings) -> Option<&'a [u8]> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direct::Address;
    use crate::http1::parser::{Fields, Progress, parse};

    fn directory() -> Directory {
        let directory = Directory::default();
        let route = |host: Option<&str>, prefix: &str, strip, service: &str| Route {
            host: host.map(str::to_owned),
            prefix: prefix.to_owned(),
            strip,
            service: service.to_owned(),
        };
        let routes = vec![
            route(None, "", false, "web"),
            route(None, "/a", true, "a"),
            route(None, "/a/b", false, "b"),
            route(Some("shop.example"), "/a", true, "web"),
        ];
        let settings =
            Settings { max_head: 16_384, max_body: 10, reserved: vec!["/healthz".to_owned()], ..Settings::default() };
        directory.set(routes, &["a".to_owned(), "b".to_owned()], settings);
        directory.set_instances(&[("a".to_owned(), Address::Port("127.0.0.1".to_owned(), 1))]);
        directory
    }

    fn found(first: &str, fields: &str) -> Option<(String, String)> {
        let text = format!("{first} HTTP/1.1\r\n{fields}\r\n");
        let mut all = Fields::new();
        let head = parse(text.as_bytes(), &mut Progress::default(), &mut all, 100_000, 1000).unwrap().unwrap();
        directory().find(&head, &all, text.as_bytes()).map(|found| (found.target.service.clone(), found.stripped))
    }

    #[test]
    fn usual_requests_to_a_served_service_are_direct() {
        for first in ["GET /a", "GET /a/x?y=/../z%3f", "POST /a?x"] {
            let first = first.replace("/../", "/-/");
            assert_eq!(found(&first, "Host: any:80\r\n"), Some(("a".to_owned(), "/a".to_owned())), "{first}");
        }
        for fields in ["Connection: keep-alive\r\n", "Content-Length: 10\r\n", "X-Forward: a\r\nte2: b\r\n"] {
            assert!(found("GET /a", &format!("Host: a\r\n{fields}")).is_some(), "{fields}");
        }
    }

    #[test]
    fn all_others_are_not() {
        for first in
            ["GET /ab", "GET /a/b", "GET /", "GET /a/../c", "GET /a//c", "GET /a/%2e%2e", "GET /a#b", "OPTIONS *"]
        {
            assert_eq!(found(first, "Host: a\r\n"), None, "{first}");
        }
        assert_eq!(found("GET http://a/a", "Host: a\r\n"), None);
        for fields in [
            "",
            "Host: a\r\nHost: a\r\n",
            "Host: a@b\r\n",
            "Host: [::1]\r\n",
            "Host: a:b\r\n",
            "Host: a:1:2\r\n",
            "Host: SHOP.example.:80\r\n",
            "Host: a\r\nTE: trailers\r\n",
            "Host: a\r\nExpect: 100-continue\r\n",
            "Host: a\r\nX-Forwarded-For: b\r\n",
            "Host: a\r\nConnection: x\r\n",
            "Host: a\r\nContent-Length: 11\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nBusbar-Hops: 1\r\n",
        ] {
            assert_eq!(found("GET /a", fields), None, "{fields}");
        }
    }
}
