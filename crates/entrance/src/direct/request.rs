//! A request, as its record has it.

use crate::http1::framing::Framing;
use crate::http1::parser::{Fields, Head, Progress, parse};
use crate::http1::refusal::{escaped, without_query};
use crate::worker::record::{Header, REQUEST_WORDS, word};

pub struct Request {
    pub text: Vec<u8>,
    pub head: Head,
    pub fields: Fields,
    /// What there is of the body.
    pub body: Vec<u8>,
    /// How much of it is to come.
    pub left: usize,
}

impl Request {
    pub fn of(record: &[u8]) -> Option<Self> {
        let fields = word(record, REQUEST_WORDS - 1) as usize;
        let start = (REQUEST_WORDS + fields * 4) * 4;
        let [head_length, body_length] = Header::of(record).lengths.map(|length| length as usize);
        let text = record.get(start..start + head_length)?.to_vec();
        let body = record.get(start + head_length..start + head_length + body_length)?.to_vec();
        let mut fields = Fields::new();
        let head = parse(&text, &mut Progress::default(), &mut fields, usize::MAX, usize::MAX).ok()??;
        let left = match head.framing {
            Framing::Length(length) => usize::try_from(length).ok()?.saturating_sub(body.len()),
            _ => 0,
        };
        Some(Self { text, head, fields, body, left })
    }

    pub fn is_head(&self) -> bool {
        self.head.method.of(&self.text) == b"HEAD"
    }

    pub fn path(&self) -> String {
        escaped(without_query(self.head.target.of(&self.text)))
    }
}
