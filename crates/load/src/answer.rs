//! Parses the bytes of a connection into HTTP/1.1 answers (RFC 9112): heads by `httparse`, bodies
//! by length, chunks or close.

mod head;

use head::{Framing, read_head};
pub use head::{Head, Malformed, Question};

/// Takes the bytes of one connection, and yields complete answers with contiguous bodies.
pub struct AnswerReader {
    buffer: Vec<u8>,
    /// Start of the current answer.
    start: usize,
    state: State,
    /// The body of the current answer, if it is chunked.
    chunks: Vec<u8>,
}

/// Offsets are relative to the start of the answer, so that they stay valid when the buffer is
/// compacted.
#[derive(Debug)]
enum State {
    Head,
    /// A body with a length, which ends at this offset.
    Length {
        head: Head,
        body: usize,
        end: usize,
    },
    /// Start of the next chunk's size line.
    Chunk {
        head: Head,
        at: usize,
    },
    /// The chunk's data, which is followed by CRLF.
    ChunkData {
        head: Head,
        at: usize,
        end: usize,
    },
    /// The trailer section, read line by line.
    Trailers {
        head: Head,
        at: usize,
    },
    /// The body ends with the connection.
    Close {
        head: Head,
        body: usize,
    },
}

pub struct Answer<'a> {
    pub head: Head,
    pub body: &'a [u8],
}

impl AnswerReader {
    pub fn new() -> Self {
        AnswerReader { buffer: Vec::with_capacity(16 * 1024), start: 0, state: State::Head, chunks: Vec::new() }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        } else if self.start > 64 * 1024 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// True if part of an answer has been read.
    pub fn is_midway(&self) -> bool {
        self.start < self.buffer.len() || !matches!(self.state, State::Head)
    }

    /// The next complete answer. 1xx answers are skipped.
    pub fn next(&mut self, question: Question) -> Result<Option<Answer<'_>>, Malformed> {
        loop {
            match std::mem::replace(&mut self.state, State::Head) {
                State::Head => {
                    let Some((head, length, framing)) = read_head(&self.buffer[self.start..], question)? else {
                        return Ok(None);
                    };
                    if (100..200).contains(&head.status) && head.status != 101 {
                        self.start += length;
                        continue;
                    }
                    self.chunks.clear();
                    self.state = match framing {
                        Framing::Length(body) => State::Length { head, body: length, end: length + body },
                        Framing::Chunked => State::Chunk { head, at: length },
                        Framing::Close => State::Close { head, body: length },
                    };
                }
                State::Length { head, body, end } => {
                    if self.available() < end {
                        self.state = State::Length { head, body, end };
                        return Ok(None);
                    }
                    let from = self.start;
                    self.start += end;
                    return Ok(Some(Answer { head, body: &self.buffer[from + body..from + end] }));
                }
                State::Chunk { head, at } => match self.line(at) {
                    None => {
                        self.state = State::Chunk { head, at };
                        return Ok(None);
                    }
                    Some(next) => {
                        let size = chunk_size(&self.buffer[self.start + at..self.start + next])?;
                        self.state = match size {
                            0 => State::Trailers { head, at: next },
                            size => State::ChunkData { head, at: next, end: next + size },
                        };
                    }
                },
                State::ChunkData { head, at, end } => {
                    if self.available() < end + 2 {
                        self.state = State::ChunkData { head, at, end };
                        return Ok(None);
                    }
                    if &self.buffer[self.start + end..self.start + end + 2] != b"\r\n" {
                        return Err(Malformed("a chunk is longer than its size says"));
                    }
                    self.chunks.extend_from_slice(&self.buffer[self.start + at..self.start + end]);
                    self.state = State::Chunk { head, at: end + 2 };
                }
                State::Trailers { head, at } => match self.line(at) {
                    None => {
                        self.state = State::Trailers { head, at };
                        return Ok(None);
                    }
                    Some(next) if next == at + 2 => {
                        self.start += next;
                        return Ok(Some(Answer { head, body: &self.chunks }));
                    }
                    Some(next) => self.state = State::Trailers { head, at: next },
                },
                State::Close { head, body } => {
                    self.state = State::Close { head, body };
                    return Ok(None);
                }
            }
        }
    }

    /// The connection ended, which completes an answer without a length.
    pub fn finish(&mut self) -> Option<Answer<'_>> {
        match std::mem::replace(&mut self.state, State::Head) {
            State::Close { head, body } => {
                let from = self.start + body;
                self.start = self.buffer.len();
                Some(Answer { head, body: &self.buffer[from..] })
            }
            other => {
                self.state = other;
                None
            }
        }
    }

    fn available(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The offset after the line that begins at `at`, if the line is complete.
    fn line(&self, at: usize) -> Option<usize> {
        let rest = &self.buffer[self.start + at..];
        rest.windows(2).position(|pair| pair == b"\r\n").map(|end| at + end + 2)
    }
}

fn chunk_size(line: &[u8]) -> Result<usize, Malformed> {
    let digits = line.split(|&byte| byte == b';' || byte == b'\r').next().unwrap_or_default();
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| usize::from_str_radix(text.trim(), 16).ok())
        .filter(|&size| size <= 1 << 40)
        .ok_or(Malformed("a chunk's size is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Question = Question { head_only: false, keep_headers: false };

    /// Feeds the bytes in pieces of every size, to test all boundaries.
    fn read_all(bytes: &[u8], question: Question) -> Vec<(u16, Vec<u8>)> {
        let mut expected: Option<Vec<(u16, Vec<u8>)>> = None;
        for size in 1..=bytes.len() {
            let mut reader = AnswerReader::new();
            let mut found = Vec::new();
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(answer) = reader.next(question).unwrap() {
                    found.push((answer.head.status, answer.body.to_vec()));
                }
            }
            if let Some(answer) = reader.finish() {
                found.push((answer.head.status, answer.body.to_vec()));
            }
            assert!(!reader.is_midway(), "pieces of {size} leave a rest");
            assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "pieces of {size}");
        }
        expected.unwrap_or_default()
    }

    #[test]
    fn answers_with_a_length_follow_each_other() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(read_all(bytes, PLAIN), vec![(200, b"ok".to_vec()), (404, vec![])]);
    }

    #[test]
    fn chunks_with_extensions_and_trailers_are_joined() {
        let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: v\r\n\r\n";
        assert_eq!(read_all(bytes, PLAIN), vec![(200, b"abc0123456789".to_vec())]);
    }

    #[test]
    fn informational_answers_are_passed_over() {
        let bytes = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(read_all(bytes, PLAIN), vec![(200, b"x".to_vec())]);
    }

    #[test]
    fn a_body_may_last_until_the_connection_ends() {
        assert_eq!(read_all(b"HTTP/1.1 200 OK\r\n\r\nall of it", PLAIN), vec![(200, b"all of it".to_vec())]);
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let question = Question { head_only: true, keep_headers: false };
        assert_eq!(read_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", question), vec![(200, vec![])]);
    }

    #[test]
    fn garbage_is_malformed() {
        for bytes in [
            &b"SSH-2.0-x\r\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            let mut reader = AnswerReader::new();
            reader.push(bytes);
            assert!(reader.next(PLAIN).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }
}
