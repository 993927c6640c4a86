//! The event loop: one thread, one poll, all connections. This file sends. `connecting` opens and
//! closes, `receiving` reads and checks.

mod connecting;
mod receiving;

use crate::alarm::Alarm;
use crate::answer::Question;
use crate::check::Checker;
use crate::connection::{Connection, InFlight};
use crate::job::{Job, Load};
use crate::machine;
use crate::pace::{Nanos, Pacer};
use crate::record::{Failure, Record};
use crate::report::{Generator, Line};
use crate::stream::Connector;
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

const TICK: Nanos = 100_000_000;
/// Token of the alarm. Connections have smaller ones.
const ALARM: Token = Token(usize::MAX);

/// Runs the job. `each_tick` is called every 100 ms, and its error ends the job.
pub fn run(job: &Job, each_tick: impl FnMut(Line) -> io::Result<()>) -> Result<Line, Box<dyn std::error::Error>> {
    let mut engine = Engine::new(job)?;
    engine.run(each_tick)?;
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
    /// Open loop: requests that are due and have no free connection.
    waiting: VecDeque<Nanos>,
    /// Open loop: idle connections.
    free: Vec<usize>,
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

struct Prepared {
    bytes: Vec<u8>,
    question: Question,
    checker: Checker,
}

impl<'a> Engine<'a> {
    fn new(job: &'a Job) -> Result<Engine<'a>, Box<dyn std::error::Error>> {
        let poll = Poll::new()?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let host = job.host();
        let requests: Vec<Prepared> = job
            .requests
            .iter()
            .map(|request| {
                let checker = Checker::new(&request.expect);
                Prepared {
                    bytes: request.serialise(&host, job.reconnect),
                    question: Question {
                        head_only: request.method.eq_ignore_ascii_case("head"),
                        keep_headers: checker.needs_headers(),
                    },
                    checker,
                }
            })
            .collect();
        let end = job.duration().map(nanos);
        let budget = match job.load {
            Load::Closed { requests: Some(count), .. } => count,
            _ => u64::MAX,
        };
        Ok(Engine {
            job,
            poll,
            alarm,
            connector: Connector::new(&job.target)?,
            connections: (0..job.connections).map(|place| Connection::new(place % requests.len())).collect(),
            requests,
            pacer: Pacer::new(job),
            waiting: VecDeque::new(),
            free: Vec::new(),
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

    fn run(&mut self, mut each_tick: impl FnMut(Line) -> io::Result<()>) -> io::Result<()> {
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
            if self.now >= next_tick {
                each_tick(Line::tick(next_tick as f64 / 1e9, &self.record.tick))?;
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
        self.waited += before.elapsed();
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
        if self.end.is_none() && self.now > self.progress + self.job.timeout_ms * 1_000_000 + grace {
            return true;
        }
        if !self.is_closing() {
            return false;
        }
        (self.in_flight == 0 && self.waiting.is_empty()) || self.end.is_some_and(|end| self.now >= end + grace)
    }

    /// Sends what this connection may send now.
    fn feed(&mut self, place: usize) {
        if self.pacer.is_some() {
            match self.waiting.pop_front() {
                Some(due) => self.send_waiting(place, due),
                None => self.free.push(place),
            }
        } else {
            while self.connections[place].in_flight.len() < self.job.pipelining && !self.is_closing() {
                self.budget -= u64::from(self.budget != u64::MAX);
                let from = if self.job.reconnect { self.connections[place].opened_at } else { self.now };
                self.queue(place, from);
            }
        }
        if let Err(error) = self.connections[place].flush() {
            self.broke(place, &error);
        }
    }

    /// Open loop: a connection became free for a waiting request. That delay is caused by the
    /// server.
    fn send_waiting(&mut self, place: usize, due: Nanos) {
        self.clock();
        self.record.queued += 1;
        self.queue(place, due);
    }

    fn queue(&mut self, place: usize, from: Nanos) {
        let connection = &mut self.connections[place];
        let request = connection.turn;
        connection.turn = (request + 1) % self.requests.len();
        connection.queue(&self.requests[request].bytes, InFlight { from, sent: self.now, request });
        self.in_flight += 1;
    }

    /// Open loop: sends due requests on idle connections. The others are queued.
    fn send_due(&mut self) {
        while let Some(due) = self.pacer.as_ref().and_then(Pacer::due).filter(|&due| due <= self.now) {
            if let Some(pacer) = &mut self.pacer {
                pacer.advance();
            }
            self.waiting.push_back(due);
        }
        while let Some(&due) = self.waiting.front() {
            let Some(place) = self.free.pop() else { return };
            if !self.connections[place].is_open() {
                continue;
            }
            self.waiting.pop_front();
            self.clock();
            // Connections were idle, so the delay since the due time was caused by this loop.
            self.record.paced(due, self.now);
            self.queue(place, due);
            if let Err(error) = self.connections[place].flush() {
                self.broke(place, &error);
            }
        }
    }

    fn time_out(&mut self) {
        let limit = self.job.timeout_ms * 1_000_000;
        for place in 0..self.connections.len() {
            let oldest = self.connections[place].in_flight.front();
            if oldest.is_some_and(|request| self.now.saturating_sub(request.sent) > limit) {
                self.close(place, Failure::Timeout, &format!("no answer within {} ms", self.job.timeout_ms));
            }
        }
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
        let ran = self.began.elapsed().as_secs_f64();
        let until = self.end.map_or(self.now, |end| end.min(self.now)) as f64 / 1e9;
        let seconds = (until - self.job.discard_ms as f64 / 1e3).max(0.0);
        let (user, system) = machine::cpu_seconds();
        let generator = Generator {
            user_seconds: user - self.cpu.0,
            system_seconds: system - self.cpu.1,
            busy: (1.0 - self.waited.as_secs_f64() / ran).clamp(0.0, 1.0),
        };
        Line::result(&self.record, seconds, self.pacer.is_some(), generator)
    }
}

fn nanos(duration: Duration) -> Nanos {
    duration.as_nanos() as Nanos
}
