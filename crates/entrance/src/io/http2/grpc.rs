//! A gRPC call. Its worker gets the bytes of its messages, and answers with a head, bytes and
//! trailers, so no text of HTTP/1.1 stands between.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response};

use super::head;
use super::stream::{Http2Stream, State};
use crate::http1::refusal::Refusal;
use crate::http1::response::ResponseParts;
use crate::io::shared::Io;
use crate::worker::record::{REPLY_WORDS, flag, reply, word};

impl Http2Stream {
    /// What the record of a request says about a gRPC call.
    pub(super) fn call_flags(&self) -> u16 {
        match (self.is_grpc, self.body.is_some()) {
            (true, true) => flag::GRPC | flag::MORE,
            (true, false) => flag::GRPC,
            (false, _) => 0,
        }
    }

    pub(super) fn on_call_reply(&mut self, record: &[u8], length: usize, io: &Io) {
        let start = REPLY_WORDS * 4;
        let Some(bytes) = record.get(start..start + length) else { return };
        let State::Exchange(exchange) = &mut self.state else { return };
        if !self.is_grpc {
            return;
        }
        let is_last = (word(record, 1) >> 16) as u16 & flag::LAST != 0;
        exchange.has_begun = true;
        self.since = io.entrance.now();
        self.response.continues(self.since);
        match word(record, 1) as u8 {
            reply::HEAD => match response(bytes) {
                Some(response) => self.response.begins(response, is_last),
                None => self.response.reset(),
            },
            reply::BODY => self.response.data(bytes),
            reply::ANSWER => {
                self.response.begins(usual_head(), false);
                self.response.data(bytes);
                self.response.ends_with(usual_trailers());
            }
            _ => self.response.ends_with(head::trailers(bytes)),
        }
        if is_last || matches!(word(record, 1) as u8, reply::TRAILERS | reply::ANSWER) {
            // It has forgotten the call.
            self.met.retain(|worker| !Arc::ptr_eq(worker, &exchange.worker));
            self.ends();
        }
    }

    /// Ends the call with a gRPC status, also after messages that were sent.
    pub(super) fn refuse_call(&mut self, refusal: Refusal) {
        let (status, message) = status_of(refusal);
        let mut fields = HeaderMap::new();
        fields.insert("grpc-status", HeaderValue::from_static(status));
        fields.insert("grpc-message", HeaderValue::from_static(message));
        if self.response.has_begun() {
            self.response.ends_with(fields);
        } else {
            fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            let mut head = Response::new(());
            *head.headers_mut() = fields;
            self.response.begins(head, true);
        }
        self.ends();
        self.wake();
    }
}

fn usual_head() -> Response<()> {
    let mut head = Response::new(());
    head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    head
}

fn usual_trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers
}

/// `bytes`: a line with the status, then the lines of the fields.
fn response(bytes: &[u8]) -> Option<Response<()>> {
    let status = std::str::from_utf8(bytes.get(..3)?).ok()?;
    head::response(status.parse().ok()?, bytes)
}

/// The same as in `packages/busbar/src/contract/grpc/statuses.ts`.
fn status_of(refusal: Refusal) -> (&'static str, &'static str) {
    match refusal {
        Refusal::HeadTooLarge => ("8", "The metadata is larger than the limit"),
        Refusal::BodyTooLarge | Refusal::ExtensionTooLarge => ("8", "The messages are larger than the limit"),
        Refusal::HeadTimeout | Refusal::BodyTimeout | Refusal::ResponseTimeout => {
            ("4", "The call did not arrive in time")
        }
        Refusal::WorkerDied => ("14", "The worker ended before it had answered"),
        Refusal::HungUp => ("14", "The service hung up before it had answered"),
        Refusal::ResponseMalformed => ("14", "The service answered with something that is not HTTP"),
        Refusal::NotServing => ("14", "The service is not serving"),
        Refusal::NoWorker | Refusal::Overloaded | Refusal::ConnectionLimit => {
            ("14", "No worker can serve the call at the moment")
        }
        Refusal::Malformed | Refusal::NotImplemented => ("13", "The head of the call cannot be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_begins_with_its_status() {
        let found = response(b"415\r\ncontent-type: text/plain\r\n").unwrap();
        assert_eq!(found.status(), 415);
        assert_eq!(found.headers()[CONTENT_TYPE], "text/plain");
        assert!(response(b"no").is_none());
    }
}
