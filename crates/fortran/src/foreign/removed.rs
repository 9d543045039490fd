//! Subroutines that MPI 3.0 removed, and that these libraries still have: addresses and displacements are
//! plain integers. Those for error handlers are other names of their successors (`build/spellings`).

use crate::array::{self, Array};
use crate::constants::MPI_SUCCESS;
use crate::hand_written::{Ierror, Variable, set_ierror, subroutines};
use crate::handle::{Handle, from_int, to_int};
use crate::special;
use crate::subroutines as c;
use std::ffi::{c_int, c_void};

subroutines! {
    address [MPI_Get_address PMPI_Get_address] "mpi_address_" "pmpi_address_"
    (location: *mut c_void, at: Variable<'_>, ierror: Ierror<'_>)
}

unsafe fn address(
    location: *mut c_void,
    at: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(*mut c_void, *mut isize) -> c_int,
) {
    let mut found = 0;
    // SAFETY: there is room for the answer.
    let code = unsafe { call(special::buffer(location), &raw mut found) };
    at.set(found as c_int);
    set_ierror(ierror, code);
}

/// The datatype of an integer.
fn datatype(integer: c_int) -> Handle {
    from_int(integer, c::MPI_Type_fromint)
}

/// Hands over the datatype that a call makes.
fn set_made(made: Variable<'_>, ierror: Ierror<'_>, call: impl FnOnce(*mut Handle) -> c_int) {
    let mut handle = 0;
    let code = call(&raw mut handle);
    if code == MPI_SUCCESS {
        made.set(to_int(handle, c::MPI_Type_toint));
    }
    set_ierror(ierror, code);
}

type GetExtent = unsafe extern "C" fn(Handle, *mut isize, *mut isize) -> c_int;

macro_rules! bounds {
    ($($body:ident $symbol:literal $profiled:literal |$lower:ident, $extent:ident| $chosen:expr;)+) => {$(
        subroutines! {
            $body [MPI_Type_get_extent PMPI_Type_get_extent] $symbol $profiled
            (of: Variable<'_>, to: Variable<'_>, ierror: Ierror<'_>)
        }

        unsafe fn $body(of: Variable<'_>, to: Variable<'_>, ierror: Ierror<'_>, call: GetExtent) {
            let ($lower, $extent) = {
                let (mut lower, mut extent) = (0, 0);
                // SAFETY: there is room for the answers.
                let code = unsafe { call(datatype(of.get()), &raw mut lower, &raw mut extent) };
                set_ierror(ierror, code);
                (lower, extent)
            };
            to.set($chosen as c_int);
        }
    )+};
}

bounds! {
    extent "mpi_type_extent_" "pmpi_type_extent_" |_lower, extent| extent;
    lower "mpi_type_lb_" "pmpi_type_lb_" |lower, _extent| lower;
    upper "mpi_type_ub_" "pmpi_type_ub_" |lower, extent| lower + extent;
}

subroutines! {
    hvector [MPI_Type_create_hvector PMPI_Type_create_hvector] "mpi_type_hvector_" "pmpi_type_hvector_"
    (
        count: Variable<'_>, length: Variable<'_>, stride: Variable<'_>, of: Variable<'_>, made: Variable<'_>,
        ierror: Ierror<'_>,
    )
}

unsafe fn hvector(
    count: Variable<'_>,
    length: Variable<'_>,
    stride: Variable<'_>,
    of: Variable<'_>,
    made: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(c_int, c_int, isize, Handle, *mut Handle) -> c_int,
) {
    let (stride, of) = (stride.get() as isize, datatype(of.get()));
    // SAFETY: there is room for a handle.
    set_made(made, ierror, |made| unsafe { call(count.get(), length.get(), stride, of, made) });
}

/// Displacements as C has them.
///
/// # Safety
/// There are `count` displacements.
unsafe fn displacements(given: *const c_int, count: c_int) -> Array<isize> {
    // SAFETY: by the caller's promise.
    unsafe { array::to_c(given, count, |displacement| displacement as isize) }
}

subroutines! {
    hindexed [MPI_Type_create_hindexed PMPI_Type_create_hindexed] "mpi_type_hindexed_" "pmpi_type_hindexed_"
    (
        count: Variable<'_>, lengths: *mut c_int, at: *mut c_int, of: Variable<'_>, made: Variable<'_>,
        ierror: Ierror<'_>,
    )
}

unsafe fn hindexed(
    count: Variable<'_>,
    lengths: *mut c_int,
    at: *mut c_int,
    of: Variable<'_>,
    made: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(c_int, *mut c_int, *mut isize, Handle, *mut Handle) -> c_int,
) {
    // SAFETY: the program's array.
    let mut at = unsafe { displacements(at, count.get()) };
    let (at, of) = (at.as_mut_ptr(), datatype(of.get()));
    // SAFETY: the arrays have `count` elements, and there is room for a handle.
    set_made(made, ierror, |made| unsafe { call(count.get(), lengths, at, of, made) });
}

subroutines! {
    structure [MPI_Type_create_struct PMPI_Type_create_struct] "mpi_type_struct_" "pmpi_type_struct_"
    (
        count: Variable<'_>, lengths: *mut c_int, at: *mut c_int, of: *mut c_int, made: Variable<'_>,
        ierror: Ierror<'_>,
    )
}

unsafe fn structure(
    count: Variable<'_>,
    lengths: *mut c_int,
    at: *mut c_int,
    of: *mut c_int,
    made: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(c_int, *mut c_int, *mut isize, *mut Handle, *mut Handle) -> c_int,
) {
    // SAFETY: the program's array.
    let mut at = unsafe { displacements(at, count.get()) };
    // SAFETY: the same.
    let mut of = unsafe { array::to_c(of, count.get(), datatype) };
    let (at, of) = (at.as_mut_ptr(), of.as_mut_ptr());
    // SAFETY: the arrays have `count` elements, and there is room for a handle.
    set_made(made, ierror, |made| unsafe { call(count.get(), lengths, at, of, made) });
}
