//! The limits of what an operation publishes in a lane.

/// The limits of what an operation publishes in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes in a round.
    pub bytes: usize,
    /// The most parts of a vector, each in a round.
    pub parts: u32,
    /// Data of this many bytes or more may be exposed, if the processes can copy from each other's memory.
    pub exposed: Option<usize>,
}

impl Limits {
    /// Returns true if data of that many bytes can be read in one round, by computing nothing with them.
    #[inline(always)]
    #[must_use]
    pub fn takes(&self, bytes: usize) -> bool {
        bytes <= self.bytes || self.exposed.is_some_and(|least| bytes >= least)
    }

    /// Returns true if data of that many bytes can be published, in as many rounds as there may be parts.
    #[inline(always)]
    #[must_use]
    pub fn takes_in_parts(&self, bytes: usize) -> bool {
        bytes.div_ceil(self.bytes) <= self.parts as usize
    }

    /// Returns true if data that are too long for one round are to be published in parts: if they have fewer
    /// than `exposed` bytes, or cannot be exposed.
    #[inline(always)]
    #[must_use]
    pub fn prefers_parts(&self, bytes: usize, exposed: usize) -> bool {
        bytes < exposed || self.exposed.is_none()
    }

    /// Returns true if data of any number of bytes can be read in one round, by computing nothing with them.
    #[inline(always)]
    #[must_use]
    pub fn takes_all(&self) -> bool {
        self.exposed.is_some_and(|least| least <= self.bytes + 1)
    }
}
