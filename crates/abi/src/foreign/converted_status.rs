//! Statuses that a call sets.

use super::status::{IGNORE, Status};
use super::unset::UNSET_STATUS;
use heddle_spec::Status as Ours;

/// Returns true if the program wants no status here.
pub(super) fn is_ignored(at: *const Status) -> bool {
    at.is_null() || at.addr() == IGNORE
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
        ConvertedStatus { at, ours: UNSET_STATUS }
    }

    /// For a call that reads it first, too.
    ///
    /// # Safety
    /// The address is null, `MPI_STATUS_IGNORE` or that of a status.
    pub(super) unsafe fn given(at: *mut Status) -> ConvertedStatus {
        let ours = if is_ignored(at) {
            UNSET_STATUS
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
