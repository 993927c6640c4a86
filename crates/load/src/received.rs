//! A complete answer over HTTP/2.

use http::HeaderMap;

#[derive(Default)]
pub struct Received {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
}
