//! Statuses that go out.

use super::out::null_pointer;
use crate::error::Result;
use heddle_spec::Status;
use std::mem::offset_of;
use std::ptr::NonNull;

/// Where statuses go; `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` are null pointers, and say nowhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusOut(Option<NonNull<Status>>);

impl StatusOut {
    /// # Safety
    ///
    /// `pointer` is null or points to as many statuses as are later stored; where `update` is used, to one with values.
    pub(crate) unsafe fn new(pointer: *mut Status) -> Self {
        Self(NonNull::new(pointer))
    }

    /// Whether the program wants no status.
    pub(crate) fn is_ignored(self) -> bool {
        self.0.is_none()
    }

    /// Stores a status, unless it is ignored. `MPI_ERROR` stays as it is: only functions that complete several requests
    /// set it (MPI 5.0, section 3.2.5).
    #[inline]
    pub(crate) fn set(self, status: Status) {
        if let Some(pointer) = self.0 {
            let Status { source, tag, error: _, internal } = status;
            // SAFETY: `new` was promised that the pointer is valid; these are the first two words of the status.
            unsafe { pointer.cast().write([source, tag]) };
            // SAFETY: the place of a field in a valid status.
            let place = unsafe { pointer.byte_add(offset_of!(Status, internal)) };
            // SAFETY: as above.
            unsafe { place.cast().write(internal) };
        }
    }

    /// Stores the status of request `index`, its `MPI_ERROR` included, unless statuses are ignored.
    pub(crate) fn set_at(self, index: usize, status: Status) {
        if let Some(pointer) = self.0 {
            // SAFETY: `new` was promised room for as many statuses as there are requests.
            let element = unsafe { pointer.add(index) };
            // SAFETY: as above.
            unsafe { element.write(status) };
        }
    }

    /// Changes a status of the program's.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn update(self, change: impl FnOnce(&mut Status)) -> Result<()> {
        let mut pointer = self.0.ok_or_else(null_pointer)?;
        // SAFETY: `new` was promised a status with values, which nobody else uses meanwhile.
        change(unsafe { pointer.as_mut() });
        Ok(())
    }
}
