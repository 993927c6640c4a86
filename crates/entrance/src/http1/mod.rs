//! HTTP/1.1 without input and output: which requests are accepted, and how messages are framed.

pub mod chunks;
pub mod cors;
mod date;
pub mod fields;
pub mod framing;
pub mod method;
pub mod parser;
pub mod refusal;
mod request_line;
pub mod response;
pub mod span;
