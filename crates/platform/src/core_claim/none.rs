//! No claims: every one fails.

use crate::atomic::AtomicU32;

pub(super) fn is_supported() -> bool {
    false
}

#[inline(always)]
pub(super) fn claim(_: &AtomicU32, _: &AtomicU32) -> bool {
    false
}

pub(super) fn barrier(_: u32) {}
