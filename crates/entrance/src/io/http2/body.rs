//! The body of a stream's request, or what the client of a WebSocket sends.

use std::task::{Context, Poll, Waker};

use h2::{FlowControl, RecvStream};

use super::head;
use super::stream::{Http2Stream, State};
use crate::http1::refusal::Refusal;
use crate::io::exchange::Body;
use crate::io::shared::Io;
use crate::limits::{BODY_PIECE, RELEASE_STEP};
use crate::worker::record::kind;

impl Http2Stream {
    /// What has come with the head goes to the worker with it: a small call is one record.
    pub(super) fn read_ahead(&mut self) {
        let Some(body) = &mut self.body else { return };
        // The stream's task has not run yet. It polls again, with its own waker.
        if let Poll::Ready(Some(Ok(bytes))) = body.poll_data(&mut Context::from_waker(Waker::noop())) {
            self.rest = bytes;
        }
        if body.is_end_stream() {
            self.flow = flow_of(self.body.take(), self.rest.len());
        }
    }

    /// Forwards what has arrived of the request's body. An error without a refusal: the client has
    /// reset the stream.
    pub(super) fn pass_body(&mut self, context: &mut Context<'_>, io: &Io) -> Result<(), Option<Refusal>> {
        let State::Exchange(exchange) = &mut self.state else { return Ok(()) };
        if self.response.is_tunnel && !matches!(exchange.body, Body::Raw) {
            return Ok(());
        }
        loop {
            if self.rest.is_empty() {
                self.rest = self.gathered.split().freeze();
            }
            if self.rest.is_empty() {
                let Some(body) = &mut self.body else { return Ok(()) };
                match body.poll_data(context) {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(Some(Ok(bytes))) => self.rest = bytes,
                    Poll::Ready(Some(Err(_))) => {
                        self.response.abandon();
                        return Err(None);
                    }
                    Poll::Ready(None) => {
                        let Poll::Ready(trailers) = body.poll_trailers(context) else { return Ok(()) };
                        let lines = trailers.ok().flatten().map(|trailers| head::trailer_lines(&trailers));
                        self.flow = flow_of(self.body.take(), self.unconsumed);
                        if matches!(exchange.body, Body::Chunked(_)) {
                            exchange.body = Body::Done;
                            exchange.pass_end(&lines.unwrap_or_default(), self.number, io)?;
                        } else if matches!(exchange.body, Body::Raw) {
                            exchange.push(kind::CLIENT_ENDED, 0, [0, 0], &[], self.number, io)?;
                        }
                        return Ok(());
                    }
                }
                self.since = io.entrance.now();
                continue;
            }
            let room = exchange.window.min(BODY_PIECE);
            if room == 0 {
                self.gather(context);
                return Ok(());
            }
            let piece = self.rest.split_to(room.min(self.rest.len()));
            self.unconsumed += piece.len();
            let more = match &mut exchange.body {
                Body::Length(left) => {
                    *left = left.saturating_sub(piece.len() as u64);
                    *left > 0
                }
                Body::Chunked(chunks) => {
                    chunks.total += piece.len() as u64;
                    if chunks.total > io.entrance.limits.max_body {
                        return Err(Some(Refusal::BodyTooLarge));
                    }
                    true
                }
                Body::Raw => true,
                Body::Done => return Err(Some(Refusal::Malformed)),
            };
            exchange.pass_piece(&piece, more, self.number, io)?;
        }
    }

    /// The worker has consumed so much.
    pub(super) fn release(&mut self, credit: usize) {
        // The credit includes what each piece costs beside its bytes.
        let released = credit.min(self.unconsumed);
        self.unconsumed -= released;
        if let Some(flow) = self.body.as_mut().map(RecvStream::flow_control).or(self.flow.as_mut()) {
            let _ = flow.release_capacity(released);
        }
    }

    /// Each frame costs h2 more than its bytes, so small ones do not stay there. The windows of h2
    /// bound their sum.
    fn gather(&mut self, context: &mut Context<'_>) {
        let Some(body) = &mut self.body else { return };
        while let Poll::Ready(Some(Ok(bytes))) = body.poll_data(context) {
            self.gathered.extend_from_slice(&bytes);
        }
    }
}

/// Of a body that has arrived, if the worker will tell of these bytes. They fill the connection's
/// window until then, also where the stream lasts.
fn flow_of(body: Option<RecvStream>, unconsumed: usize) -> Option<FlowControl> {
    body.filter(|_| unconsumed >= RELEASE_STEP).map(|mut body| body.flow_control().clone())
}
