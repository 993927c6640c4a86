//! The engine from outside, against servers whose answers and delays are known.

mod ending;
mod support;
mod theory;
mod transports;
mod truth;
