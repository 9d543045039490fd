//! Which messages may be spread, and over which VNIs.

use crate::mapping::{BY_SOURCE, BY_TAG, NAMED, PLANE, steps};
use heddle_transport::Envelope;

/// Returns true if the messages of a context may be spread: those of the program, on a communicator without
/// hints.
#[inline(always)]
pub(crate) fn may_be_spread(context: u64) -> bool {
    context & (PLANE | BY_TAG | BY_SOURCE | NAMED) == 0
}

/// The property that messages of one communicator share if they share a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpreadBy {
    /// Their tag. So a thread with a tag of its own has one lane for all its peers.
    Tag,
    /// Their tag and their source: the receiver's threads have a peer each, and no tags of their own.
    TagAndSource,
}

impl SpreadBy {
    /// The bit that says it in a message to another process, and in the marks of a channel.
    #[inline(always)]
    pub(crate) fn bit(self) -> u64 {
        self as u64
    }

    /// Reads the lowest bit.
    #[inline(always)]
    pub(crate) fn of_bit(bits: u64) -> SpreadBy {
        if bits & 1 == 0 { SpreadBy::Tag } else { SpreadBy::TagAndSource }
    }
}

/// The lane of a message: a VNI other than the home. Threads mostly have consecutive tags, or consecutive
/// peers; if both, they have lanes of their own all the same, since the number of lanes is mostly odd.
#[inline(always)]
pub(crate) fn lane(home: usize, by: SpreadBy, envelope: Envelope, vnis: usize) -> u32 {
    let lanes = vnis as u32 - 1;
    let source = envelope.source() as u32 & (by.bit() as u32).wrapping_neg();
    let steps = steps(envelope.tag() as u32, lanes).wrapping_add(source);
    let lane = home as u32 + 1 + steps % lanes;
    if lane < vnis as u32 { lane } else { lane - vnis as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// How many lanes 63 threads have, each with its source and tag.
    fn lanes(by: SpreadBy, of: impl Fn(i32) -> (i32, i32)) -> usize {
        let lane = |(source, tag)| lane(5, by, Envelope::new(source, tag), 64);
        let lanes: HashSet<u32> = (0..63).map(|thread| lane(of(thread))).collect();
        assert!(!lanes.contains(&5), "the home is no lane");
        lanes.len()
    }

    #[test]
    fn threads_with_a_tag_or_a_peer_of_their_own_have_a_lane_of_their_own() {
        assert_eq!(lanes(SpreadBy::Tag, |thread| (thread % 4, thread)), 63);
        assert_eq!(lanes(SpreadBy::Tag, |thread| (thread, 3)), 1);
        let by = SpreadBy::TagAndSource;
        assert_eq!(lanes(by, |thread| (3, thread)), 63);
        assert_eq!(lanes(by, |thread| (thread, 3)), 63);
        assert_eq!(lanes(by, |thread| (thread, thread)), 63);
        for by in [SpreadBy::Tag, SpreadBy::TagAndSource] {
            assert_eq!(SpreadBy::of_bit(by.bit()), by);
        }
    }
}
