//! The output as JSON lines. Latencies are milliseconds.

use crate::record::{Record, Tick};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Line {
    #[serde(rename_all = "camelCase")]
    Tick {
        /// Seconds from the start to the end of this tick.
        at: f64,
        done: u64,
        failed: u64,
        bytes: u64,
        p50: f64,
        p99: f64,
        max: f64,
    },
    /// The load was on for so many seconds, until the last answer.
    Pulse {
        seconds: f64,
        done: u64,
        failed: u64,
    },
    Result(Box<Outcome>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The counted window, in seconds.
    pub seconds: f64,
    /// Good answers in this window.
    pub done: u64,
    pub per_second: f64,
    /// Body bytes of good answers.
    pub bytes: u64,
    /// Answers by status, from the start of the job, including wrong ones. Those of gRPC by
    /// `grpc-status`, which is below every status of HTTP.
    pub statuses: BTreeMap<u16, u64>,
    /// By kind. `mismatch:` is followed by what differed.
    pub failures: BTreeMap<String, u64>,
    pub failed: u64,
    /// Requests that were due while all connections were busy.
    pub queued: u64,
    /// Never written; in flight after the grace period; answered in the grace period.
    pub unsent: u64,
    pub unfinished: u64,
    pub late: u64,
    pub connects: u64,
    pub connect_failures: u64,
    pub first_problem: Option<String>,
    /// Includes failed, unfinished and unsent requests, with the time waited.
    pub latency: Distribution,
    /// Delay of the generator itself for requests with a free connection. None in a closed loop.
    pub pacing: Option<Distribution>,
    pub generator: Generator,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Generator {
    pub user_seconds: f64,
    pub system_seconds: f64,
    /// Share of the run in which the loop was busy. Near 1 the generator is the bottleneck.
    pub busy: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Distribution {
    pub count: u64,
    pub mean: f64,
    pub stdev: f64,
    pub min: f64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
    /// Upper edge and count of each used bucket, so that runs can be merged and percentiles
    /// plotted.
    pub buckets: Vec<(f64, u64)>,
}

impl Line {
    pub fn tick(at: f64, tick: &Tick) -> Line {
        Line::Tick {
            at,
            done: tick.done,
            failed: tick.failed,
            bytes: tick.bytes,
            p50: millis(tick.latency.value_at_quantile(0.5)),
            p99: millis(tick.latency.value_at_quantile(0.99)),
            max: millis(tick.latency.max()),
        }
    }

    pub fn result(record: &Record, seconds: f64, open: bool, generator: Generator) -> Line {
        let failures = record.failures.iter().map(|(kind, count)| (name(kind), *count)).collect();
        Line::Result(Box::new(Outcome {
            seconds,
            done: record.done,
            per_second: if seconds > 0.0 { record.done as f64 / seconds } else { 0.0 },
            bytes: record.bytes,
            statuses: record.statuses.clone(),
            failures,
            failed: record.total_failed(),
            queued: record.queued,
            unsent: record.unsent,
            unfinished: record.unfinished,
            late: record.late,
            connects: record.connects,
            connect_failures: record.connect_failures,
            first_problem: record.first_problem.clone(),
            latency: Distribution::of(&record.latency),
            pacing: open.then(|| Distribution::of(&record.pacing)),
            generator,
        }))
    }
}

impl Distribution {
    fn of(histogram: &Histogram<u64>) -> Distribution {
        let at = |quantile: f64| millis(histogram.value_at_quantile(quantile));
        Distribution {
            count: histogram.len(),
            mean: histogram.mean() / 1000.0,
            stdev: histogram.stdev() / 1000.0,
            min: if histogram.is_empty() { 0.0 } else { millis(histogram.min()) },
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: millis(histogram.max()),
            buckets: histogram
                .iter_recorded()
                .map(|bucket| (millis(bucket.value_iterated_to()), bucket.count_since_last_iteration()))
                .collect(),
        }
    }
}

pub fn write_line(out: &mut impl Write, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn name(kind: &crate::record::Failure) -> String {
    use crate::record::Failure::*;
    match kind {
        Mismatch(what) => format!("mismatch:{}", format!("{what:?}").to_lowercase()),
        Timeout => "timeout".into(),
        Reset => "reset".into(),
        Closed => "closed".into(),
        Truncated => "truncated".into(),
        Malformed => "malformed".into(),
        StreamReset => "streamReset".into(),
        GoAway => "goAway".into(),
        Broken => "broken".into(),
    }
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}
