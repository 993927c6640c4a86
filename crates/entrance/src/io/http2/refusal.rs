//! What the client of a stream gets in place of its response, or of the rest of it.

use super::stream::{Http2Stream, State};
use crate::http1::cors;
use crate::http1::method::begins_head;
use crate::http1::refusal::{Refusal, Refused};
use crate::http1::response::ResponseScan;
use crate::io::shared::Io;

impl Http2Stream {
    /// Sends the entrance's own response. If a response has begun, the stream is reset behind what
    /// came of it.
    pub(super) fn refuse(&mut self, refusal: Refusal, io: &Io) {
        io.entrance.stats.refused(refusal);
        if self.is_grpc {
            return self.refuse_call(refusal);
        }
        if self.response.has_begun() {
            self.response.breaks_off();
        } else {
            let target = self.head.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
            let refused = Refused { is_head: begins_head(&self.head), target, origin: cors::origin_of(&self.head) };
            let answer = refusal.answer(io.entrance.limits.problems, &io.entrance.origins(), refused);
            ResponseScan::new(refused.is_head).feed_to(&answer, &mut self.response);
            self.response.completes();
        }
        self.state = State::Over;
        self.wake();
    }
}
