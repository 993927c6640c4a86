//! What the supervisor reads of direct requests.

use napi_derive::napi;

use crate::direct::counts::{Edge, Outcome};

/// Counts since the last time.
#[napi(object)]
pub struct DirectEdge {
    pub service: String,
    pub route: String,
    pub method: String,
    pub transport: String,
    /// More requests in flight, or fewer.
    pub in_flight: f64,
    pub retries: f64,
    pub outcomes: Vec<DirectOutcome>,
}

#[napi(object)]
pub struct DirectOutcome {
    /// 0 without a complete response.
    pub status: u32,
    /// Of the worker that answered.
    pub slot: Option<u32>,
    pub count: f64,
    /// Milliseconds of all requests together.
    pub sum: f64,
    pub buckets: Vec<u32>,
}

impl From<Edge> for DirectEdge {
    fn from(Edge { service, route, method, transport, open, retries, outcomes }: Edge) -> Self {
        Self {
            service,
            route,
            method: method.to_owned(),
            transport: transport.to_owned(),
            in_flight: open as f64,
            retries: retries as f64,
            outcomes: outcomes.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Outcome> for DirectOutcome {
    fn from(Outcome { status, slot, count, sum, buckets }: Outcome) -> Self {
        Self { status: status.into(), slot, count: count as f64, sum: sum.as_secs_f64() * 1000.0, buckets }
    }
}
