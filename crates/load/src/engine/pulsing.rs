//! Turns the load on and off.

use super::Engine;
use crate::pulses::Switch;
use crate::report::Line;
use std::time::Duration;

/// What has been measured at the last `on`, and of all pulses that are complete.
#[derive(Default)]
pub(super) struct Pulses {
    pub on: bool,
    /// False from the answer to the last request after `off` until the next `on`.
    pub running: bool,
    since: Duration,
    done: u64,
    failed: u64,
    pub total: Duration,
}

impl Engine<'_> {
    /// False after the end, and between pulses.
    pub(super) fn may_send(&self) -> bool {
        !self.is_closing() && (self.switches.is_none() || self.pulses.on)
    }

    /// False between pulses, when nothing is in flight.
    pub(super) fn is_running(&self) -> bool {
        self.switches.is_none() || self.pulses.running
    }

    /// Obeys the lines that have arrived. Returns a line if a pulse is complete.
    pub(super) fn switch(&mut self) -> Option<Line> {
        while let Some(switch) = self.switches.as_ref().and_then(|switches| switches.next()) {
            match switch {
                Switch::On => self.turn_on(),
                Switch::Off => self.pulses.on = false,
                Switch::End => {
                    self.pulses.on = false;
                    self.budget = 0;
                }
            }
        }
        let is_complete = self.switches.is_some() && self.pulses.running && !self.pulses.on && self.in_flight == 0;
        is_complete.then(|| self.complete())
    }

    fn turn_on(&mut self) {
        self.clock();
        let pulses = &mut self.pulses;
        (pulses.on, pulses.running) = (true, true);
        (pulses.since, pulses.done) = (Duration::from_nanos(self.now), self.record.done);
        pulses.failed = self.record.total_failed() + self.record.connect_failures;
        self.progress = self.now;
        self.open_all();
        for place in 0..self.connections.len() {
            if self.connections[place].is_open() {
                self.feed(place);
            }
        }
    }

    fn complete(&mut self) -> Line {
        self.clock();
        let pulses = &mut self.pulses;
        pulses.running = false;
        let lasted = Duration::from_nanos(self.now) - pulses.since;
        pulses.total += lasted;
        let failed = self.record.total_failed() + self.record.connect_failures - pulses.failed;
        Line::Pulse { seconds: lasted.as_secs_f64(), done: self.record.done - pulses.done, failed }
    }
}
