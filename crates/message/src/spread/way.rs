//! Which messages may be spread, and over which VNIs.

use crate::mapping::{BY_SOURCE, BY_TAG, NAMED, PLANE, steps};

/// Returns true if the messages of a context may be spread: those of the program, on a communicator without
/// hints.
#[inline(always)]
pub(crate) fn may_be_spread(context: u64) -> bool {
    context & (PLANE | BY_TAG | BY_SOURCE | NAMED) == 0
}

/// The lane of a tag: a VNI other than the home. Threads mostly have consecutive tags.
#[inline(always)]
pub(crate) fn lane(home: usize, tag: i32, vnis: usize) -> u32 {
    let lanes = vnis as u32 - 1;
    let lane = home as u32 + 1 + steps(tag as u32, lanes) % lanes;
    if lane < vnis as u32 { lane } else { lane - vnis as u32 }
}
