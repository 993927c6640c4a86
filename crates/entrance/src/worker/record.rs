//! The records of a batch. They consist of little-endian 32-bit words, and their length is a
//! multiple of four bytes, so that JavaScript can read them through an `Int32Array`.
//! `packages/busbar/src/entrance/records.ts` defines the same for the other side.
//!
//! To a worker, with the position of each word:
//! ```text
//! 0 length in bytes   1 kind | thread << 8 | flags << 16   2 sequence   3 slot   4 epoch
//! 5 connection   6, 7 lengths   then the bytes
//! ```
//! In a request, these words precede the bytes:
//! ```text
//! 8 remote address   13 local address   18 method   20 target   22 time of arrival
//! 23 number of fields   their table
//! ```
//! An address has five words. The time is in microseconds and wraps around. Method, target, names
//! and values are an offset and a length each. With `flag::CERTIFICATE`, four bytes of length and a
//! certificate (DER) follow the bytes.
//!
//! From a worker:
//! ```text
//! 0 length in bytes   1 kind | thread << 8 | flags << 16   2 slot   3 epoch   4 length
//! then the bytes
//! ```

use std::net::{IpAddr, SocketAddr};

use crate::http1::span::Span;

/// Kinds of records to a worker. The numbers in the comments are word positions.
pub mod kind {
    /// 6: length of the head, 7: length of the body's first piece.
    pub const REQUEST: u8 = 1;
    /// 7: length of a piece of the body.
    pub const BODY: u8 = 2;
    /// The body is complete. 6: length of the trailers.
    pub const BODY_END: u8 = 3;
    /// 6: number of response bytes that the kernel has taken.
    pub const CREDIT: u8 = 4;
    /// The connection is closed. A worker that has completed a gRPC call gets none for it.
    pub const CLOSED: u8 = 5;
    /// The client has closed its half of an upgraded connection, or has sent all of a gRPC call.
    pub const CLIENT_ENDED: u8 = 6;
}

/// Kinds of records from a worker.
pub mod reply {
    /// Bytes for the client.
    pub const DATA: u8 = 1;
    /// 4: number of request body bytes that the program has consumed.
    pub const CREDIT: u8 = 2;
    /// The program has ended its side of the connection.
    pub const END: u8 = 3;
    /// The program has destroyed the connection.
    pub const DESTROYED: u8 = 4;
    /// Of a gRPC call: a line with the status, and the lines of the fields.
    pub const HEAD: u8 = 5;
    /// Of a gRPC call: bytes of its messages.
    pub const BODY: u8 = 6;
    /// Of a gRPC call: the lines of its trailers. It is complete.
    pub const TRAILERS: u8 = 7;
    /// Of a gRPC call: the bytes of its only message. It has succeeded, with the usual head and
    /// trailers.
    pub const ANSWER: u8 = 8;
    /// The program has destroyed the connection since nothing came for too long. A client that is
    /// between two requests keeps it.
    pub const EXPIRED: u8 = 9;
    /// The program has reset the connection. Its client must not take what it got for all.
    pub const RESET: u8 = 10;
}

pub mod flag {
    /// More of the body follows in other records.
    pub const MORE: u16 = 1;
    pub const KEEP_ALIVE: u16 = 2;
    pub const IS_1_0: u16 = 4;
    pub const UPGRADE: u16 = 8;
    pub const CHUNKED: u16 = 16;
    /// In a reply as values, or in the head of a gRPC call: these bytes end the response.
    pub const LAST: u16 = 32;
    /// Together with `LAST`: the connection must be closed.
    pub const CLOSE: u16 = 64;
    /// In a reply: the bytes are HTTP text of the program's own server.
    pub const TEXT: u16 = 128;
    /// Of a request: its connection is over TLS.
    pub const SECURE: u16 = 256;
    /// Of a request: the client speaks HTTP/2.
    pub const HTTP2: u16 = 512;
    /// Of a request: behind the body's first piece is the certificate that the client has shown.
    pub const CERTIFICATE: u16 = 1024;
    /// Of a request: a gRPC call. Its body has no framing of HTTP/1. With `MORE`, `CLIENT_ENDED`
    /// ends it.
    pub const GRPC: u16 = 2048;
    /// Of `CLOSED`: the client has reset the connection.
    pub const RESET: u16 = 4096;
    /// Of a request: an instance had it, and was lost before it answered.
    pub const LOST: u16 = 8192;
}

/// The version of this format and of the add-on's classes. Raise it with each change: a binary
/// serves only a library that has the same number.
pub const FORMAT: u32 = 17;
pub const WORDS: usize = 8;
pub const REQUEST_WORDS: usize = 24;
pub const REPLY_WORDS: usize = 5;

/// Identifies an exchange. The epoch distinguishes it from earlier and later ones in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExchangeId {
    pub thread: u8,
    pub slot: u32,
    pub epoch: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub kind: u8,
    pub flags: u16,
    pub id: ExchangeId,
    pub connection: u32,
    pub lengths: [u32; 2],
}

impl Header {
    /// Reads the header of a record in an inbox.
    pub fn of(record: &[u8]) -> Self {
        Self {
            kind: kind_of(record),
            flags: (word(record, 1) >> 16) as u16,
            id: id_of(record),
            connection: word(record, 5),
            lengths: [word(record, 6), word(record, 7)],
        }
    }

    /// The length of a record with `parts` after its header.
    pub fn record_length(parts: &[&[u8]]) -> usize {
        (WORDS * 4 + parts.iter().map(|part| part.len()).sum::<usize>()).next_multiple_of(4)
    }

    /// `target` must have the length of the record. The inbox assigns the sequence.
    pub fn write(&self, sequence: u32, parts: &[&[u8]], target: &mut [u8]) {
        let Self { kind, flags, id, connection, lengths } = self;
        let second = u32::from(*kind) | u32::from(id.thread) << 8 | u32::from(*flags) << 16;
        let length = target.len() as u32;
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            target[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        for word in [length, second, sequence, id.slot, id.epoch, *connection, lengths[0], lengths[1]] {
            put(&word.to_le_bytes());
        }
        for part in parts {
            put(part);
        }
    }

    /// Appends the record in the form that `Inbox::adopt` reads.
    pub fn append(&self, parts: &[&[u8]], target: &mut Vec<u8>) {
        let start = target.len();
        target.resize(start + Self::record_length(parts), 0);
        self.write(0, parts, &mut target[start..]);
    }
}

/// To those of a record.
pub fn add_flags(record: &mut [u8], flags: u16) {
    let second = word(record, 1) | u32::from(flags) << 16;
    record[4..8].copy_from_slice(&second.to_le_bytes());
}

pub fn word(record: &[u8], at: usize) -> u32 {
    let at = at * 4;
    record.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

pub fn kind_of(record: &[u8]) -> u8 {
    word(record, 1) as u8
}

pub fn id_of(record: &[u8]) -> ExchangeId {
    ExchangeId { thread: (word(record, 1) >> 8) as u8, slot: word(record, 3), epoch: word(record, 4) }
}

/// The words that a request's record has after its header.
pub struct RequestParts<'a> {
    pub remote: SocketAddr,
    pub local: SocketAddr,
    pub method: Span,
    pub target: Span,
    /// In microseconds of the entrance's clock.
    pub arrived: u32,
    /// Empty for a worker that gets requests as text, except for gRPC calls.
    pub fields: &'a [(Span, Span)],
    /// The head's position in the buffer that the spans refer to.
    pub start: u32,
}

impl RequestParts<'_> {
    pub fn write(&self, words: &mut Vec<u8>) {
        words.clear();
        for address in [self.remote, self.local] {
            put_address(words, address);
        }
        let mut put = |span: Span| {
            words.extend_from_slice(&(span.at - self.start).to_le_bytes());
            words.extend_from_slice(&span.len.to_le_bytes());
        };
        put(self.method);
        put(self.target);
        words.extend_from_slice(&self.arrived.to_le_bytes());
        words.extend_from_slice(&(self.fields.len() as u32).to_le_bytes());
        for &(name, value) in self.fields {
            for span in [name, value] {
                words.extend_from_slice(&(span.at - self.start).to_le_bytes());
                words.extend_from_slice(&span.len.to_le_bytes());
            }
        }
    }
}

/// Writes port and family, then the address in network byte order.
fn put_address(words: &mut Vec<u8>, address: SocketAddr) {
    let (family, bytes) = match address.ip() {
        IpAddr::V4(ip) => (4u32, {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }),
        IpAddr::V6(ip) => (6u32, ip.octets()),
    };
    words.extend_from_slice(&(family << 16 | u32::from(address.port())).to_le_bytes());
    words.extend_from_slice(&bytes);
}

/// The address that begins at this word, and its port.
pub fn address_at(record: &[u8], at: usize) -> (IpAddr, u16) {
    let first = word(record, at);
    let mut bytes = [0; 16];
    if let Some(found) = record.get((at + 1) * 4..(at + 5) * 4) {
        bytes.copy_from_slice(found);
    }
    let ip = match first >> 16 {
        4 => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => IpAddr::from(bytes),
    };
    (ip, first as u16)
}

/// A record as a worker sends it.
pub fn reply_record(kind: u8, flags: u16, id: ExchangeId, value: u32, bytes: &[u8]) -> Vec<u8> {
    let length = (REPLY_WORDS * 4 + bytes.len()).next_multiple_of(4);
    let mut record = Vec::with_capacity(length);
    let second = u32::from(kind) | u32::from(id.thread) << 8 | u32::from(flags) << 16;
    for word in [length as u32, second, id.slot, id.epoch, value] {
        record.extend_from_slice(&word.to_le_bytes());
    }
    record.extend_from_slice(bytes);
    record.resize(length, 0);
    record
}

/// Iterates over the records of a batch. Stops at a malformed record.
pub struct Records<'a>(pub &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = word(self.0, 0) as usize;
        if length < 4 * REPLY_WORDS || length > self.0.len() || !length.is_multiple_of(4) {
            return None;
        }
        let (record, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(record)
    }
}
