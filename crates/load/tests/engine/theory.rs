//! Percentiles are held to 2 % of what theory says of servers whose delays are known.
//!
//! 2 % is far beyond what else moves them. The histogram keeps three digits: 0.1 %. No delays are drawn, they are dealt
//! from a deck that holds each quantile once, so there is no sampling error; 5,000 that were drawn would have a standard
//! error of 0.1 % at p50, 0.2 % at p99 and 0.4 % at p99.9 (`sqrt(q (1 - q) / n)` over the density there). All delays are
//! so long that threads which wake up 10 ms late in all, since their cores were busy, are within the bound. What is always
//! added to a latency would be within it too: the shortest one is held below a millisecond.

use crate::support::{Answer, load, ok, serve, sleep_until};
use std::time::{Duration, Instant};

const BOUND: f64 = 0.02;

fn assert_percentiles(result: &serde_json::Value, theory: &[(&str, f64)]) {
    for &(name, expected) in theory {
        let found = result["latency"][name].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < BOUND, "{name}: {found} ms, theory says {expected}");
    }
}

/// Requests of a constant 500 a second meet a server that stands still for the fifth of ten seconds: a tenth of them
/// waits, for times spread evenly from 1 s down to 0. So p95 is 500 ms, p99 900 ms, p99.9 990 ms; a closed loop, or one
/// that counted from when it got to send, would show nothing at p99.
#[test]
fn a_stall_of_a_second_shows_in_an_open_loop_as_theory_says() {
    let stall = |began: Instant| (began + Duration::from_millis(4000), began + Duration::from_millis(5000));
    let address = serve(move |_, began| {
        let (from, until) = stall(began);
        if (from..until).contains(&Instant::now()) {
            sleep_until(until);
        }
        Answer::Send(ok("hello"))
    });
    let job = r#"{"requests":[{"path":"/"}],"load":{"loop":"open","durationMs":10000,"rate":500,"arrivals":"constant"},
        "connections":40}"#;
    let result = load(&address, job);
    assert_eq!(result["done"], 5000, "{result}");
    assert_eq!(result["failed"], 0);
    assert_percentiles(&result, &[("p99", 900.0), ("p999", 990.0), ("max", 1000.0)]);
    assert!(result["latency"]["min"].as_f64().unwrap() < 1.0, "{result}");
    assert!(result["latency"]["p75"].as_f64().unwrap() < 100.0);
}

/// Requests never wait for a connection or for each other, so that their latencies are the server's delays, in whatever
/// way they arrive.
#[test]
fn known_delays_show_in_an_open_loop_of_random_arrivals_as_they_are() {
    let result = load_deck(
        r#""load":{"loop":"open","durationMs":10000,"rate":500,"arrivals":"poisson"},
        "connections":500,"seed":3,"graceMs":3000"#,
    );
    assert_eq!(result["queued"], 0, "{result}");
}

#[test]
fn known_delays_show_in_a_closed_loop_as_they_are() {
    load_deck(r#""load":{"loop":"closed","requests":5000},"connections":500"#);
}

fn load_deck(how: &str) -> serde_json::Value {
    let address = serve(|number, _| {
        std::thread::sleep(Duration::from_secs_f64(delay_at(dealt(number)) / 1000.0));
        Answer::Send(ok("hello"))
    });
    let result = load(&address, &format!(r#"{{"requests":[{{"path":"/"}}],{how}}}"#));
    assert_eq!((&result["failed"], &result["unfinished"]), (&0.into(), &0.into()), "{result}");
    assert_percentiles(&result, &[0.5, 0.99, 0.999].map(|quantile| (name_of(quantile), delay_at(quantile))));
    result
}

/// The quantile that the n-th request gets: each thousand of them has every thousandth once.
fn dealt(number: u64) -> f64 {
    // Prime to 1,000, so that all come, and neighbours are far apart.
    const STRIDE: u64 = 617;
    ((number * STRIDE % 1000) as f64 + 0.5) / 1000.0
}

/// Milliseconds: nine tenths take 500 to 600, two in a thousand 1,000 to 1,020, the others 700 to 800. The percentiles
/// that are held lie amid such a band, where a request more or less before them moves them by 0.5 % at most.
fn delay_at(quantile: f64) -> f64 {
    let within = |from: f64, until: f64| (quantile - from) / (until - from);
    match quantile {
        ..0.9 => 500.0 + 100.0 * within(0.0, 0.9),
        ..0.998 => 700.0 + 100.0 * within(0.9, 0.998),
        _ => 1000.0 + 20.0 * within(0.998, 1.0),
    }
}

fn name_of(quantile: f64) -> &'static str {
    match quantile {
        0.5 => "p50",
        0.99 => "p99",
        _ => "p999",
    }
}
