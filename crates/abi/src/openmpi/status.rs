//! Statuses: four integers and a word in Open MPI's ABI.

use super::constant;
use super::unset::{UNSET_FIELD, UNSET_STATUS};
use crate::argument::{bytes_of, is_cancelled, set_bytes, set_cancelled};
use heddle_spec::Status as Ours;
use std::ffi::c_int;

/// `MPI_Status` of Open MPI's header. One of Fortran lies where integers may.
#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    bytes: usize,
}

/// The address `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
pub(super) const IGNORE: usize = 0;

impl Status {
    /// A status without values.
    pub(super) const EMPTY: Status = Status { source: 0, tag: 0, error: 0, cancelled: 0, bytes: 0 };

    /// The status as the standard's ABI has it.
    pub(super) fn ours(&self) -> Ours {
        let mut status = UNSET_STATUS;
        status.source = constant::rank(self.source);
        status.tag = constant::tag(self.tag);
        status.error = constant::error(self.error);
        set_bytes(&mut status, self.bytes as i64);
        set_cancelled(&mut status, self.cancelled != 0);
        status
    }

    /// Takes over what a call has set.
    pub(super) fn take(&mut self, from: &Ours) {
        if from.source != UNSET_FIELD {
            self.source = constant::their_rank(from.source);
            self.tag = constant::their_tag(from.tag);
            self.cancelled = c_int::from(is_cancelled(from));
            self.bytes = bytes_of(from) as usize;
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
        let mut theirs = Status { error: 99, ..Status::EMPTY };
        theirs.take(&ours);
        assert_eq!(theirs, Status { source: -2, tag: -1, error: 99, cancelled: 1, bytes: (5 << 32) + 7 });
        let back = theirs.ours();
        assert_eq!((back.source, back.tag), (ours.source, ours.tag));
        assert_eq!((bytes_of(&back), is_cancelled(&back)), ((5 << 32) + 7, true));
        let before = theirs;
        theirs.take(&UNSET_STATUS);
        assert_eq!(theirs, before, "nothing was set");
    }
}
