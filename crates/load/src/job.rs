//! What to do, as the lab states it.

use serde::Deserialize;
use std::time::Duration;

/// A job. Times are milliseconds; what is left out has the default named here.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Job {
    pub target: Target,
    /// Sent in turn, each connection starting at another one.
    pub requests: Vec<Request>,
    pub load: Load,
    /// How many connections are held (closed loop) or may be held (open loop).
    pub connections: usize,
    /// Requests that a connection may have in flight at once. Default 1.
    #[serde(default = "one")]
    pub pipelining: usize,
    /// Opens a new connection for each request. Default false.
    #[serde(default)]
    pub reconnect: bool,
    /// From the start; what is due or done in it is checked but not counted. Default 0.
    #[serde(default)]
    pub discard_ms: u64,
    /// A request unanswered for so long has failed, and its connection is closed. Default 10,000.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
    /// How long requests still in flight at the end are waited for. Default 2,000.
    #[serde(default = "two_seconds")]
    pub grace_ms: u64,
    /// Seeds the arrivals of an open loop, so that a run can be repeated.
    #[serde(default)]
    pub seed: u64,
    /// The processor to stay on.
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
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// What the server is told that it is asked for.
    pub server_name: String,
    /// PEM of the server's own certificate, the only one that is trusted. There is no way to leave verification out.
    pub certificate: String,
    /// Takes up the session of an earlier connection. Default true.
    #[serde(default = "yes")]
    pub resume: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    #[serde(default = "get")]
    pub method: String,
    pub path: String,
    /// Name and value; `Host` and `Content-Length` are added where they are not among them.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    #[serde(default)]
    pub body: String,
    #[serde(default)]
    pub expect: Expect,
}

/// What an answer must be; anything else counts as failed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// Default 200.
    #[serde(default = "ok")]
    pub status: u16,
    /// Bytes of the body.
    pub length: Option<usize>,
    /// The body itself.
    pub body: Option<String>,
    /// Of the body, in hexadecimal digits.
    pub sha256: Option<String>,
    /// A value inside a JSON body.
    pub json: Option<JsonExpect>,
    /// Headers that must be there with just this value; null for one that must not be there. Names in lower case;
    /// several lines of one name are one value, joined with `, `.
    #[serde(default)]
    pub headers: Vec<(String, Option<String>)>,
    /// When present: the only other headers that an answer may have, with any value. Absent: all are allowed.
    pub other_headers: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JsonExpect {
    /// RFC 6901, such as `/success`.
    pub pointer: String,
    pub equals: serde_json::Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "loop", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Load {
    /// Each connection sends its next request when an answer has come: for a time, for a number of requests, or both.
    Closed { duration_ms: Option<u64>, requests: Option<u64> },
    /// Requests fall due by a clock, whatever the server does; latency counts from when one was due.
    Open { duration_ms: u64, rate: f64, arrivals: Arrivals },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arrivals {
    Poisson,
    Constant,
}

impl Default for Expect {
    fn default() -> Self {
        Expect {
            status: ok(),
            length: None,
            body: None,
            sha256: None,
            json: None,
            headers: Vec::new(),
            other_headers: None,
        }
    }
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

    /// Until when new requests are sent; none where a number of requests alone ends the job.
    pub fn duration(&self) -> Option<Duration> {
        match self.load {
            Load::Closed { duration_ms, .. } => duration_ms.map(Duration::from_millis),
            Load::Open { duration_ms, .. } => Some(Duration::from_millis(duration_ms)),
        }
    }

    /// What the `Host` header says where a request does not.
    pub fn host(&self) -> String {
        match (&self.target.tls, &self.target.address) {
            (Some(tls), _) => tls.server_name.clone(),
            (None, Some(address)) => address.clone(),
            (None, None) => "localhost".into(),
        }
    }
}

impl Request {
    /// The request as it goes over the wire, made once.
    pub fn serialise(&self, host: &str, close: bool) -> Vec<u8> {
        let has = |name: &str| self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let mut add = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        if !has("host") {
            add("Host", host);
        }
        for (name, value) in &self.headers {
            add(name, value);
        }
        if !self.body.is_empty() && !has("content-length") {
            add("Content-Length", &self.body.len().to_string());
        }
        if close && !has("connection") {
            add("Connection", "close");
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        text.into_bytes()
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
fn ok() -> u16 {
    200
}
