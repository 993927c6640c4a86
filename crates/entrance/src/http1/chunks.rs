//! Decodes a chunked body. Extensions are checked and dropped. Trailers are checked and kept as
//! text. The decoder accepts a subset of what Node's parser accepts: extensions must be tokens or
//! quoted strings.

use super::fields::{field_of, is_token_byte};
use super::refusal::Refusal;

/// Limit for the extensions of one chunk, in bytes. Node has the same.
const MAX_EXTENSION: usize = 16 * 1024;
/// Limit for the digits of a chunk size, leading zeros included.
const MAX_DIGITS: u32 = 64;

#[derive(Debug)]
pub struct Chunks {
    state: State,
    left: u64,
    digits: u32,
    extension: usize,
    max_trailers: usize,
    /// Bytes of data so far. The caller counts them.
    pub total: u64,
    /// Field lines with their line ends. Empty if there are none.
    pub trailers: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size,
    Extension,
    Quoted,
    Escaped,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    Trailers,
    Done,
}

/// The result of one step.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// This many bytes were framing.
    Skip(usize),
    /// The next bytes, this many, are data.
    Data(usize),
    /// The input is used up. More is expected.
    More,
    Done,
}

impl Chunks {
    pub fn new(max_trailers: usize) -> Self {
        Self { state: State::Size, left: 0, digits: 0, extension: 0, max_trailers, total: 0, trailers: Vec::new() }
    }

    /// The caller consumes as many bytes as the result says before it calls again.
    pub fn step(&mut self, input: &[u8]) -> Result<Step, Refusal> {
        match self.state {
            State::Done => Ok(Step::Done),
            _ if input.is_empty() => Ok(Step::More),
            State::Data => {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
                self.left -= length as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                Ok(Step::Data(length))
            }
            State::Trailers => self.trailer(input),
            _ => {
                for (at, &byte) in input.iter().enumerate() {
                    if matches!(self.state, State::Data | State::Trailers) {
                        return Ok(Step::Skip(at));
                    }
                    self.framing(byte)?;
                }
                Ok(Step::Skip(input.len()))
            }
        }
    }

    fn framing(&mut self, byte: u8) -> Result<(), Refusal> {
        self.state = match (self.state, byte) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (State::Size, b';') if self.digits > 0 => State::Extension,
            (State::Size, b'\r') if self.digits > 0 => State::SizeEnd,
            (State::Extension, b'\r') => State::SizeEnd,
            (State::Extension, b'"') => self.extend(State::Quoted)?,
            (State::Extension, b';' | b'=') => self.extend(State::Extension)?,
            (State::Extension, _) if is_token_byte(byte) => self.extend(State::Extension)?,
            (State::Quoted, b'"') => self.extend(State::Extension)?,
            (State::Quoted, b'\\') => self.extend(State::Escaped)?,
            (State::Quoted | State::Escaped, b'\t' | b' '..=b'~' | 0x80..) => self.extend(State::Quoted)?,
            (State::SizeEnd, b'\n') => self.size_ended(),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size,
            _ => return Err(Refusal::Malformed),
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8) -> Result<State, Refusal> {
        let value = (byte as char).to_digit(16).unwrap_or(0);
        self.digits += 1;
        self.left = self.left.checked_mul(16).ok_or(Refusal::Malformed)? + u64::from(value);
        if self.digits > MAX_DIGITS { Err(Refusal::Malformed) } else { Ok(State::Size) }
    }

    fn extend(&mut self, next: State) -> Result<State, Refusal> {
        self.extension += 1;
        if self.extension > MAX_EXTENSION { Err(Refusal::ExtensionTooLarge) } else { Ok(next) }
    }

    fn size_ended(&mut self) -> State {
        self.digits = 0;
        self.extension = 0;
        if self.left > 0 { State::Data } else { State::Trailers }
    }

    fn trailer(&mut self, input: &[u8]) -> Result<Step, Refusal> {
        let length = memchr::memchr(b'\n', input).map_or(input.len(), |at| at + 1);
        if self.trailers.len() + length > self.max_trailers {
            return Err(Refusal::HeadTooLarge);
        }
        self.trailers.extend_from_slice(&input[..length]);
        if self.trailers.ends_with(b"\n") {
            self.trailer_ended()?;
        }
        Ok(Step::Skip(length))
    }

    fn trailer_ended(&mut self) -> Result<(), Refusal> {
        let before = &self.trailers[..self.trailers.len() - 1];
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = before[start..].strip_suffix(b"\r").ok_or(Refusal::Malformed)?;
        if line.is_empty() {
            self.trailers.truncate(start);
            self.state = State::Done;
            return Ok(());
        }
        let (name, _) = field_of(line).ok_or(Refusal::Malformed)?;
        // Node refuses these too: they would change the framing of a message that is already read.
        if name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err(Refusal::Malformed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the data, the trailers and the number of unread bytes. Feeds pieces of `size` bytes.
    fn read(text: &[u8], size: usize) -> Result<(Vec<u8>, Vec<u8>, usize), Refusal> {
        let mut chunks = Chunks::new(100);
        let (mut at, mut end, mut data) = (0, 0, Vec::new());
        loop {
            match chunks.step(&text[at..end])? {
                Step::Skip(length) => at += length,
                Step::Data(length) => {
                    data.extend_from_slice(&text[at..at + length]);
                    at += length;
                }
                Step::Done => return Ok((data, chunks.trailers, text.len() - at)),
                Step::More if end == text.len() => return Ok((data, b"unfinished".to_vec(), 0)),
                Step::More => end = (end + size).min(text.len()),
            }
        }
    }

    #[test]
    fn data_is_taken_out_whatever_the_pieces() {
        for size in 1..30 {
            let text = b"5\r\nhello\r\n0A;a=b;c=\"d;\\\"\"\r\n0123456789\r\n0\r\nX-T: z\r\ny: \r\n\r\nGET";
            let (data, trailers, left) = read(text, size).unwrap();
            assert_eq!(data, b"hello0123456789");
            assert_eq!(trailers, b"X-T: z\r\ny: \r\n");
            assert_eq!(left, 3);
        }
        assert_eq!(read(b"0000000000000000000000005\r\nhello\r\n0\r\n\r\n", 9).unwrap().0, b"hello");
    }

    #[test]
    fn other_framing_is_refused() {
        for text in [
            &b"5;a\nhello"[..],
            b"5;a\rX\r\n",
            b"5;\0\r\n",
            b"FFFFFFFFFFFFFFFFF\r\n",
            b"10000000000000005\r\n",
            b"0x5\r\n",
            b"-5\r\n",
            b"+5\r\n",
            b" 5\r\n",
            b"5 \r\n",
            b"5\t\r\n",
            b"\r\nhello",
            b"g\r\n",
            b"5\r\nhello0\r\n\r\n",
            b"5\nhello\r\n",
            b"5\r\nhello\n0\r\n\r\n",
            b"5\rhello\r0\r\r",
            b"5\r\nhelloXX0\r\n\r\n",
            b"5\r\nhello\r\n0\r\n\n",
            b"5\r\nhello\r\n0\n\n",
            b"1_0\r\n",
            b"0\r\nContent-Length: 50\r\n\r\n",
            b"0\r\ntransfer-encoding: chunked\r\n\r\n",
            b"0\r\nX Y: z\r\n\r\n",
            b"0\r\nX: z\r\n y\r\n\r\n",
        ] {
            for size in [1, 100] {
                assert_eq!(read(text, size).unwrap_err(), Refusal::Malformed, "{:?}", String::from_utf8_lossy(text));
            }
        }
        let long = [b"5;a=", &[b'b'; 20_000][..]].concat();
        assert_eq!(read(&long, 1000).unwrap_err(), Refusal::ExtensionTooLarge);
        let long = [b"0\r\nX: ", &[b'b'; 200][..]].concat();
        assert_eq!(read(&long, 1000).unwrap_err(), Refusal::HeadTooLarge);
    }

    #[test]
    fn an_unfinished_body_is_unfinished() {
        assert_eq!(read(b"5\r\nhel", 2).unwrap().1, b"unfinished");
    }
}
