//! `busbar-load` applies load to a server of HTTP/1.1, HTTP/2 or gRPC, checks every answer and
//! reports measurements.
//!
//! It reads a job as JSON from standard input ([`job::Job`]), and writes JSON lines to standard
//! output: a `tick` every 100 ms and a `result` at the end ([`report`]). After a job in pulses come
//! lines that turn the load on and off ([`pulses`]). Exit status 0: the job ran, whatever the
//! server answered. 2: the job was invalid or could not start; the reason is on standard error.
//!
//! Where things are, along the path of a request:
//!
//! | step | file |
//! |---|---|
//! | read and check the job | `job.rs` |
//! | prepare its requests | `prepared.rs` |
//! | decide when a request is due | `pace.rs` |
//! | turn the load on and off | `pulses.rs`, `engine/pulsing.rs` |
//! | event loop | `engine.rs` |
//! | send due requests, time out | `engine/sending.rs` |
//! | open and close connections | `engine/connecting.rs` |
//! | read and check answers | `engine/receiving.rs`, HTTP/2: `engine/streams.rs` |
//! | one connection | `connection.rs` |
//! | its requests in flight | `session.rs`, `session/http1.rs`, `session/http2.rs` |
//! | buffers, TCP, Unix sockets, TLS | `wire.rs`, `stream.rs` |
//! | verify the server's certificate | `trust.rs` |
//! | parse answers | `answer.rs`, `answer/head.rs`, HTTP/2: `session/exchange.rs`, gRPC: `grpc.rs` |
//! | compare an answer with the expected one | `check.rs` |
//! | count, and record latencies in histograms | `record.rs` |
//! | write JSON | `report.rs` |

mod alarm;
mod answer;
mod check;
mod connection;
mod engine;
mod grpc;
mod job;
mod machine;
mod pace;
mod prepared;
mod pulses;
mod received;
mod record;
mod report;
mod session;
mod stream;
mod trust;
mod wire;

use std::io::Write;
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
    let job = job::Job::parse(&pulses::read_job(&mut std::io::stdin().lock())?)?;
    if let Some(cpu) = job.cpu {
        machine::pin(cpu)?;
    }
    machine::raise_descriptor_limit();
    let mut out = std::io::stdout().lock();
    // If the reader is gone, writing the next tick fails, which ends the job.
    let outcome = engine::run(&job, |tick| report::write_line(&mut out, &tick))?;
    report::write_line(&mut out, &outcome)?;
    out.flush()?;
    Ok(())
}
