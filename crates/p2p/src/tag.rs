//! Which tags messages may have.

/// Returns true if a message may have this tag: every one that is not negative, since `MPI_TAG_UB` is the
/// largest `int`.
#[inline(always)]
#[must_use]
pub fn is_tag(tag: i32) -> bool {
    tag >= 0
}
