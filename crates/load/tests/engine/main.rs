//! Runs the engine against servers with known answers and delays.

mod ending;
mod grpc;
mod http2;
mod http2_server;
mod pulsing;
mod support;
mod theory;
mod transports;
mod truth;
