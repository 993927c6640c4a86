//! Standard input turns the load on and off.

use crate::support::{Answer, ok, serve};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Engine {
    fn start(address: &str) -> Engine {
        let job = format!(
            r#"{{"target":{{"address":"{address}"}},"requests":[{{"path":"/"}}],"connections":4,
                "timeoutMs":200,"graceMs":100,"load":{{"loop":"pulses"}}}}"#
        );
        let mut child = Command::new(env!("CARGO_BIN_EXE_busbar-load"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut engine = Engine { child, input, lines };
        engine.write(&job.replace('\n', ""));
        engine
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&mut self, kind: &str) -> Value {
        loop {
            let line: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
            if line["type"] == kind {
                return line;
            }
        }
    }

    fn pulse(&mut self) -> Value {
        self.write("on");
        std::thread::sleep(Duration::from_millis(50));
        self.write("off");
        self.next("pulse")
    }

    fn end(mut self) -> Value {
        self.input = None;
        let result = self.next("result");
        assert!(self.child.wait().unwrap().success());
        result
    }
}

#[test]
fn requests_are_sent_in_pulses_only_and_the_last_one_is_awaited() {
    let served = Arc::new(AtomicU64::new(0));
    let count = served.clone();
    let address = serve(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Answer::Send(ok("hello"))
    });
    let mut engine = Engine::start(&address);
    let (mut done, mut seconds) = (0, 0.0);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(served.load(Ordering::SeqCst), done, "requests between pulses");
        let pulse = engine.pulse();
        assert!(pulse["done"].as_u64().unwrap() > 0);
        assert_eq!(pulse["failed"], 0);
        done += pulse["done"].as_u64().unwrap();
        seconds += pulse["seconds"].as_f64().unwrap();
    }
    let result = engine.end();
    assert_eq!(result["done"], done);
    assert_eq!(result["statuses"]["200"], done);
    assert!((result["seconds"].as_f64().unwrap() - seconds).abs() < 1e-6, "the pauses do not count");
    assert_eq!(result["connects"], 4, "connections are kept");
    assert_eq!(result["unfinished"], 0);
}

#[test]
fn connections_that_were_idle_for_long_are_replaced_before_the_next_pulse() {
    let address = serve(|_, _| Answer::Send(ok("hello")));
    let mut engine = Engine::start(&address);
    engine.pulse();
    engine.write("ready");
    engine.pulse();
    std::thread::sleep(Duration::from_millis(3100));
    engine.write("ready");
    engine.pulse();
    let result = engine.end();
    assert_eq!(result["connects"], 8);
    assert_eq!(result["failed"], 0);
}

#[test]
fn a_pulse_waits_for_requests_in_flight_and_counts_those_that_time_out() {
    let address = serve(|number, _| if number == 0 { Answer::Nothing } else { Answer::Send(ok("hello")) });
    let mut engine = Engine::start(&address);
    assert_eq!(engine.pulse()["failed"], 1);
    assert_eq!(engine.pulse()["failed"], 0);
    assert_eq!(engine.end()["failures"]["timeout"], 1);
}
