//! Integers with a special meaning.

use super::constants as theirs;
use heddle_comm::error::is_own_code;
use heddle_spec::constants as ours;
use std::ffi::c_int;

/// A rank: the numbers below 0 have other meanings.
#[inline(always)]
pub(super) fn rank(value: c_int) -> c_int {
    if value >= 0 { value } else { theirs::to_RANKS(value) }
}

/// A rank that goes to the program.
#[inline(always)]
pub(super) fn their_rank(value: c_int) -> c_int {
    if value >= 0 { value } else { theirs::from_RANKS(value) }
}

/// A tag.
#[inline(always)]
pub(super) fn tag(value: c_int) -> c_int {
    if value >= 0 { value } else { theirs::to_TAGS(value) }
}

/// A tag that goes to the program.
#[inline(always)]
pub(super) fn their_tag(value: c_int) -> c_int {
    if value >= 0 { value } else { theirs::from_TAGS(value) }
}

/// An error code of the program's: a class of the standard, one that was added, or one of Heddle's own, which
/// are the same in all ABIs.
pub(super) fn error(code: c_int) -> c_int {
    match code.checked_sub(theirs::MPI_ERR_LASTCODE) {
        _ if is_own_code(code) => code,
        Some(added @ 1..) => ours::MPI_ERR_LASTCODE + added,
        _ => theirs::to_ERROR_CLASSES(code),
    }
}

/// An error code that goes to the program.
#[cold]
pub(super) fn their_error(code: c_int) -> c_int {
    match code.checked_sub(ours::MPI_ERR_LASTCODE) {
        _ if is_own_code(code) => code,
        Some(added @ 1..) => theirs::MPI_ERR_LASTCODE.saturating_add(added),
        _ => theirs::from_ERROR_CLASSES(code),
    }
}

/// The result of a call, as the program gets it.
#[inline(always)]
pub(super) fn result(code: c_int) -> c_int {
    if code == ours::MPI_SUCCESS { code } else { their_error(code) }
}
