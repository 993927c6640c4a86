//! The job, as sent by the lab.

use serde::Deserialize;
use std::time::Duration;

/// A job. Times are milliseconds. Optional fields have the stated defaults.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Job {
    pub target: Target,
    /// Sent in turn. Each connection starts with another one.
    pub requests: Vec<Request>,
    pub load: Load,
    /// Number of connections (closed loop), or its maximum (open loop).
    pub connections: usize,
    /// Maximum requests in flight per connection: pipelined in HTTP/1.1, each in a stream of its
    /// own in HTTP/2. Default 1. In an open loop HTTP/1.1 has one.
    #[serde(default = "one")]
    pub pipelining: usize,
    /// Opens a new connection for each request. Default false.
    #[serde(default)]
    pub reconnect: bool,
    /// Initial period that is checked but not counted. Default 0.
    #[serde(default)]
    pub discard_ms: u64,
    /// Timeout of a request, after which its connection is closed, in HTTP/2 its stream reset.
    /// Default 10,000.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
    /// How long to wait for requests in flight at the end. Default 2,000.
    #[serde(default = "two_seconds")]
    pub grace_ms: u64,
    /// Seed for the arrivals of an open loop.
    #[serde(default)]
    pub seed: u64,
    /// Processor to which the engine is pinned.
    pub cpu: Option<usize>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// `127.0.0.1:3043`, `[::1]:3043`; or `unix`.
    pub address: Option<String>,
    /// The path of a Unix socket.
    pub unix: Option<String>,
    pub tls: Option<Tls>,
    /// Default `http1`.
    #[serde(default)]
    pub protocol: Protocol,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Protocol {
    #[default]
    Http1,
    /// In clear with prior knowledge, over TLS by ALPN.
    Http2,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// Server name (SNI).
    pub server_name: String,
    /// PEM of the server certificate, the only trusted one. Verification cannot be turned off.
    pub certificate: String,
    /// Resumes TLS sessions. Default true.
    #[serde(default = "yes")]
    pub resume: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    #[serde(default = "get")]
    pub method: String,
    pub path: String,
    /// Names and values. `Host` and `Content-Length` are added if missing.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    #[serde(default)]
    pub body: String,
    /// Makes the request a unary call of gRPC with this message, in base64. Its method is POST.
    pub message: Option<String>,
    #[serde(default)]
    pub expect: Expect,
}

/// The expected answer. Any other answer counts as failed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// Default 200. For gRPC the `grpc-status`, default 0.
    pub status: Option<u16>,
    /// Length of the body in bytes.
    pub length: Option<usize>,
    /// The body.
    pub body: Option<String>,
    /// SHA-256 of the body in hexadecimal.
    pub sha256: Option<String>,
    /// The message of gRPC, in base64. For gRPC, `length` and `sha256` are those of the message.
    pub message: Option<String>,
    /// A value in a JSON body.
    pub json: Option<JsonExpect>,
    /// Headers with their exact values, null for a header that must be absent. Names in lower case.
    /// Several lines of one name are one value, joined with `, `.
    #[serde(default)]
    pub headers: Vec<(String, Option<String>)>,
    /// If set, the only other headers that an answer may have, with any value. Otherwise all are
    /// allowed.
    pub other_headers: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JsonExpect {
    /// JSON pointer (RFC 6901), such as `/success`.
    pub pointer: String,
    pub equals: serde_json::Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "loop", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Load {
    /// Each connection sends a request after each answer, for a duration, a number of requests, or
    /// both.
    Closed { duration_ms: Option<u64>, requests: Option<u64> },
    /// A closed loop that standard input turns on and off, until the input ends (`pulses.rs`).
    Pulses {},
    /// Requests are due at fixed times. Latency starts at the due time.
    Open { duration_ms: u64, rate: f64, arrivals: Arrivals },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arrivals {
    Poisson,
    Constant,
}

impl Job {
    pub fn parse(text: &str) -> Result<Job, String> {
        let job: Job = serde_json::from_str(text).map_err(|error| format!("the job is not valid: {error}"))?;
        job.check()?;
        Ok(job)
    }

    fn check(&self) -> Result<(), String> {
        let fail = |what: &str| Err(format!("the job is not valid: {what}"));
        if self.requests.is_empty() {
            return fail("`requests` must name at least one");
        }
        if !(1..=100_000).contains(&self.connections) {
            return fail("`connections` must be from 1 to 100,000");
        }
        if !(1..=10_000).contains(&self.pipelining) {
            return fail("`pipelining` must be from 1 to 10,000");
        }
        if self.reconnect && self.pipelining > 1 {
            return fail("`reconnect` sends one request on each connection, so `pipelining` must be 1");
        }
        for request in &self.requests {
            if request.message.is_some() && self.target.protocol != Protocol::Http2 {
                return fail("a `message` of gRPC needs the protocol `http2`");
            }
            if request.message.is_some() && !request.body.is_empty() {
                return fail("a request has either a `body` or a `message`");
            }
            if request.message.is_none() && request.expect.message.is_some() {
                return fail("a `message` can be expected of a request with a `message`");
            }
        }
        match (&self.target.address, &self.target.unix) {
            (Some(_), None) | (None, Some(_)) => {}
            _ => return fail("`target` must have either `address` or `unix`"),
        }
        match &self.load {
            Load::Closed { duration_ms: None, requests: None } => {
                fail("a closed loop needs `durationMs`, `requests` or both")
            }
            Load::Closed { requests: Some(0), .. } => fail("`requests` must be at least 1"),
            Load::Open { rate, .. } if !(*rate > 0.0 && *rate <= 10_000_000.0) => {
                fail("`rate` must be above 0 and at most 10,000,000 a second")
            }
            _ => Ok(()),
        }
    }

    /// Duration in which requests are sent. None if only a number of requests ends the job.
    pub fn duration(&self) -> Option<Duration> {
        match self.load {
            Load::Closed { duration_ms, .. } => duration_ms.map(Duration::from_millis),
            Load::Pulses {} => None,
            Load::Open { duration_ms, .. } => Some(Duration::from_millis(duration_ms)),
        }
    }

    /// Default of the `Host` header.
    pub fn host(&self) -> String {
        match (&self.target.tls, &self.target.address) {
            (Some(tls), _) => tls.server_name.clone(),
            (None, Some(address)) => address.clone(),
            (None, None) => "localhost".into(),
        }
    }
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn has_header(&self, name: &str) -> bool {
        self.header(name).is_some()
    }
}

fn one() -> usize {
    1
}
fn ten_seconds() -> u64 {
    10_000
}
fn two_seconds() -> u64 {
    2_000
}
fn yes() -> bool {
    true
}
fn get() -> String {
    "GET".into()
}
