//! The job's requests, in the form in which they are sent.

use crate::answer::{Answer, Head, Malformed, Question};
use crate::check::{Checker, Difference};
use crate::grpc;
use crate::job::{Job, Protocol, Request};
use crate::received::Received;
use bytes::Bytes;

pub struct Prepared {
    pub form: Form,
    pub checker: Checker,
    is_grpc: bool,
}

pub enum Form {
    Http1 { bytes: Vec<u8>, question: Question },
    Http2 { head: Box<http::Request<()>>, body: Bytes },
}

impl Prepared {
    pub fn all(job: &Job) -> Result<Vec<Prepared>, String> {
        let host = job.host();
        job.requests.iter().map(|request| Prepared::new(request, job, &host)).collect()
    }

    fn new(request: &Request, job: &Job, host: &str) -> Result<Prepared, String> {
        let checker = Checker::new(request)?;
        let form = match job.target.protocol {
            Protocol::Http1 => Form::Http1 {
                bytes: serialise(request, host, job.reconnect),
                question: Question {
                    head_only: request.method.eq_ignore_ascii_case("head"),
                    keep_headers: checker.needs_headers(),
                },
            },
            Protocol::Http2 => {
                let scheme = if job.target.tls.is_some() { "https" } else { "http" };
                let body = match &request.message {
                    Some(message) => grpc::frame(&grpc::decode(message)?)?,
                    None => request.body.clone().into_bytes(),
                };
                Form::Http2 { head: Box::new(http2_head(request, scheme, host, body.len())?), body: body.into() }
            }
        };
        Ok(Prepared { form, checker, is_grpc: request.message.is_some() })
    }

    /// Compares an answer over HTTP/2 with the expected one. Returns its status and length, too.
    pub fn check(&self, received: &Received) -> Result<(u16, usize, Result<(), Difference>), Malformed> {
        let trailers = received.trailers.iter().flatten();
        let fields = received.headers.iter().chain(trailers);
        let (status, body, detail) = if self.is_grpc {
            let call = grpc::read(received)?;
            (call.status, call.message, call.reason)
        } else {
            (received.status, received.body.as_slice(), None)
        };
        let headers = if self.checker.needs_headers() {
            fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
        } else {
            Vec::new()
        };
        let checked = self.checker.check(&Answer { head: Head { status, close: false, headers }, body });
        let checked = checked.map_err(|difference| difference.because(detail));
        Ok((status, body.len(), checked))
    }
}

/// The request in HTTP/1.1.
fn serialise(request: &Request, host: &str, close: bool) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    let mut add = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
    if !request.has_header("host") {
        add("Host", host);
    }
    for (name, value) in &request.headers {
        add(name, value);
    }
    if !request.body.is_empty() && !request.has_header("content-length") {
        add("Content-Length", &request.body.len().to_string());
    }
    if close && !request.has_header("connection") {
        add("Connection", "close");
    }
    text.push_str("\r\n");
    text.push_str(&request.body);
    text.into_bytes()
}

/// Headers that belong to a connection of HTTP/1.1 (RFC 9113, section 8.2.2).
const OF_CONNECTIONS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

fn http2_head(request: &Request, scheme: &str, host: &str, length: usize) -> Result<http::Request<()>, String> {
    let authority = request.header("host").unwrap_or(host);
    let invalid = |what: &str| format!("the job is not valid: {} {}: {what}", request.method, request.path);
    let method = if request.message.is_some() { "POST" } else { &request.method };
    let mut head = http::Request::builder()
        .version(http::Version::HTTP_2)
        .method(method)
        .uri(format!("{scheme}://{authority}{}", request.path));
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        if OF_CONNECTIONS.contains(&name.as_str()) {
            return Err(invalid(&format!("HTTP/2 has no header `{name}`")));
        }
        if name != "host" {
            head = head.header(name, value);
        }
    }
    if request.message.is_some() {
        head = head.header("te", "trailers").header("content-type", "application/grpc");
    } else if length > 0 && !request.has_header("content-length") {
        head = head.header("content-length", length);
    }
    head.body(()).map_err(|error| invalid(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(target: &str, request: &str) -> Result<Prepared, String> {
        let load = r#"{"loop":"closed","requests":1}"#;
        let job = format!(r#"{{"target":{target},"requests":[{request}],"load":{load},"connections":1}}"#);
        Prepared::all(&Job::parse(&job)?).map(|mut all| all.remove(0))
    }

    const HTTP2: &str = r#"{"address":"127.0.0.1:1","protocol":"http2"}"#;

    #[test]
    fn http2_has_the_host_as_its_authority_and_names_in_lower_case() {
        let request = r#"{"path":"/a?b","headers":[["Host","shop"],["X-A","1"]],"body":"x","method":"PUT"}"#;
        let Form::Http2 { head, body } = prepare(HTTP2, request).unwrap().form else { panic!() };
        assert_eq!((head.method().as_str(), head.uri().to_string().as_str()), ("PUT", "http://shop/a?b"));
        assert_eq!(
            (head.headers()["x-a"].as_bytes(), head.headers()["content-length"].as_bytes()),
            (&b"1"[..], &b"1"[..])
        );
        assert_eq!((head.headers().contains_key("host"), body.as_ref()), (false, &b"x"[..]));
    }

    #[test]
    fn what_http2_cannot_send_is_refused_with_its_reason() {
        let problem = |request| prepare(HTTP2, request).err().unwrap_or_default();
        assert!(problem(r#"{"path":"/","headers":[["Connection","close"]]}"#).contains("no header `connection`"));
        assert!(problem(r#"{"path":"/","headers":[["x y","z"]]}"#).contains("GET /: "));
    }

    #[test]
    fn a_message_makes_a_request_a_call_of_grpc() {
        let Form::Http2 { head, body } = prepare(HTTP2, r#"{"path":"/a.B/C","message":"CAE="}"#).unwrap().form else {
            panic!()
        };
        assert_eq!((head.method().as_str(), head.headers()["te"].as_bytes()), ("POST", &b"trailers"[..]));
        assert_eq!(body.as_ref(), [0, 0, 0, 0, 2, 8, 1]);
        assert!(prepare(HTTP2, r#"{"path":"/a.B/C","message":"?"}"#).err().unwrap().contains("base64"));
        let problem = prepare(r#"{"address":"127.0.0.1:1"}"#, r#"{"path":"/a.B/C","message":""}"#).err().unwrap();
        assert!(problem.contains("http2"), "{problem}");
    }
}
