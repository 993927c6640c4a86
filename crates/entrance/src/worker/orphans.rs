//! Finds the requests in an inbox that the worker has not begun.

use std::collections::HashMap;

use super::record::{ExchangeId, Records, id_of, kind, kind_of, word};

/// What a dead worker left in its inbox.
#[derive(Debug, Default)]
pub struct Orphans {
    /// The sequence of the last request whose handler was called.
    pub begun: u32,
    /// The records of each request whose handler was not called.
    pub requests: HashMap<ExchangeId, Vec<u8>>,
}

#[derive(Default)]
pub(super) struct RequestCollector {
    begun: u32,
    pub requests: HashMap<ExchangeId, Vec<u8>>,
}

impl RequestCollector {
    pub fn after(begun: u32) -> Self {
        Self { begun, requests: HashMap::new() }
    }

    /// Returns true if the record was taken.
    pub fn reclaim(&mut self, record: &[u8], thread: u8) -> bool {
        let id = id_of(record);
        match kind_of(record) {
            kind::REQUEST if id.thread == thread => {
                self.requests.insert(id, record.to_vec());
                true
            }
            kind::BODY | kind::BODY_END | kind::CLIENT_ENDED => {
                let records = self.requests.get_mut(&id);
                records.map(|records| records.extend_from_slice(record)).is_some()
            }
            _ => false,
        }
    }

    pub fn look(&mut self, records: &[u8]) {
        for record in Records(records) {
            let (id, sequence) = (id_of(record), word(record, 2));
            match kind_of(record) {
                kind::REQUEST if is_after(sequence, self.begun) => {
                    self.requests.insert(id, record.to_vec());
                }
                kind::BODY | kind::BODY_END | kind::CLIENT_ENDED => {
                    if let Some(records) = self.requests.get_mut(&id) {
                        records.extend_from_slice(record);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Compares sequences, which wrap around.
pub fn is_after(sequence: u32, begun: u32) -> bool {
    (sequence.wrapping_sub(begun) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::inbox::Inbox;
    use crate::worker::record::Header;

    #[test]
    fn sequences_wrap_around() {
        assert!(is_after(1, u32::MAX) && is_after(5, 4) && !is_after(4, 4) && !is_after(u32::MAX, 1));
    }

    /// Its next worker would wait for the end of a gRPC call for ever.
    #[test]
    fn the_end_of_a_request_goes_with_it() {
        let kinds = [kind::REQUEST, kind::BODY, kind::CLIENT_ENDED];
        let inbox = Inbox::new();
        let id = ExchangeId { thread: 1, slot: 1, epoch: 7 };
        let header = |kind| Header { kind, flags: 0, id, connection: 3, lengths: [0, 0] };
        let push_all = || kinds.map(|kind| inbox.push(&header(kind), &[b"of 1"]).unwrap());
        push_all();
        let of = |requests: HashMap<ExchangeId, Vec<u8>>| Records(&requests[&id]).map(kind_of).collect::<Vec<_>>();
        assert_eq!(of(inbox.reclaim(1)), kinds);
        push_all();
        assert_eq!(of(inbox.close().requests), kinds);
    }
}
