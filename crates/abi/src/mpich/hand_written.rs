//! Entries that the table does not describe: a text that is longer in the standard's ABI, and names that the
//! standard has no more.

use super::handle::Foreign;
use super::{constant, constants};
use crate::entry_points::{MPI_Get_processor_name, MPI_Type_get_extent};
use heddle_spec::constants::{MPI_ERR_ARG, MPI_MAX_PROCESSOR_NAME, MPI_SUCCESS};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::{c_char, c_int};

/// # Safety
/// The arguments are those that the standard asks for.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Get_processor_name(
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    let mut whole = [0; MPI_MAX_PROCESSOR_NAME as usize];
    let to = if name.is_null() { name } else { whole.as_mut_ptr() };
    // SAFETY: room for the longest name; the program promises the other variable.
    let code = unsafe { MPI_Get_processor_name(to, length) };
    if code == MPI_SUCCESS {
        const MOST: c_int = constants::MPI_MAX_PROCESSOR_NAME - 1;
        // SAFETY: the call has stored a length.
        let length = unsafe { &mut *length };
        *length = MOST.min(*length);
        whole[*length as usize] = 0;
        // SAFETY: the program has room for so many characters, and one more.
        unsafe { name.copy_from(whole.as_ptr(), *length as usize + 1) };
    }
    constant::result(code)
}

/// The lower bound and the extent of a datatype, of which a function that is gone hands over one.
fn bounds(datatype: c_int, to: *mut isize, choose: impl FnOnce(i64, i64) -> i64) -> c_int {
    if to.is_null() {
        return constant::result(MPI_ERR_ARG);
    }
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: variables of ours.
    let code =
        unsafe { MPI_Type_get_extent(DatatypeHandle::of_number(datatype), &raw mut lower, &raw mut extent) };
    if code == MPI_SUCCESS {
        // SAFETY: the program promises a variable.
        unsafe { *to = choose(lower, extent) as isize };
    }
    constant::result(code)
}

/// # Safety
/// The address is null or that of a variable, here and below.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Type_extent(datatype: c_int, extent: *mut isize) -> c_int {
    bounds(datatype, extent, |_, extent| extent)
}

/// # Safety
/// The same.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Type_lb(datatype: c_int, displacement: *mut isize) -> c_int {
    bounds(datatype, displacement, |lower, _| lower)
}

/// # Safety
/// The same.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Type_ub(datatype: c_int, displacement: *mut isize) -> c_int {
    bounds(datatype, displacement, |lower, extent| lower + extent)
}

/// A status in Fortran is that in C.
///
/// # Safety
/// The addresses are null or those of statuses.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Status_copy(
    from: *const [c_int; 5],
    to: *mut [c_int; 5],
) -> c_int {
    if from.addr() <= 1 || to.addr() <= 1 {
        return constant::result(MPI_ERR_ARG);
    }
    // SAFETY: the caller's promise.
    unsafe { to.copy_from(from, 1) };
    MPI_SUCCESS
}
