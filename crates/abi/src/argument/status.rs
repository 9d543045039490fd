//! Output statuses.

use super::out::null_pointer;
use crate::error::{Error, Result};
use heddle_p2p::request::Outcome;
use heddle_spec::Status;
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_SUCCESS};
use std::mem::offset_of;
use std::ptr::NonNull;

/// The destination of statuses. `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` are null
/// pointers: no status is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusOut(Option<NonNull<Status>>);

impl StatusOut {
    /// # Safety
    ///
    /// `pointer` is null or points to room for all statuses that are stored later; before `update`,
    /// to a status with values.
    pub(crate) unsafe fn new(pointer: *mut Status) -> Self {
        Self(NonNull::new(pointer))
    }

    /// Returns true if the program wants no status.
    pub(crate) fn is_ignored(self) -> bool {
        self.0.is_none()
    }

    /// Stores a status, unless it is ignored. `MPI_ERROR` stays as it is: only functions that complete
    /// several requests set it (MPI 5.0, section 3.2.5).
    #[inline]
    pub(crate) fn set(self, status: Status) {
        if let Some(pointer) = self.0 {
            let Status { source, tag, error: _, internal } = status;
            // SAFETY: `new` was promised that the pointer is valid; these are the first two words of the
            // status.
            unsafe { pointer.cast().write([source, tag]) };
            // SAFETY: the offset of a field in a valid status.
            let field = unsafe { pointer.byte_add(offset_of!(Status, internal)) };
            // SAFETY: a field of a status that is valid for writing, by the promise made to `new`.
            unsafe { field.cast().write(internal) };
        }
    }

    /// Stores the outcome of an operation as [`StatusOut::set`] does. An empty status, which has no source,
    /// also gets `MPI_SUCCESS` as its `MPI_ERROR` (MPI 5.0, section 3.7.3).
    #[inline]
    pub(crate) fn report(self, outcome: &Outcome) {
        if !self.is_ignored() {
            self.set(status(outcome));
            if outcome.source == MPI_ANY_SOURCE {
                self.set_error_at(0, MPI_SUCCESS);
            }
        }
    }

    /// Stores the outcome of request `index` in an array of statuses, `MPI_ERROR` left as it is.
    #[inline]
    pub(crate) fn report_at(self, index: usize, outcome: &Outcome) {
        if let Some(pointer) = self.0 {
            // SAFETY: `new` was promised room for a status for each request.
            Self(Some(unsafe { pointer.add(index) })).report(outcome);
        }
    }

    /// Stores the `MPI_ERROR` of request `index` in an array of statuses.
    pub(crate) fn set_error_at(self, index: usize, error: i32) {
        if let Some(pointer) = self.0 {
            // SAFETY: `new` was promised room for a status for each request.
            let element = unsafe { pointer.add(index) };
            // SAFETY: the offset of a field in a valid status.
            let field = unsafe { element.byte_add(offset_of!(Status, error)) };
            // SAFETY: a field of a status that is valid for writing, by the promise made to `new`.
            unsafe { field.cast().write(error) };
        }
    }

    /// Changes a status of the program's.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn update(self, change: impl FnOnce(&mut Status)) -> Result<()> {
        let mut pointer = self.0.ok_or_else(null_pointer)?;
        // SAFETY: `new` was promised a status with values, which no other thread uses
        // until the function returns.
        change(unsafe { pointer.as_mut() });
        Ok(())
    }
}

/// The status of an outcome. Of the library's words in it, the first two hold the number of bytes, and the
/// third says whether the operation was cancelled.
#[inline]
pub(crate) fn status(outcome: &Outcome) -> Status {
    Status {
        source: outcome.source,
        tag: outcome.tag,
        error: outcome.error.as_ref().map_or(MPI_SUCCESS, Error::code),
        internal: [outcome.bytes as i32, (outcome.bytes >> 32) as i32, i32::from(outcome.cancelled), 0, 0],
    }
}

/// The number of bytes in a status.
pub(crate) fn bytes_of(status: &Status) -> i64 {
    i64::from(status.internal[0] as u32) | i64::from(status.internal[1]) << 32
}

/// Sets the number of bytes in a status.
pub(crate) fn set_bytes(status: &mut Status, bytes: i64) {
    status.internal[0] = bytes as i32;
    status.internal[1] = (bytes >> 32) as i32;
}

/// Returns true if a status says that the operation was cancelled.
pub(crate) fn is_cancelled(status: &Status) -> bool {
    status.internal[2] != 0
}

/// Says in a status whether the operation was cancelled.
pub(crate) fn set_cancelled(status: &mut Status, cancelled: bool) {
    status.internal[2] = i32::from(cancelled);
}
