//! Unary calls of gRPC: statuses are those of the call, and each answer has one message.

use crate::http2_server::{Fields, Options, Reply, serve};
use crate::support::load_target;
use serde_json::{Value, json};

const GRPC: Fields = &[("content-type", "application/grpc")];
const OK: Fields = &[("grpc-status", "0")];

fn framed(message: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 0, message.len() as u8], message].concat()
}

fn answer(message: &[u8], trailers: Fields) -> Reply {
    Reply::Send { status: 200, headers: GRPC, body: framed(message), trailers: Some(trailers) }
}

/// 500 calls with the message `in`, of which `out` is expected.
fn call(address: &str, expect: Value) -> Value {
    let request = json!({ "path": "/a.B/C", "message": "aW4=", "headers": [["x-shop", "one"]], "expect": expect });
    let job = json!({ "requests": [request], "connections": 5, "pipelining": 4,
        "load": { "loop": "closed", "requests": 500 } });
    load_target(&json!({ "address": address, "protocol": "http2" }), &job.to_string())
}

#[test]
fn a_call_carries_a_message_there_and_one_back() {
    let server = serve(Options::default(), |arrived| {
        let headers = arrived.head.headers();
        let good = arrived.body == framed(b"in")
            && arrived.head.method() == "POST"
            && headers["content-type"] == "application/grpc"
            && (headers["te"] == "trailers" && headers["x-shop"] == "one");
        answer(if good { b"out" } else { b"bad" }, OK)
    });
    let result = call(&server.address, json!({ "message": "b3V0" }));
    assert_eq!((&result["done"], &result["failed"]), (&500.into(), &0.into()), "{result}");
    assert_eq!((&result["statuses"], &result["bytes"]), (&json!({ "0": 500 }), &1500.into()), "{result}");
}

#[test]
fn calls_are_counted_by_their_status_and_the_reason_is_told() {
    let server = serve(Options::default(), |arrived| match arrived.number {
        100 => answer(b"", &[("grpc-status", "8"), ("grpc-message", "too%20many")]),
        200 => Reply::Send {
            status: 200,
            headers: &[("content-type", "application/grpc"), ("grpc-status", "5")],
            body: vec![],
            trailers: None,
        },
        300 => Reply::Send { status: 503, headers: &[], body: b"busy".to_vec(), trailers: None },
        _ => answer(b"out", OK),
    });
    let result = call(&server.address, json!({ "message": "b3V0" }));
    assert_eq!(result["statuses"], json!({ "0": 497, "5": 1, "8": 1, "503": 1 }), "{result}");
    assert_eq!(result["failures"], json!({ "mismatch:status": 3 }), "{result}");
    assert!(result["firstProblem"].as_str().unwrap().contains("too many"), "{result}");
}

#[test]
fn a_status_that_was_expected_is_a_good_answer() {
    let server = serve(Options::default(), |_| answer(b"", &[("grpc-status", "5")]));
    let result = call(&server.address, json!({ "status": 5 }));
    assert_eq!((&result["done"], &result["failed"]), (&500.into(), &0.into()), "{result}");
}

#[test]
fn another_message_is_found_and_what_is_no_call_is_malformed() {
    let server = serve(Options::default(), |arrived| match arrived.number {
        100 => answer(b"ouT", OK),
        200 => Reply::Send { status: 200, headers: GRPC, body: framed(b"out"), trailers: None },
        300 => Reply::Send {
            status: 200,
            headers: GRPC,
            body: [framed(b"out"), framed(b"out")].concat(),
            trailers: Some(OK),
        },
        _ => answer(b"out", OK),
    });
    let result = call(&server.address, json!({ "message": "b3V0" }));
    assert_eq!(result["failures"], json!({ "mismatch:body": 1, "malformed": 2 }), "{result}");
}

#[test]
fn trailers_are_checked_like_headers() {
    let server = serve(Options::default(), |arrived| {
        answer(
            b"out",
            if arrived.number == 7 {
                &[("grpc-status", "0"), ("x-cost", "2")]
            } else {
                &[("grpc-status", "0"), ("x-cost", "1")]
            },
        )
    });
    let result = call(&server.address, json!({ "headers": [["x-cost", "1"]] }));
    assert_eq!(result["failures"], json!({ "mismatch:header": 1 }), "{result}");
}
