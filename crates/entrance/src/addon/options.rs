//! What the library says and asks of the add-on as a whole.

use std::time::Duration;

use napi_derive::napi;

use crate::direct::routes::Route;
use crate::direct::settings::{Address, Instance, Settings};
use crate::direct::templates::{Segment, Template};
use crate::limits::Limits;
use crate::worker::area::AREA;
use crate::worker::record::FORMAT;

/// Times are in milliseconds. Omitted values have their defaults.
#[napi(object)]
#[derive(Default)]
pub struct EntranceOptions {
    pub threads: Option<u32>,
    pub max_connections: Option<u32>,
    pub max_head: Option<u32>,
    pub max_fields: Option<u32>,
    pub max_body: Option<f64>,
    pub max_in_flight: Option<u32>,
    pub head_timeout: Option<u32>,
    pub request_timeout: Option<u32>,
    pub idle_timeout: Option<u32>,
    pub send_timeout: Option<u32>,
    pub worker_timeout: Option<u32>,
    pub problems: Option<bool>,
    pub pin_connections: Option<bool>,
    pub grpc: Option<bool>,
}

/// What the library compares with its own, before it uses the add-on.
#[napi(object)]
#[cfg_attr(test, allow(dead_code))]
pub struct Build {
    pub version: String,
    /// The version of the records of batches and of the classes.
    pub format: u32,
}

#[napi(catch_unwind)]
#[cfg_attr(test, allow(dead_code))]
pub fn build() -> Build {
    Build { version: env!("CARGO_PKG_VERSION").to_owned(), format: FORMAT }
}

pub fn limits_of(options: &EntranceOptions) -> Limits {
    let usual = Limits::default();
    let time = |value: Option<u32>, usual| value.map_or(usual, |value| Duration::from_millis(u64::from(value)));
    Limits {
        max_connections: options.max_connections.map_or(usual.max_connections, |value| value as usize),
        // A head and its table must fit into an area.
        max_head: options.max_head.map_or(usual.max_head, |value| (value as usize).min(AREA / 4)),
        max_fields: options.max_fields.map_or(usual.max_fields, |value| (value as usize).min(10_000)),
        max_body: options.max_body.map_or(usual.max_body, |value| value as u64),
        max_in_flight: options.max_in_flight.unwrap_or(usual.max_in_flight),
        head_timeout: time(options.head_timeout, usual.head_timeout),
        request_timeout: time(options.request_timeout, usual.request_timeout),
        idle_timeout: time(options.idle_timeout, usual.idle_timeout),
        send_timeout: time(options.send_timeout, usual.send_timeout),
        worker_timeout: time(options.worker_timeout, usual.worker_timeout),
        problems: options.problems.unwrap_or(usual.problems),
        pin_connections: options.pin_connections.unwrap_or(usual.pin_connections),
        grpc: options.grpc.unwrap_or(usual.grpc),
    }
}

#[napi(object)]
pub struct RouteOptions {
    pub host: Option<String>,
    pub prefix: String,
    pub strip: bool,
    pub service: String,
}

impl From<RouteOptions> for Route {
    fn from(RouteOptions { host, prefix, strip, service }: RouteOptions) -> Self {
        Self { host, prefix, strip, service }
    }
}

/// Sizes in bytes, times in milliseconds.
#[napi(object)]
pub struct DirectOptions {
    pub max_head: u32,
    pub max_body: f64,
    pub response_timeout: u32,
    pub keep_alive: u32,
    pub reserved: Vec<String>,
    pub origins: Vec<String>,
}

impl From<DirectOptions> for Settings {
    fn from(options: DirectOptions) -> Self {
        Self {
            max_head: options.max_head as usize,
            max_body: options.max_body as u64,
            response_timeout: Duration::from_millis(u64::from(options.response_timeout)),
            keep_alive: u64::from(options.keep_alive) / 1000,
            reserved: options.reserved,
            origins: options.origins.into(),
        }
    }
}

/// An instance that serves. It has a path, or a host and a port.
#[napi(object)]
pub struct InstanceOptions {
    pub service: String,
    pub path: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    /// Of its worker.
    pub slot: Option<u32>,
}

impl InstanceOptions {
    pub fn instance(self) -> Option<(String, Instance)> {
        let address = match self {
            Self { path: Some(path), .. } => Address::Private(path),
            Self { host: Some(host), port: Some(port), .. } => Address::Port(host, port),
            Self { .. } => return None,
        };
        Some((self.service, Instance { address, slot: self.slot }))
    }
}

/// A path template of a service.
#[napi(object)]
pub struct TemplateOptions {
    pub service: String,
    /// As it is shown.
    pub path: String,
    /// Default: any.
    pub method: Option<String>,
    pub segments: Vec<SegmentOptions>,
}

/// `is`: `text`, `parameter`, `digits`, `pieces` or `rest`.
#[napi(object)]
pub struct SegmentOptions {
    pub is: String,
    pub texts: Vec<String>,
}

impl From<TemplateOptions> for (String, Template) {
    fn from(options: TemplateOptions) -> Self {
        let segment = |SegmentOptions { is, texts }: SegmentOptions| match is.as_str() {
            "text" => Segment::Text(texts.concat()),
            "digits" => Segment::Digits,
            "pieces" => Segment::Pieces(texts),
            "rest" => Segment::Rest,
            _ => Segment::Parameter,
        };
        let segments = options.segments.into_iter().map(segment).collect();
        (options.service, Template { path: options.path, method: options.method, segments })
    }
}
