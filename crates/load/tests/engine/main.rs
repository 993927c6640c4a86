//! Runs the engine against servers with known answers and delays.

mod ending;
mod support;
mod theory;
mod transports;
mod truth;
