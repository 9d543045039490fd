//! Statuses that a call sets.

use super::status::{IGNORE, Status};
use heddle_spec::Status as Ours;
use std::ffi::c_int;

/// What a call does not set.
pub(super) const UNSET: c_int = c_int::MIN;

/// A status that no call has set.
pub(super) const NONE: Ours = Ours { source: UNSET, tag: UNSET, error: UNSET, internal: [0; 5] };

/// Returns true if the program wants no status here.
pub(super) fn is_ignored(at: *const Status) -> bool {
    at.addr() <= IGNORE
}

/// A status that a call sets, or reads and sets.
pub(super) struct ConvertedStatus {
    at: *mut Status,
    ours: Ours,
}

impl ConvertedStatus {
    /// For a call that sets the status.
    #[inline(always)]
    pub(super) fn new(at: *mut Status) -> ConvertedStatus {
        ConvertedStatus { at, ours: NONE }
    }

    /// For a call that reads it first, too.
    ///
    /// # Safety
    /// The address is null, `MPI_STATUS_IGNORE` or that of a status.
    pub(super) unsafe fn given(at: *mut Status) -> ConvertedStatus {
        let ours = if is_ignored(at) {
            NONE
        } else {
            // SAFETY: the caller's promise.
            unsafe { *at }.ours()
        };
        ConvertedStatus { at, ours }
    }

    /// The address for the call.
    #[inline(always)]
    pub(super) fn pointer(&mut self) -> *mut Ours {
        if is_ignored(self.at) { std::ptr::null_mut() } else { &raw mut self.ours }
    }

    /// Hands over what the call has set.
    ///
    /// # Safety
    /// The address is null, `MPI_STATUS_IGNORE` or that of a status of the program's.
    #[inline(always)]
    pub(super) unsafe fn hand_over(&self) {
        if !is_ignored(self.at) {
            // SAFETY: the caller's promise.
            unsafe { (*self.at).take(&self.ours) };
        }
    }
}
