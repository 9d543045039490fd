//! The limits of what an operation publishes in a lane.

/// Data that readers wait for go in so many parts, at least, of so many bytes or more.
const FEWEST_PARTS: usize = 4;
const SHORTEST_PART: usize = 16 << 10;

/// The limits of what an operation publishes in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes in a round.
    pub bytes: usize,
    /// The most parts of a vector, each in a round.
    pub parts: u32,
    /// Data of this many bytes or more may be exposed, if the processes can copy from each other's memory.
    pub exposed: Option<usize>,
    /// True if each process may have a core of its own. All processes have the same answer.
    pub each_has_a_core: bool,
}

impl Limits {
    /// The limits for data of that many bytes that one process has and others wait for: those read a part
    /// while it publishes the next.
    #[inline(always)]
    #[must_use]
    pub fn pipelined(self, bytes: usize) -> Limits {
        let part = bytes.div_ceil(FEWEST_PARTS).max(SHORTEST_PART);
        Limits { bytes: self.bytes.min(part), ..self }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_others_wait_for_have_four_parts_if_those_are_not_short() {
        let limits = Limits { bytes: 128 << 10, parts: 1000, exposed: None, each_has_a_core: false };
        for (kib, part) in
            [(1, 16), (16, 16), (32, 16), (64, 16), (128, 32), (400, 100), (512, 128), (4096, 128)]
        {
            assert_eq!(limits.pipelined(kib << 10).bytes, part << 10, "{kib} KiB");
        }
        let short = Limits { bytes: 256, ..limits };
        assert_eq!(short.pipelined(1 << 20), short);
    }
}
