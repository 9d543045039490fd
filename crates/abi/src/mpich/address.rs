//! Addresses with a special meaning.

use heddle_spec::constants::{MPI_BUFFER_AUTOMATIC, MPI_SUCCESS};
use std::ffi::{c_int, c_void};

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

/// The weights of neighbours: what stands for none is a pointer in the library, with the standard's value.
pub(super) fn weights(address: *const c_int) -> *const c_int {
    address
}

/// A handle of a performance variable: what stands for all is such a pointer, too.
pub(super) fn pvar_handle(word: usize) -> usize {
    word
}

/// The address of a buffer that was detached: one of them is no address.
///
/// # Safety
/// The arguments are those of `MPI_Buffer_detach` or its like, which has returned `code`.
pub(super) unsafe fn detached(code: c_int, buffer: *mut c_void) {
    if code != MPI_SUCCESS {
        return;
    }
    // SAFETY: the call has stored an address there.
    if let Some(address) = unsafe { buffer.cast::<usize>().as_mut() }
        && *address == MPI_BUFFER_AUTOMATIC
    {
        *address = MPI_BUFFER_AUTOMATIC.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::constants::MPI_IN_PLACE;

    #[test]
    fn special_addresses_are_converted_there_and_back() {
        assert_eq!(buffer(std::ptr::without_provenance(usize::MAX)).addr(), MPI_IN_PLACE);
        assert_eq!(buffer(std::ptr::without_provenance(64)).addr(), 64);
        let mut address = MPI_BUFFER_AUTOMATIC;
        // SAFETY: a variable of ours.
        unsafe { detached(MPI_SUCCESS, (&raw mut address).cast()) };
        assert_eq!(buffer(std::ptr::without_provenance(address)).addr(), MPI_BUFFER_AUTOMATIC);
    }
}
