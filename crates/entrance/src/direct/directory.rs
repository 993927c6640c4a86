//! The services that are reached directly, with their instances, and the routes to them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use super::counts::Counts;
use super::routes::{Route, Routes, is_usual_path, usual_host};
use super::settings::{Address, Instance, Settings};
use super::target::Target;
use super::templates::Templates;
use crate::http1::parser::Head;
use crate::http1::span::Span;

#[derive(Default)]
struct State {
    routes: Routes,
    settings: Arc<Settings>,
    templates: Templates,
    targets: HashMap<String, Arc<Target>>,
}

/// Of a route, in bytes: an edge of a worker has no room for more.
const MAX_ROUTE: usize = 140;

impl State {
    fn shown(&self, route: &Route, method: &[u8], path: &[u8]) -> String {
        let stripped = if route.strip { route.prefix.as_str() } else { "" };
        let own = match path.get(stripped.len()..) {
            Some(rest) if rest.first() == Some(&b'/') => rest,
            _ => b"/",
        };
        match self.templates.find(&route.service, method, own) {
            // The prefix alone leads to the service's `/`.
            Some("/") if !stripped.is_empty() => stripped.to_owned(),
            Some(template) if stripped.len() + template.len() <= MAX_ROUTE => format!("{stripped}{template}"),
            _ => route.prefix.clone(),
        }
    }
}

/// A service for a request, and the prefix of its route.
pub struct Direct {
    pub target: Arc<Target>,
    pub prefix: String,
    /// The path loses the prefix.
    pub strip: bool,
    /// By which the request counts: a template after what the path loses, or the prefix.
    pub shown: String,
}

#[derive(Default)]
pub struct Directory {
    state: RwLock<State>,
    /// An instance can be reached.
    is_used: AtomicBool,
    pub counts: Counts,
}

impl Directory {
    /// `direct`: the services that are reached directly. Returns those that have to be served now.
    pub fn set(&self, routes: Vec<Route>, direct: &[String], settings: Settings) -> Vec<Arc<Target>> {
        let mut state = self.state.write();
        state.routes = Routes::new(routes);
        state.settings = Arc::new(settings);
        let mut added = Vec::new();
        for service in direct {
            if !state.targets.contains_key(service) {
                let target = Target::new(service);
                added.push(target.clone());
                state.targets.insert(service.clone(), target);
            }
        }
        for (service, target) in &state.targets {
            if !direct.contains(service) {
                target.replace(std::iter::empty());
            }
        }
        self.is_used.store(state.targets.values().any(|target| target.is_served()), Ordering::Release);
        added
    }

    /// Of all services.
    pub fn set_templates(&self, templates: Templates) {
        self.state.write().templates = templates;
    }

    /// The instances that serve now. Of a service that is not reached directly, nothing is kept.
    pub fn set_instances(&self, instances: &[(String, Instance)]) {
        let state = self.state.read();
        for (service, target) in &state.targets {
            let own = instances.iter().filter(|(of, _)| of == service).map(|(_, instance)| instance.clone());
            target.replace(own);
        }
        self.is_used.store(state.targets.values().any(|target| target.is_served()), Ordering::Release);
    }

    /// Requests that are with an instance, also if it gets no more.
    pub fn requests_at(&self, address: &Address) -> u32 {
        self.state.read().targets.values().map(|target| target.requests_at(address)).sum()
    }

    /// `None` for a request that a worker gets.
    pub fn find(&self, head: &Head, fields: &[(Span, Span)], text: &[u8]) -> Option<Direct> {
        let state = self.state.read();
        let path = head.target.of(text);
        let host = usual_host(head, fields, text, &state.settings)?;
        if !is_usual_path(path) || state.settings.reserved.iter().any(|own| path.starts_with(own.as_bytes())) {
            return None;
        }
        let route = state.routes.find(host, path)?;
        let target = state.targets.get(&route.service).filter(|target| target.is_served())?;
        let shown = state.shown(route, head.method.of(text), path);
        Some(Direct { target: target.clone(), prefix: route.prefix.clone(), strip: route.strip, shown })
    }

    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.state.read().settings.clone()
    }

    /// Requests that are with instances.
    pub fn in_flight(&self) -> u32 {
        let state = self.state.read();
        state.targets.values().map(|target| target.worker.in_flight.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let instance = Instance { address: Address::Port("127.0.0.1".to_owned(), 1), slot: None };
        directory.set_instances(&[("a".to_owned(), instance)]);
        directory
    }

    fn found(first: &str, fields: &str) -> Option<(String, String)> {
        let text = format!("{first} HTTP/1.1\r\n{fields}\r\n");
        let mut all = Fields::new();
        let head = parse(text.as_bytes(), &mut Progress::default(), &mut all, 100_000, 1000).unwrap().unwrap();
        directory().find(&head, &all, text.as_bytes()).map(|found| (found.target.service.clone(), found.prefix))
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
