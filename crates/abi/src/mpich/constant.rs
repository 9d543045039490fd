//! Integers and addresses with a special meaning.

use super::constants as theirs;
use heddle_spec::constants as ours;
use std::ffi::{c_int, c_void};

/// A rank: the numbers below 0 have other meanings.
#[inline(always)]
pub(super) fn rank(value: c_int) -> c_int {
    if value >= 0 { value } else { special_rank(value) }
}

#[cold]
fn special_rank(value: c_int) -> c_int {
    match value {
        theirs::MPI_ANY_SOURCE => ours::MPI_ANY_SOURCE,
        theirs::MPI_PROC_NULL => ours::MPI_PROC_NULL,
        theirs::MPI_ROOT => ours::MPI_ROOT,
        ours::MPI_ROOT => c_int::MIN,
        value => value,
    }
}

/// A rank that goes to the program.
#[inline(always)]
pub(super) fn their_rank(value: c_int) -> c_int {
    if value >= 0 { value } else { their_special_rank(value) }
}

#[cold]
fn their_special_rank(value: c_int) -> c_int {
    match value {
        ours::MPI_ANY_SOURCE => theirs::MPI_ANY_SOURCE,
        ours::MPI_PROC_NULL => theirs::MPI_PROC_NULL,
        ours::MPI_ROOT => theirs::MPI_ROOT,
        value => value,
    }
}

/// A tag.
#[inline(always)]
pub(super) fn tag(value: c_int) -> c_int {
    if value >= 0 { value } else { special_tag(value) }
}

#[cold]
fn special_tag(value: c_int) -> c_int {
    match value {
        theirs::MPI_ANY_TAG => ours::MPI_ANY_TAG,
        ours::MPI_ANY_TAG => c_int::MIN,
        value => value,
    }
}

/// A tag that goes to the program.
#[inline(always)]
pub(super) fn their_tag(value: c_int) -> c_int {
    if value == ours::MPI_ANY_TAG { theirs::MPI_ANY_TAG } else { value }
}

/// An error code of the program's: a class of the standard, or one that was added.
pub(super) fn error(code: c_int) -> c_int {
    match code.checked_sub(theirs::MPI_ERR_LASTCODE) {
        Some(added @ 1..) => ours::MPI_ERR_LASTCODE + added,
        _ => theirs::to_ERROR_CLASSES(code),
    }
}

/// An error code that goes to the program.
#[cold]
pub(super) fn their_error(code: c_int) -> c_int {
    match code.checked_sub(ours::MPI_ERR_LASTCODE) {
        Some(added @ 1..) => theirs::MPI_ERR_LASTCODE.saturating_add(added),
        _ => theirs::from_ERROR_CLASSES(code),
    }
}

/// What a call returns to the program.
#[inline(always)]
pub(super) fn result(code: c_int) -> c_int {
    if code == ours::MPI_SUCCESS { code } else { their_error(code) }
}

/// A buffer: two addresses at the end of memory have other meanings.
#[inline(always)]
pub(super) fn buffer(address: *const c_void) -> *mut c_void {
    let from_end = address.addr().wrapping_neg();
    match from_end {
        // MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC have these values in both ABIs, from the other end.
        1 | 2 => std::ptr::without_provenance_mut(from_end),
        _ => address.cast_mut(),
    }
}
