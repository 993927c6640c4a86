//! `busbar-load` puts a measured load on one HTTP/1.1 server and tells exactly what came back.
//!
//! A job is one JSON document on standard input, described by [`job::Job`]. Standard output gets JSON lines: a `tick` for
//! every 100 ms and one `result` at the end, described by [`report`]. Exit status 0: the job ran, whatever the
//! server answered; 2: the job could not be read or begun, with one sentence on standard error.
//!
//! Where things are, along a request's way:
//!
//! | step | file |
//! |---|---|
//! | read and check the job | `job.rs` |
//! | decide when a request is due | `pace.rs` |
//! | the loop: send what is due, time out | `engine.rs` |
//! | open and close connections; read and check answers | `engine/connecting.rs`, `engine/receiving.rs` |
//! | one connection and what is in flight on it | `connection.rs` |
//! | the bytes below: TCP, Unix socket, TLS | `stream.rs` |
//! | which server TLS is spoken with | `trust.rs` |
//! | split the bytes read into answers | `answer.rs` |
//! | hold an answer against what was expected | `check.rs` |
//! | count, and sort latencies into histograms | `record.rs` |
//! | say it in JSON | `report.rs` |

mod alarm;
mod answer;
mod check;
mod connection;
mod engine;
mod job;
mod machine;
mod pace;
mod record;
mod report;
mod stream;
mod trust;

use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("busbar-load: {reason}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let job = job::Job::parse(&text)?;
    if let Some(cpu) = job.cpu {
        machine::pin(cpu)?;
    }
    machine::raise_descriptor_limit();
    let mut out = std::io::stdout().lock();
    // A reader that went away wants no result: the first tick that it does not take ends the job.
    let outcome = engine::run(&job, |tick| report::write_line(&mut out, &tick))?;
    report::write_line(&mut out, &outcome)?;
    out.flush()?;
    Ok(())
}
