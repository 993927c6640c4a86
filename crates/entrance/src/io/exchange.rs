//! A request in a worker, the transfer of its body, and its move to another worker.

use std::sync::Arc;

use super::shared::Io;
use crate::http1::chunks::{Chunks, Step};
use crate::http1::refusal::Refusal;
use crate::http1::response::ResponseScan;
use crate::limits::{BODY_PIECE, PIECE_COST};
use crate::stats::add;
use crate::worker::in_flight::InFlight;
use crate::worker::inbox::PushError;
use crate::worker::orphans::{Orphans, is_after};
use crate::worker::record::{ExchangeId, Header, flag, kind};
use crate::worker::{Form, Worker};

/// A request that a worker has.
pub(super) struct Exchange {
    pub id: ExchangeId,
    pub worker: Arc<Worker>,
    pub in_flight: InFlight,
    pub sequence: u32,
    pub body: Body,
    pub request_since: u64,
    /// Bytes of the request's body that the worker can take now.
    pub window: usize,
    pub response: ResponseScan,
    /// Something of the final response was sent. After 1xx responses, the client can still get
    /// another one.
    pub has_begun: bool,
    pub response_done: bool,
    pub close: bool,
    pub upgrade: bool,
    /// The head is kept, so that another worker can get the request if this one dies.
    pub retriable: bool,
    pub told_client_ended: bool,
    /// Records that a dead worker could not get. The next worker gets them with the request.
    pub unsent: Vec<u8>,
    /// Its worker has died, and it waits for another one.
    pub waiting_since: Option<u64>,
    /// The program has closed its half of an upgraded connection.
    pub program_ended: bool,
}

/// The part of the request that has not arrived.
pub(super) enum Body {
    Done,
    Length(u64),
    Chunked(Box<Chunks>),
    /// An upgraded connection: bytes of another protocol.
    Raw,
}

/// What becomes of a request when a worker has died.
pub(super) enum AfterDeath {
    /// Another worker has the request.
    Nothing,
    /// The worker had not begun it, whatever its method. Another one gets these records.
    Move(Vec<u8>),
    /// The worker had begun it, and nothing was sent, not even 1xx, which a repetition would send
    /// again. It is repeated once.
    Repeat,
    Refuse,
}

impl Exchange {
    /// Request and response.
    pub(super) fn is_complete(&self) -> bool {
        self.response_done && matches!(self.body, Body::Done)
    }

    pub(super) fn after_death(&mut self, dead: &Arc<Worker>, orphans: &Orphans) -> AfterDeath {
        if !Arc::ptr_eq(&self.worker, dead) {
            return AfterDeath::Nothing;
        }
        let orphan = orphans.requests.get(&self.id).filter(|_| is_after(self.sequence, orphans.begun));
        match orphan {
            Some(records) => AfterDeath::Move([records.as_slice(), &std::mem::take(&mut self.unsent)].concat()),
            None if self.retriable && !self.has_begun && !self.response.has_informed => AfterDeath::Repeat,
            None => AfterDeath::Refuse,
        }
    }

    /// Returns how many bytes were taken.
    pub(super) fn pass_body(&mut self, bytes: &[u8], connection: u32, io: &Io) -> Result<usize, Refusal> {
        let room = self.window.min(BODY_PIECE);
        match &mut self.body {
            Body::Done => Ok(0),
            _ if bytes.is_empty() || room == 0 => Ok(0),
            Body::Raw => {
                let length = room.min(bytes.len());
                self.pass_piece(&bytes[..length], true, connection, io)?;
                Ok(length)
            }
            Body::Length(left) => {
                let length = room.min(bytes.len()).min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                let more = *left > 0;
                if !more {
                    self.body = Body::Done;
                }
                self.pass_piece(&bytes[..length], more, connection, io)?;
                Ok(length)
            }
            Body::Chunked(chunks) => match chunks.step(&bytes[..bytes.len().min(room)])? {
                Step::Skip(length) => {
                    if chunks.step(&[]) == Ok(Step::Done) {
                        let trailers = std::mem::take(&mut chunks.trailers);
                        self.body = Body::Done;
                        self.pass_end(&trailers, connection, io)?;
                    }
                    Ok(length)
                }
                Step::Data(length) => {
                    self.total_is_allowed(length, io)?;
                    self.pass_piece(&bytes[..length], true, connection, io)?;
                    Ok(length)
                }
                Step::More | Step::Done => Ok(0),
            },
        }
    }

    fn total_is_allowed(&mut self, length: usize, io: &Io) -> Result<(), Refusal> {
        let Body::Chunked(chunks) = &mut self.body else { return Ok(()) };
        chunks.total += length as u64;
        if chunks.total > io.entrance.limits.max_body { Err(Refusal::BodyTooLarge) } else { Ok(()) }
    }

    pub(super) fn pass_piece(&mut self, bytes: &[u8], more: bool, connection: u32, io: &Io) -> Result<(), Refusal> {
        let cost = bytes.len() + PIECE_COST;
        self.window = self.window.saturating_sub(cost);
        let flags = if more { flag::MORE } else { 0 };
        if self.worker.form == Form::Text && matches!(self.body, Body::Chunked(_)) {
            let size = format!("{:x}\r\n", bytes.len());
            let length = (size.len() + bytes.len() + 2) as u32;
            self.push(kind::BODY, flags, [cost as u32, length], &[size.as_bytes(), bytes, b"\r\n"], connection, io)
        } else {
            self.push(kind::BODY, flags, [cost as u32, bytes.len() as u32], &[bytes], connection, io)
        }
    }

    pub(super) fn pass_end(&mut self, trailers: &[u8], connection: u32, io: &Io) -> Result<(), Refusal> {
        if self.worker.form == Form::Text {
            let length = trailers.len() as u32 + 5;
            self.push(kind::BODY_END, 0, [0, length], &[b"0\r\n", trailers, b"\r\n"], connection, io)
        } else {
            self.push(kind::BODY_END, 0, [0, trailers.len() as u32], &[trailers], connection, io)
        }
    }

    /// If the worker is dead, a call of `worker_died` follows.
    pub(super) fn push(
        &mut self,
        kind: u8,
        flags: u16,
        lengths: [u32; 2],
        parts: &[&[u8]],
        connection: u32,
        io: &Io,
    ) -> Result<(), Refusal> {
        let header = Header { kind, flags, id: self.id, connection, lengths };
        match self.worker.inbox.push(&header, parts) {
            Ok(_) => io.wake_soon(&self.worker),
            Err(PushError::Closed) => header.append(parts, &mut self.unsent),
            Err(PushError::Full) => return Err(Refusal::Overloaded),
        }
        Ok(())
    }

    /// For a worker that has died or is late. Returns the new one. `None` if there is none, and
    /// the request waits for one.
    pub(super) fn move_to_another(&mut self, records: Vec<u8>, io: &Io) -> Result<Option<Arc<Worker>>, Refusal> {
        let entrance = &io.entrance;
        let Some((worker, sequence)) = place(self.worker.form, &records, io) else {
            if entrance.has_worker() {
                return Err(Refusal::Overloaded);
            }
            if !entrance.expects_worker() {
                return Err(Refusal::NoWorker);
            }
            // The dead worker's inbox refuses what comes next, which then joins these records.
            self.unsent = records;
            self.waiting_since.get_or_insert(entrance.now());
            return Ok(None);
        };
        self.in_flight = InFlight::at(&worker);
        self.worker = worker.clone();
        self.sequence = sequence;
        self.waiting_since = None;
        add(&entrance.stats.moved, 1);
        io.wake_soon(&worker);
        Ok(Some(worker))
    }
}

fn place(form: Form, records: &[u8], io: &Io) -> Option<(Arc<Worker>, u32)> {
    let entrance = &io.entrance;
    let worker = entrance.registry.choose(entrance.now(), entrance.limits.max_in_flight)?;
    if worker.form != form {
        return None;
    }
    let sequence = worker.inbox.adopt(records).ok()?;
    Some((worker, sequence))
}
