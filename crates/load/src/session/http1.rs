//! A connection of HTTP/1.1: answers come in the order of the requests.

use super::InFlight;
use crate::answer::AnswerReader;
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

    pub fn queue(&mut self, prepared: &Prepared, request: InFlight) {
        let Form::Http1 { bytes, .. } = &prepared.form else { unreachable!("requests have the form of the protocol") };
        self.wire.push(bytes);
        self.in_flight.push_back(request);
    }
}
