//! TLS and Unix sockets work like TCP, and an untrusted certificate is refused.

use crate::support::{Answer, converse_over, load_target, ok};
use rustls::HandshakeKind;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const JOB: &str = r#"{"requests":[{"path":"/","expect":{"body":"hello"}}],
    "load":{"loop":"closed","requests":1000},"connections":10}"#;
const RECONNECT: &str = r#"{"requests":[{"path":"/","expect":{"body":"hello"}}],
    "load":{"loop":"closed","requests":50},"connections":1,"reconnect":true}"#;

pub struct Authority {
    pub pem: String,
    pub config: Arc<rustls::ServerConfig>,
}

pub fn authority() -> Authority {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let chain = vec![CertificateDer::from(made.cert.der().to_vec())];
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.send_tls13_tickets = 2;
    Authority { pem: made.cert.pem(), config: Arc::new(config) }
}

/// Answers `hello` over TLS, and counts resumed sessions.
fn serve_tls(config: &Arc<rustls::ServerConfig>) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (config, resumed) = (config.clone(), Arc::new(AtomicU64::new(0)));
    let counter = resumed.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, counter) = (config.clone(), counter.clone());
            std::thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let mut stream = stream;
                let mut session = rustls::ServerConnection::new(config).unwrap();
                while session.is_handshaking() {
                    if session.complete_io(&mut stream).is_err() {
                        return;
                    }
                }
                if session.handshake_kind() == Some(HandshakeKind::Resumed) {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                let stream = rustls::StreamOwned::new(session, stream);
                converse_over(stream, || {}, &|_, _| Answer::Send(ok("hello")), &AtomicU64::new(0), Instant::now());
            });
        }
    });
    (address, resumed)
}

pub fn tls_target(address: &str, certificate: &str, resume: bool) -> Value {
    json!({ "address": address, "tls": { "serverName": "localhost", "certificate": certificate, "resume": resume } })
}

#[test]
fn tls_carries_the_same_as_tcp() {
    let authority = authority();
    let (address, _) = serve_tls(&authority.config);
    for pipelining in [1, 10] {
        let job = JOB.replace(r#""connections""#, &format!(r#""pipelining":{pipelining},"connections""#));
        let result = load_target(&tls_target(&address, &authority.pem, true), &job);
        assert_eq!(result["done"], 1000, "{result}");
        assert_eq!(result["failed"], 0, "{result}");
        assert_eq!(result["connects"], 10, "{result}");
    }
}

#[test]
fn another_certificate_of_the_same_name_carries_nothing() {
    let (address, _) = serve_tls(&authority().config);
    let job = JOB.replace(r#""connections""#, r#""timeoutMs":200,"graceMs":100,"connections""#);
    let result = load_target(&tls_target(&address, &authority().pem, true), &job);
    assert_eq!(result["done"], 0, "{result}");
    assert!(result["firstProblem"].as_str().unwrap().contains("certificate"), "{result}");
}

#[test]
fn new_connections_take_up_the_session_of_earlier_ones_unless_told_otherwise() {
    let authority = authority();
    let (address, resumed) = serve_tls(&authority.config);
    let result = load_target(&tls_target(&address, &authority.pem, false), RECONNECT);
    assert_eq!((result["done"].as_u64(), resumed.load(Ordering::Relaxed)), (Some(50), 0), "{result}");
    let result = load_target(&tls_target(&address, &authority.pem, true), RECONNECT);
    assert_eq!(result["done"], 50, "{result}");
    assert!(resumed.load(Ordering::Relaxed) >= 40, "{} of 50 resumed", resumed.load(Ordering::Relaxed));
}

#[test]
fn unix_sockets_carry_the_same_as_tcp() {
    let path = std::env::temp_dir().join(format!("busbar-load-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                converse_over(stream, || {}, &|_, _| Answer::Send(ok("hello")), &AtomicU64::new(0), Instant::now());
            });
        }
    });
    let result = load_target(&json!({ "unix": path }), JOB);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(result["done"], 1000, "{result}");
    assert_eq!(result["failed"], 0, "{result}");
}
