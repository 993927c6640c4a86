//! The requests of a connection whose bodies have not ended, by the frames of their client. An
//! empty DATA frame of such a body says nothing. Clients send them (Node's, on `write('')`), and h2
//! ends a connection after 100 of its lifetime, so it does not see them.

use std::collections::VecDeque;

use super::frame::{HEADER, flag, kind};

/// Twice the streams that h2 allows. Beyond these, it sees the empty frames of the oldest.
const MAX_BODIES: usize = 256;

#[derive(Default)]
pub struct OpenBodies {
    streams: VecDeque<u32>,
}

impl OpenBodies {
    /// Follows a frame. Returns true if it has no effect, by this header and those before.
    pub fn is_needless(&mut self, header: &[u8; HEADER]) -> bool {
        let [a, b, c, kind, flags, stream @ ..] = *header;
        let stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
        let ends_stream = flags & flag::END_STREAM != 0;
        match kind {
            kind::DATA if !ends_stream => {
                let is_empty = [a, b, c] == [0; 3] && flags & flag::PADDED == 0;
                return is_empty && self.streams.contains(&stream);
            }
            kind::HEADERS if !ends_stream => self.begins(stream),
            kind::DATA | kind::HEADERS | kind::RESET => self.streams.retain(|&other| other != stream),
            _ => {}
        }
        false
    }

    fn begins(&mut self, stream: u32) {
        if self.streams.contains(&stream) {
            return;
        }
        if self.streams.len() == MAX_BODIES {
            self.streams.pop_front();
        }
        self.streams.push_back(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(length: u8, kind: u8, flags: u8, stream: u32) -> [u8; HEADER] {
        let [a, b, c, d] = stream.to_be_bytes();
        [0, 0, length, kind, flags, a, b, c, d]
    }

    fn with_body(stream: u32) -> OpenBodies {
        let mut bodies = OpenBodies::default();
        assert!(!bodies.is_needless(&header(9, kind::HEADERS, flag::END_HEADERS, stream)));
        bodies
    }

    fn empty(stream: u32) -> [u8; HEADER] {
        header(0, kind::DATA, 0, stream)
    }

    #[test]
    fn an_empty_frame_of_an_open_body_is_needless() {
        let mut bodies = with_body(5);
        assert!(bodies.is_needless(&empty(5)));
        assert!(bodies.is_needless(&empty(5 | 1 << 31)));
        for other in [header(1, kind::DATA, 0, 5), header(0, kind::DATA, flag::PADDED, 5), empty(0), empty(7)] {
            assert!(!bodies.is_needless(&other));
        }
        assert!(bodies.is_needless(&empty(5)));
    }

    #[test]
    fn it_is_not_once_the_body_has_ended() {
        for end in [
            header(0, kind::DATA, flag::END_STREAM, 5),
            header(9, kind::HEADERS, flag::END_STREAM | flag::END_HEADERS, 5),
            header(4, kind::RESET, 0, 5),
        ] {
            let mut bodies = with_body(5);
            assert!(!bodies.is_needless(&end));
            assert!(!bodies.is_needless(&empty(5)));
        }
    }

    #[test]
    fn the_number_of_bodies_is_bounded() {
        let mut bodies = OpenBodies::default();
        for stream in 0..MAX_BODIES as u32 + 1 {
            bodies.is_needless(&header(9, kind::HEADERS, flag::END_HEADERS, 2 * stream + 1));
        }
        assert!(!bodies.is_needless(&empty(1)));
        assert!(bodies.is_needless(&empty(3)));
        assert_eq!(bodies.streams.len(), MAX_BODIES);
    }
}
