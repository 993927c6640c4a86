//! A connection of HTTP/1.1: answers come in the order of the requests.

use super::InFlight;
use crate::answer::AnswerReader;
use crate::pace::Nanos;
use crate::prepared::{Form, Prepared};
use crate::wire::Wire;
use std::collections::VecDeque;

pub struct Http1 {
    pub wire: Wire,
    pub reader: AnswerReader,
    pub in_flight: VecDeque<InFlight>,
}

impl Http1 {
    pub fn new(wire: Wire) -> Self {
        Http1 { wire, reader: AnswerReader::new(), in_flight: VecDeque::new() }
    }

    /// True if a request was sent before `moment`, and is unanswered.
    pub fn waits_since_before(&self, moment: Nanos) -> bool {
        self.in_flight.front().is_some_and(|request| request.sent < moment)
    }

    pub fn queue(&mut self, prepared: &Prepared, request: InFlight) {
        let Form::Http1 { bytes, .. } = &prepared.form else { unreachable!("requests have the form of the protocol") };
        self.wire.push(bytes);
        self.in_flight.push_back(request);
    }
}
