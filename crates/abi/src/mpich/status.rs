//! Statuses: five integers in MPICH's ABI.

use super::constant;
use super::unset::{UNSET_FIELD, UNSET_STATUS};
use crate::argument::{bytes_of, is_cancelled, set_bytes, set_cancelled};
use heddle_spec::Status as Ours;
use std::ffi::c_int;

/// `MPI_Status` of MPICH's header.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    count_low: c_int,
    /// Above a bit that says whether the operation was cancelled.
    count_high: c_int,
    source: c_int,
    tag: c_int,
    error: c_int,
}

/// The address `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
pub(super) const IGNORE: usize = 1;

impl Status {
    /// A status without values.
    pub(super) const EMPTY: Status = Status { count_low: 0, count_high: 0, source: 0, tag: 0, error: 0 };

    /// The status as the standard's ABI has it.
    pub(super) fn ours(&self) -> Ours {
        let mut status = UNSET_STATUS;
        status.source = constant::rank(self.source);
        status.tag = constant::tag(self.tag);
        status.error = constant::error(self.error);
        set_bytes(
            &mut status,
            i64::from(self.count_high as u32 >> 1) << 32 | i64::from(self.count_low as u32),
        );
        set_cancelled(&mut status, self.count_high & 1 != 0);
        status
    }

    /// Takes over what a call has set.
    pub(super) fn take(&mut self, from: &Ours) {
        if from.source != UNSET_FIELD {
            let bytes = bytes_of(from);
            self.count_low = bytes as c_int;
            self.count_high = ((bytes >> 32) as c_int) << 1 | c_int::from(is_cancelled(from));
            self.source = constant::their_rank(from.source);
            self.tag = constant::their_tag(from.tag);
        }
        if from.error != UNSET_FIELD {
            self.error = constant::their_error(from.error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::constants as mpi;

    #[test]
    fn a_status_goes_there_and_back() {
        let mut ours = Ours { source: mpi::MPI_PROC_NULL, tag: mpi::MPI_ANY_TAG, ..UNSET_STATUS };
        set_bytes(&mut ours, (5 << 32) + 7);
        set_cancelled(&mut ours, true);
        let mut theirs = Status { count_low: 0, count_high: 0, source: 0, tag: 0, error: 99 };
        theirs.take(&ours);
        assert_eq!(theirs, Status { count_low: 7, count_high: 11, source: -1, tag: -1, error: 99 });
        let back = theirs.ours();
        assert_eq!((back.source, back.tag), (ours.source, ours.tag));
        assert_eq!((bytes_of(&back), is_cancelled(&back)), ((5 << 32) + 7, true));
        set_bytes(&mut ours, i64::MAX);
        theirs.take(&ours);
        assert_eq!(bytes_of(&theirs.ours()), i64::MAX, "all 63 bits");
        let before = theirs;
        theirs.take(&UNSET_STATUS);
        assert_eq!(theirs, before, "nothing was set");
    }
}
