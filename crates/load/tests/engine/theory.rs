//! Percentiles are held against what theory says of servers whose delays are known.

use crate::support::{Answer, load, ok, serve, sleep_until};
use std::time::{Duration, Instant};

fn percentile(result: &serde_json::Value, name: &str) -> f64 {
    result["latency"][name].as_f64().unwrap()
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
    for (name, theory) in [("p99", 900.0), ("p999", 990.0), ("max", 1000.0)] {
        let found = percentile(&result, name);
        assert!((found / theory - 1.0).abs() < 0.05, "{name}: {found} ms, theory says {theory}");
    }
    assert!(percentile(&result, "p75") < 100.0);
}

/// Every tenth answer takes 50 ms longer: p90 is below that, p99 is it.
#[test]
fn a_slow_tenth_shows_at_its_percentile() {
    let address = serve(|number, _| {
        if number % 10 == 9 {
            std::thread::sleep(Duration::from_millis(50));
        }
        Answer::Send(ok("hello"))
    });
    let job = r#"{"requests":[{"path":"/"}],"load":{"loop":"open","durationMs":3000,"rate":100,"arrivals":"poisson"},
        "connections":40,"seed":3}"#;
    let result = load(&address, job);
    let slow = result["latency"]["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|bucket| bucket[0].as_f64().unwrap() >= 50.0)
        .map(|bucket| bucket[1].as_u64().unwrap())
        .sum::<u64>();
    let all = result["latency"]["count"].as_u64().unwrap();
    assert!(slow * 10 >= all - 9, "{slow} of {all} took 50 ms");
    assert!(percentile(&result, "p99") >= 50.0);
}
