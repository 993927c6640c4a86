//! Parts of a head, as positions in its buffer.

/// A range of bytes in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub at: u32,
    pub len: u32,
}

impl Span {
    pub fn new(buffer: &[u8], part: &[u8]) -> Self {
        Self { at: (part.as_ptr() as usize - buffer.as_ptr() as usize) as u32, len: part.len() as u32 }
    }

    pub fn of(self, buffer: &[u8]) -> &[u8] {
        &buffer[self.at as usize..(self.at + self.len) as usize]
    }
}
