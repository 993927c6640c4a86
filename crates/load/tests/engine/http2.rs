//! Requests over HTTP/2: many in flight on a connection, and what can happen to a stream.

use crate::http2_server::{Options, Reply, ok, serve};
use crate::support::{self, load_target};
use crate::transports::{Authority, authority, tls_target};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A thousand requests on ten connections, at most ten at a time on each.
fn job(rest: &str) -> String {
    format!(
        r#"{{"requests":[{{"path":"/","expect":{{"body":"hello"}}}}],"connections":10,"pipelining":10,
            "load":{{"loop":"closed","requests":1000}}{rest}}}"#
    )
}

fn target(address: &str) -> Value {
    json!({ "address": address, "protocol": "http2" })
}

#[test]
fn a_connection_carries_many_requests_at_a_time() {
    let server = serve(Options::default(), |_| Reply::Late(Duration::from_millis(1), Box::new(ok("hello"))));
    let result = load_target(&target(&server.address), &job(""));
    assert_eq!((&result["done"], &result["failed"]), (&1000.into(), &0.into()), "{result}");
    assert_eq!((&result["connects"], &result["statuses"]["200"]), (&10.into(), &1000.into()), "{result}");
    assert_eq!(result["latency"]["count"], 1000);
    let most = server.most.load(Ordering::SeqCst);
    assert!((11..=100).contains(&most), "{most} at a time");
}

#[test]
fn no_more_requests_are_in_flight_than_the_server_allows() {
    let late = |_: &_| Reply::Late(Duration::from_millis(1), Box::new(ok("hello")));
    let server = serve(Options { max_streams: Some(3), ..Options::default() }, late);
    let one = job("").replace(r#""connections":10"#, r#""connections":1"#);
    let result = load_target(&target(&server.address), &one);
    assert_eq!((&result["done"], &result["failed"]), (&1000.into(), &0.into()), "{result}");
    assert!(server.most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn method_path_host_headers_and_body_arrive_and_long_bodies_come_back() {
    let server = serve(Options::default(), |arrived| {
        let head = &arrived.head;
        let seen = format!("{} {} {}", head.method(), head.uri(), head.headers()["x-a"].to_str().unwrap());
        let status = if seen == "PUT http://shop/a?b 1" { 200 } else { 400 };
        Reply::Send { status, headers: &[], body: arrived.body.clone(), trailers: None }
    });
    let body = "x".repeat(1_000_000);
    let request = json!({ "method": "PUT", "path": "/a?b", "headers": [["Host", "shop"], ["X-A", "1"]], "body": body,
        "expect": { "body": body } });
    let job = json!({ "requests": [request], "connections": 2, "pipelining": 3, "load": { "loop": "closed", "requests": 40 } });
    let result = load_target(&target(&server.address), &job.to_string());
    assert_eq!((&result["done"], &result["failed"]), (&40.into(), &0.into()), "{}", result["firstProblem"]);
}

#[test]
fn every_kind_of_failed_stream_is_named_and_leaves_the_others() {
    let server = serve(Options::default(), |arrived| match arrived.number {
        10 => Reply::Send { status: 500, headers: &[], body: b"hello".to_vec(), trailers: None },
        20 => ok("hell"),
        30 => Reply::Reset { is_midway: false },
        40 => Reply::Reset { is_midway: true },
        50 => Reply::Nothing,
        _ => ok("hello"),
    });
    let result = load_target(&target(&server.address), &job(r#","timeoutMs":300"#));
    let failures = json!({ "mismatch:status": 1, "mismatch:body": 1, "streamReset": 2, "timeout": 1 });
    assert_eq!(result["failures"], failures, "{result}");
    assert_eq!((&result["done"], &result["connects"]), (&995.into(), &10.into()), "{result}");
}

#[test]
fn a_server_that_leaves_loses_no_request_and_gets_a_new_connection() {
    let server = serve(Options::default(), |arrived| if arrived.number == 500 { Reply::Leave } else { ok("hello") });
    let result = load_target(&target(&server.address), &job(""));
    assert_eq!((&result["done"], &result["failed"]), (&1000.into(), &0.into()), "{result}");
    assert_eq!(result["connects"], 11, "{result}");
}

#[test]
fn requests_that_a_goaway_ends_are_counted_as_such() {
    let server = serve(Options::default(), |arrived| if arrived.number == 500 { Reply::Abort } else { ok("hello") });
    let result = load_target(&target(&server.address), &job(r#","timeoutMs":2000"#));
    let ended = result["failures"]["goAway"].as_u64().unwrap_or_default();
    assert!((1..=10).contains(&ended), "{result}");
    assert_eq!(result["done"].as_u64().unwrap() + ended, 1000, "{result}");
    assert!(result["firstProblem"].as_str().unwrap().contains("excessive load"), "{result}");
}

#[test]
fn an_open_loop_has_a_stream_for_each_request_that_is_due() {
    let late = Duration::from_millis(100);
    let server = serve(Options::default(), move |_| Reply::Late(late, Box::new(ok("hello"))));
    let open = |streams: u32| {
        format!(
            r#"{{"requests":[{{"path":"/"}}],"connections":1,"pipelining":{streams},"graceMs":20000,
                "load":{{"loop":"open","durationMs":1000,"rate":100,"arrivals":"constant"}}}}"#
        )
    };
    let many = load_target(&target(&server.address), &open(100));
    assert_eq!((&many["latency"]["count"], &many["failed"]), (&100.into(), &0.into()), "{many}");
    assert!(many["latency"]["min"].as_f64().unwrap() >= 100.0, "{many}");
    // One at a time: 100 requests due in a second take ten.
    let one = load_target(&target(&server.address), &open(1));
    assert_eq!(one["latency"]["count"], 100, "{one}");
    assert!(one["queued"].as_u64().unwrap() > 50 && one["latency"]["max"].as_f64().unwrap() > 5000.0, "{one}");
}

#[test]
fn a_new_connection_for_each_request() {
    let server = serve(Options::default(), |_| ok("hello"));
    let job = r#"{"requests":[{"path":"/"}],"connections":2,"reconnect":true,"load":{"loop":"closed","requests":20}}"#;
    let result = load_target(&target(&server.address), job);
    assert_eq!((&result["done"], &result["failed"]), (&20.into(), &0.into()), "{result}");
    assert!(result["connects"].as_u64().unwrap() >= 20, "{result}");
}

#[test]
fn tls_agrees_on_http2_or_says_that_the_server_has_none() {
    let Authority { pem, config } = authority();
    let with = |protocols: &[&[u8]]| {
        let mut config = (*config).clone();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Options { tls: Some(Arc::new(config)), ..Options::default() }
    };
    let load = |options| {
        let server = serve(options, |_| ok("hello"));
        let mut target = tls_target(&server.address, &pem, true);
        target["protocol"] = "http2".into();
        load_target(&target, &job(r#","timeoutMs":200,"graceMs":100"#))
    };
    let good = load(with(&[b"http/1.1", b"h2"]));
    assert_eq!((&good["done"], &good["failed"]), (&1000.into(), &0.into()), "{good}");
    for other in [&[&b"http/1.1"[..]][..], &[]] {
        let bad = load(with(other));
        assert_eq!(bad["done"], 0, "{bad}");
    }
    let none = load(with(&[]));
    assert!(none["firstProblem"].as_str().unwrap().contains("ALPN"), "{none}");
}

#[test]
fn a_server_of_http1_is_no_server_of_http2() {
    let address = support::serve(|_, _| support::Answer::Send(support::ok("hello")));
    let result = load_target(&target(&address), &job(r#","timeoutMs":200,"graceMs":100"#));
    assert_eq!(result["done"], 0, "{result}");
    assert!(result["firstProblem"].as_str().unwrap().contains("HTTP/2"), "{result}");
}
