//! One request over HTTP/2, and its answer as far as it has come.

use super::InFlight;
use crate::received::Received;
use h2::RecvStream;
use h2::client::ResponseFuture;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub struct Exchange {
    pub request: InFlight,
    pub received: Received,
    state: State,
}

enum State {
    Head(ResponseFuture),
    Body(RecvStream),
}

impl Exchange {
    pub fn new(request: InFlight, response: ResponseFuture) -> Self {
        Exchange { request, received: Received::default(), state: State::Head(response) }
    }

    /// True if part of an answer has been read.
    pub fn is_midway(&self) -> bool {
        matches!(self.state, State::Body(_))
    }

    /// Ready when `received` is complete.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        loop {
            match &mut self.state {
                State::Head(response) => {
                    let (head, body) = ready!(Pin::new(response).poll(context))?.into_parts();
                    self.received.status = head.status.as_u16();
                    self.received.headers = head.headers;
                    self.state = State::Body(body);
                }
                State::Body(body) => match ready!(body.poll_data(context)) {
                    Some(piece) => {
                        let piece = piece?;
                        body.flow_control().release_capacity(piece.len())?;
                        self.received.body.extend_from_slice(&piece);
                    }
                    None => {
                        self.received.trailers = ready!(body.poll_trailers(context))?;
                        return Poll::Ready(Ok(()));
                    }
                },
            }
        }
    }
}
