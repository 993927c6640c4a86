//! Turns the load on and off, as standard input says.

use super::{Engine, nanos};
use crate::job::{Job, Load};
use crate::pace::Nanos;
use crate::pulses::{Switch, Switches};
use crate::record::Failure;
use crate::report::Line;
use mio::{Registry, Token};
use std::io;

/// Servers close connections that were idle for longer, Node's after 5 s. A request that meets this
/// would fail.
const LONG_IDLE: Nanos = 3_000_000_000;

pub(super) struct Pulses {
    switches: Switches,
    state: State,
    /// The end of the last pulse.
    idle_since: Nanos,
    /// At the last `on`: the time, and what was counted before.
    since: Nanos,
    done: u64,
    failed: u64,
    /// Duration of all complete pulses.
    total: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    On,
    /// After `off`, until the last request in flight is answered.
    Draining,
}

impl Pulses {
    /// None for other jobs.
    pub(super) fn of(job: &Job, registry: &Registry, token: Token) -> io::Result<Option<Pulses>> {
        let Load::Pulses {} = job.load else { return Ok(None) };
        let switches = Switches::new(registry, token)?;
        Ok(Some(Pulses { switches, state: State::Off, idle_since: 0, since: 0, done: 0, failed: 0, total: 0 }))
    }
}

impl Engine<'_> {
    /// False after the end, and while the load is off.
    pub(super) fn may_send(&self) -> bool {
        !self.is_closing() && self.pulses.as_ref().is_none_or(|pulses| pulses.state == State::On)
    }

    /// False between pulses, when nothing is in flight.
    pub(super) fn is_running(&self) -> bool {
        self.pulses.as_ref().is_none_or(|pulses| pulses.state != State::Off)
    }

    /// How long the load has been on.
    pub(super) fn ran(&self) -> Nanos {
        self.pulses.as_ref().map_or_else(|| nanos(self.began.elapsed()), |pulses| pulses.total)
    }

    /// Obeys the lines that have arrived. Returns a line if a pulse is complete.
    pub(super) fn switch(&mut self) -> Option<Line> {
        while let Some(switch) = self.pulses.as_ref()?.switches.next() {
            match switch {
                Switch::Ready => self.replace_idle(),
                Switch::On => self.turn_on(),
                Switch::Off => self.turn_off(),
                Switch::End => {
                    self.turn_off();
                    self.budget = 0;
                }
            }
        }
        let is_complete = self.in_flight == 0 && self.pulses.as_ref()?.state == State::Draining;
        is_complete.then(|| self.complete())?
    }

    fn replace_idle(&mut self) {
        self.clock();
        let is_long = |pulses: &Pulses| pulses.state == State::Off && self.now - pulses.idle_since > LONG_IDLE;
        if !self.pulses.as_ref().is_some_and(is_long) {
            return;
        }
        for place in 0..self.connections.len() {
            if self.connections[place].session().is_some() {
                self.close(place, Failure::Closed, "it was idle for long");
                self.open(place);
            }
        }
    }

    fn turn_on(&mut self) {
        self.clock();
        self.progress = self.now;
        let failed = self.failed_so_far();
        let Some(pulses) = &mut self.pulses else { return };
        pulses.state = State::On;
        (pulses.since, pulses.done, pulses.failed) = (self.now, self.record.done, failed);
        self.open_all();
        for place in 0..self.connections.len() {
            self.feed(place);
        }
    }

    fn turn_off(&mut self) {
        if let Some(pulses) = &mut self.pulses
            && pulses.state == State::On
        {
            pulses.state = State::Draining;
        }
    }

    fn complete(&mut self) -> Option<Line> {
        self.clock();
        let failed = self.failed_so_far();
        let pulses = self.pulses.as_mut()?;
        pulses.state = State::Off;
        pulses.idle_since = self.now;
        let lasted = self.now - pulses.since;
        pulses.total += lasted;
        Some(Line::Pulse {
            seconds: lasted as f64 / 1e9,
            done: self.record.done - pulses.done,
            failed: failed - pulses.failed,
        })
    }

    fn failed_so_far(&self) -> u64 {
        self.record.total_failed() + self.record.connect_failures
    }
}
