//! A job ends early if nobody reads its output.

use crate::support::{Answer, ok, serve};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

#[test]
fn a_reader_that_goes_away_ends_the_job() {
    let address = serve(|_, _| Answer::Send(ok("hello")));
    let job = format!(
        r#"{{"target":{{"address":"{address}"}},"requests":[{{"path":"/"}}],"connections":1,
            "load":{{"loop":"open","durationMs":3600000,"rate":10,"arrivals":"constant"}}}}"#
    );
    let mut engine = Command::new(env!("CARGO_BIN_EXE_busbar-load"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    engine.stdin.take().unwrap().write_all(job.as_bytes()).unwrap();
    let mut output = BufReader::new(engine.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    assert!(!engine.wait().unwrap().success());
}
