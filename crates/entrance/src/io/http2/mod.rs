//! HTTP/2. Each stream is a member of its thread, like a connection of HTTP/1: its request goes to
//! a worker as text of HTTP/1.1, and the worker's text is its response.

mod body;
pub mod connection;
mod frames;
mod head;
mod member;
mod response;
mod stream;
mod watched;
