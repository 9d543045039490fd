//! Values that tell which output a call has not set.

use heddle_spec::Status;
use std::ffi::c_int;

/// The word of a handle that no call sets.
pub(super) const UNSET_HANDLE: usize = usize::MAX;

/// A field of a status that no call sets.
pub(super) const UNSET_FIELD: c_int = c_int::MIN;

/// A status that no call has set.
pub(super) const UNSET_STATUS: Status =
    Status { source: UNSET_FIELD, tag: UNSET_FIELD, error: UNSET_FIELD, internal: [0; 5] };
