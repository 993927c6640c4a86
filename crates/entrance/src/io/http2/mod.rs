//! HTTP/2. Each stream is a source of one request. The request goes to a worker as text of
//! HTTP/1.1, and the worker's text is the response.

mod allowance;
mod body;
pub mod connection;
mod flushes;
mod frame;
mod frames;
mod grpc;
mod head;
mod head_block;
mod open_bodies;
mod passage;
mod refusal;
mod request_source;
mod resets;
mod response;
mod sent_resets;
mod shared;
mod stream;
mod watched;
