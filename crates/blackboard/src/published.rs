//! Rounds, and what a process publishes in one.

use heddle_message::buffer::Buffer;

/// A round of a lane.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    pub(crate) lane: u32,
    pub(crate) number: u32,
}

impl Round {
    /// The round that follows it after `rounds` − 1 others.
    #[inline(always)]
    #[must_use]
    pub fn after(self, rounds: u32) -> Round {
        Round { number: self.number.wrapping_add(rounds), ..self }
    }
}

/// A span of bytes of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Its bytes.
    pub len: usize,
}

impl Span {
    /// All the data of a buffer.
    #[inline(always)]
    #[must_use]
    pub fn of(buffer: &Buffer) -> Span {
        Span { start: 0, len: buffer.len() }
    }
}

/// The data that a process has published in a round, with their description.
#[derive(Debug)]
pub struct Published {
    /// A number for what the process does in this round. All processes should publish the same.
    pub what: u32,
    /// Bytes of data, or of those of which they are a part.
    pub len: usize,
    /// Where they are.
    pub data: Data,
}

/// Where published data are until the caller finishes the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Here, aligned for every basic type.
    Mapped(*const u8),
    /// At this address in the memory of the process that has published them.
    Exposed(u64),
    /// The process sends them in a message.
    InMessage,
    /// There was no memory for them, or they cannot be mapped.
    Nowhere,
}
