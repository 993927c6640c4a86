//! The event loop: one thread, one poll, all connections. `sending` sends, `connecting` opens and
//! closes, `receiving` reads and checks answers over HTTP/1.1, `streams` those over HTTP/2,
//! `pulsing` turns the load on and off.

mod connecting;
mod pulsing;
mod receiving;
mod sending;
mod streams;

use crate::alarm::Alarm;
use crate::connection::Connection;
use crate::job::{Job, Load, Protocol};
use crate::machine;
use crate::pace::{Nanos, Pacer};
use crate::prepared::Prepared;
use crate::record::Record;
use crate::report::{Generator, Line};
use crate::stream::Connector;
use mio::{Events, Poll, Token};
use pulsing::Pulses;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

const TICK: Nanos = 100_000_000;
/// Token of what wakes the loop without a connection. Connections have smaller ones.
const ALARM: Token = Token(usize::MAX);

/// Runs the job. `each_line` is called every 100 ms and for each pulse, and its error ends the job.
pub fn run(job: &Job, each_line: impl FnMut(Line) -> io::Result<()>) -> Result<Line, Box<dyn std::error::Error>> {
    let mut engine = Engine::new(job)?;
    engine.run(each_line)?;
    Ok(engine.outcome())
}

struct Engine<'a> {
    job: &'a Job,
    poll: Poll,
    alarm: Alarm,
    connector: Connector,
    requests: Vec<Prepared>,
    connections: Vec<Connection>,
    pacer: Option<Pacer>,
    /// None unless the load comes in pulses.
    pulses: Option<Pulses>,
    /// Open loop: requests that are due and have no free connection.
    waiting: VecDeque<Nanos>,
    /// Open loop: connections with room for a request, each once. The last is used next.
    free: VecDeque<usize>,
    /// Maximum requests in flight on a connection.
    slots: usize,
    /// Closed loop: number of requests still to send.
    budget: u64,
    record: Record,
    began: Instant,
    now: Nanos,
    end: Option<Nanos>,
    /// Time of the last answer or connection, so that a job without a duration ends on a dead
    /// server.
    progress: Nanos,
    /// Requests in flight.
    in_flight: usize,
    waited: Duration,
    cpu: (f64, f64),
    buffer: Box<[u8]>,
}

impl<'a> Engine<'a> {
    fn new(job: &'a Job) -> Result<Engine<'a>, Box<dyn std::error::Error>> {
        let poll = Poll::new()?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let requests = Prepared::all(job)?;
        let pulses = Pulses::of(job, poll.registry(), ALARM)?;
        let end = job.duration().map(nanos);
        let budget = match job.load {
            Load::Closed { requests: Some(count), .. } => count,
            _ => u64::MAX,
        };
        let pacer = Pacer::new(job);
        // A request behind another one on a connection would wait for its answer.
        let waits = job.target.protocol == Protocol::Http1 && pacer.is_some();
        let slots = if waits { 1 } else { job.pipelining };
        Ok(Engine {
            job,
            poll,
            alarm,
            connector: Connector::new(&job.target)?,
            connections: (0..job.connections).map(|place| Connection::new(place % requests.len())).collect(),
            requests,
            pacer,
            pulses,
            waiting: VecDeque::new(),
            free: VecDeque::new(),
            slots,
            budget,
            record: Record::new(job.discard_ms * 1_000_000, end),
            began: Instant::now(),
            now: 0,
            end,
            progress: 0,
            in_flight: 0,
            waited: Duration::ZERO,
            cpu: machine::cpu_seconds(),
            buffer: vec![0; 256 * 1024].into(),
        })
    }

    fn run(&mut self, mut each_line: impl FnMut(Line) -> io::Result<()>) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        let mut next_tick = TICK;
        self.open_all();
        while !self.is_over() {
            self.wait(&mut events, next_tick)?;
            for event in events.iter() {
                if event.token() != ALARM {
                    self.turn(event.token().0, event.is_writable(), event.is_read_closed());
                }
            }
            self.send_due();
            if let Some(pulse) = self.switch() {
                each_line(pulse)?;
            }
            if self.now >= next_tick {
                each_line(Line::tick(next_tick as f64 / 1e9, &self.record.tick))?;
                self.record.tick = Record::new(0, None).tick;
                next_tick += TICK * ((self.now - next_tick) / TICK + 1);
                self.time_out();
                self.open_all();
            }
        }
        self.give_up();
        Ok(())
    }

    /// Waits for I/O, the next due request or the next tick.
    fn wait(&mut self, events: &mut Events, next_tick: Nanos) -> io::Result<()> {
        let due = self.pacer.as_ref().and_then(Pacer::due).unwrap_or(next_tick).min(next_tick);
        let retry = self.next_retry().unwrap_or(next_tick);
        self.clock();
        let delay = Duration::from_nanos(due.min(retry).saturating_sub(self.now));
        let before = Instant::now();
        let polled = if delay.is_zero() {
            self.poll.poll(events, Some(Duration::ZERO))
        } else {
            self.alarm.set(delay);
            self.poll.poll(events, self.alarm.patience(delay))
        };
        if self.is_running() {
            self.waited += before.elapsed();
        }
        self.clock();
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => other,
        }?;
        if retry <= self.now {
            self.open_all();
        }
        Ok(())
    }

    fn clock(&mut self) {
        self.now = nanos(self.began.elapsed());
    }

    /// True if no more requests are started.
    fn is_closing(&self) -> bool {
        self.budget == 0 || self.end.is_some_and(|end| self.now >= end)
    }

    fn is_over(&self) -> bool {
        let grace = self.job.grace_ms * 1_000_000;
        let limit = self.job.timeout_ms * 1_000_000 + grace;
        if self.end.is_none() && self.is_running() && self.now > self.progress + limit {
            return true;
        }
        if !self.is_closing() {
            return false;
        }
        (self.in_flight == 0 && self.waiting.is_empty()) || self.end.is_some_and(|end| self.now >= end + grace)
    }

    /// Unanswered requests count with the time they have waited.
    fn give_up(&mut self) {
        for place in 0..self.connections.len() {
            for request in self.connections[place].close(self.now) {
                self.record.unfinished(request.from, self.now, true);
            }
        }
        for due in std::mem::take(&mut self.waiting) {
            self.record.unfinished(due, self.now, false);
        }
    }

    fn outcome(&self) -> Line {
        let ran = self.ran();
        let until = self.end.map_or(ran, |end| end.min(self.now)) as f64 / 1e9;
        let seconds = (until - self.job.discard_ms as f64 / 1e3).max(0.0);
        let (user, system) = machine::cpu_seconds();
        let generator = Generator {
            user_seconds: user - self.cpu.0,
            system_seconds: system - self.cpu.1,
            busy: (1.0 - self.waited.as_secs_f64() * 1e9 / ran as f64).clamp(0.0, 1.0),
        };
        Line::result(&self.record, seconds, self.pacer.is_some(), generator)
    }
}

fn nanos(duration: Duration) -> Nanos {
    duration.as_nanos() as Nanos
}
