//! Every kind of wrong answer is found, named and counted. No request is dropped.

use crate::support::{Answer, load, ok, serve};
use std::time::Duration;

const SHORT: &str = r#""load":{"loop":"closed","requests":1000},"connections":10"#;

fn job(rest: &str) -> String {
    format!(r#"{{"requests":[{{"path":"/","expect":{{"body":"hello"}}}}],{rest}}}"#)
}

#[test]
fn a_thousand_good_answers_are_a_thousand_good_answers() {
    let result = load(&serve(|_, _| Answer::Send(ok("hello"))), &job(SHORT));
    assert_eq!(result["done"], 1000);
    assert_eq!(result["failed"], 0);
    assert_eq!(result["statuses"]["200"], 1000);
    assert_eq!(result["latency"]["count"], 1000);
    assert_eq!(result["connects"], 10);
}

#[test]
fn one_500_in_a_thousand_is_found() {
    let bad = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
    let address = serve(move |number, _| Answer::Send(if number == 500 { bad.to_vec() } else { ok("hello") }));
    let result = load(&address, &job(SHORT));
    assert_eq!(result["failures"]["mismatch:status"], 1);
    assert_eq!(result["done"], 999);
    assert_eq!(result["statuses"]["500"], 1);
}

#[test]
fn a_body_that_lacks_one_byte_is_found() {
    let address = serve(|number, _| Answer::Send(ok(if number == 500 { "hell" } else { "hello" })));
    assert_eq!(load(&address, &job(SHORT))["failures"]["mismatch:body"], 1);
}

#[test]
fn a_connection_that_ends_amid_an_answer_truncated_it() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
    let address =
        serve(move |number, _| if number == 7 { Answer::SendAndEnd(cut.to_vec()) } else { Answer::Send(ok("hello")) });
    let result = load(&address, &job(SHORT));
    assert_eq!(result["failures"]["truncated"], 1);
    assert_eq!(result["done"], 999);
    assert_eq!(result["connects"], 11);
}

#[test]
fn a_reset_and_an_early_end_are_told_apart() {
    let address = serve(|number, _| match number {
        3 => Answer::Reset,
        4 => Answer::SendAndEnd(Vec::new()),
        _ => Answer::Send(ok("hello")),
    });
    let result = load(&address, &job(SHORT));
    assert_eq!(result["failures"]["reset"], 1);
    assert_eq!(result["failures"]["closed"], 1);
}

#[test]
fn what_is_no_http_is_malformed() {
    let address = serve(|number, _| Answer::Send(if number == 9 { b"SSH-2.0\r\n".to_vec() } else { ok("hello") }));
    assert_eq!(load(&address, &job(SHORT))["failures"]["malformed"], 1);
}

#[test]
fn an_answer_that_never_comes_is_a_time_out_and_the_others_go_on() {
    let address = serve(|number, _| if number == 5 { Answer::Nothing } else { Answer::Send(ok("hello")) });
    let result = load(&address, &job(&format!(r#"{SHORT},"timeoutMs":300"#)));
    assert_eq!(result["failures"]["timeout"], 1);
    assert_eq!(result["done"], 999);
}

#[test]
fn what_is_unfinished_at_the_end_counts_with_the_time_it_waited() {
    let address = serve(|_, _| Answer::Nothing);
    let rest = r#""load":{"loop":"closed","durationMs":300},"connections":4,"graceMs":200"#;
    let result = load(&address, &job(rest));
    assert_eq!(result["unfinished"], 4);
    assert_eq!(result["done"], 0);
    assert_eq!(result["latency"]["count"], 4);
    assert!(result["latency"]["min"].as_f64().unwrap() >= 490.0, "{result}");
}

#[test]
fn a_server_that_is_not_there_ends_the_job() {
    let result = load("127.0.0.1:1", &job(&format!(r#"{SHORT},"timeoutMs":200,"graceMs":100"#)));
    assert_eq!(result["done"], 0);
    assert!(result["connectFailures"].as_u64().unwrap() >= 10);
    assert!(result["firstProblem"].as_str().unwrap().contains("refused"), "{result}");
}

#[test]
fn pipelined_requests_get_their_answers_in_order() {
    let result = load(&serve(|_, _| Answer::Send(ok("hello"))), &job(&format!(r#"{SHORT},"pipelining":10"#)));
    assert_eq!(result["done"], 1000);
    assert_eq!(result["failed"], 0);
}

#[test]
fn a_new_connection_per_request_counts_its_opening() {
    let result = load(&serve(|_, _| Answer::Send(ok("hello"))), &job(&format!(r#"{SHORT},"reconnect":true"#)));
    assert_eq!(result["done"], 1000);
    assert_eq!(result["failed"], 0);
    // Connections that were opened when the last request was sent have none.
    assert!((1000..1010).contains(&result["connects"].as_u64().unwrap()), "{result}");
}

#[test]
fn requests_take_turns() {
    let job = r#"{"requests":[{"path":"/a","expect":{"status":200}},{"path":"/b","expect":{"status":201}}],
        "load":{"loop":"closed","requests":100},"connections":1}"#;
    let created = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    let address = serve(move |number, _| Answer::Send(if number % 2 == 0 { ok("hello") } else { created.to_vec() }));
    let result = load(&address, job);
    assert_eq!(result["done"], 100);
    assert_eq!(result["statuses"], serde_json::json!({ "200": 50, "201": 50 }));
}

#[test]
fn an_open_loop_sends_what_its_clock_says_however_slow_the_server_is() {
    let address = serve(|_, _| {
        std::thread::sleep(Duration::from_millis(100));
        Answer::Send(ok("hello"))
    });
    let rest =
        r#""load":{"loop":"open","durationMs":1000,"rate":200,"arrivals":"constant"},"connections":5,"graceMs":100"#;
    let result = load(&address, &job(rest));
    let number = |name: &str| result[name].as_u64().unwrap();
    // 5 connections with 10 answers per second answer 50 of 200 due requests. The others are
    // reported.
    assert_eq!(number("done") + number("late") + number("unfinished") + number("unsent"), 200, "{result}");
    assert!(number("unsent") >= 100, "{result}");
    assert_eq!(result["latency"]["count"], 200);
}

#[test]
fn waiting_for_a_connection_is_the_servers_lateness_not_the_generators() {
    let address = serve(|_, _| {
        std::thread::sleep(Duration::from_millis(50));
        Answer::Send(ok("hello"))
    });
    // Two connections with 20 answers per second get 200 requests, so nearly all wait.
    let rest = r#""load":{"loop":"open","durationMs":1000,"rate":200,"arrivals":"constant"},"connections":2"#;
    let result = load(&address, &job(rest));
    let queued = result["queued"].as_u64().unwrap();
    assert!(queued > 20, "{result}");
    assert_eq!(queued + result["pacing"]["count"].as_u64().unwrap() + result["unsent"].as_u64().unwrap(), 200);
}
