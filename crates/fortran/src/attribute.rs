//! The values of attributes: integers in Fortran, pointers in C. C gets a pointer to an integer that Fortran
//! has set; Fortran gets a pointer that C has set as an integer (MPI 5.0, section 19.3.7).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use crate::constants::{
    MPI_APPNUM, MPI_HOST, MPI_IO, MPI_LASTUSEDCODE, MPI_TAG_UB, MPI_UNIVERSE_SIZE, MPI_WIN_CREATE_FLAVOR,
    MPI_WIN_DISP_UNIT, MPI_WIN_MODEL, MPI_WIN_SIZE, MPI_WTIME_IS_GLOBAL,
};

/// The integers that Fortran has set, one variable for each value. None is freed: objects copy their
/// attributes, so nothing tells of the last pointer.
struct Values {
    variables: BTreeMap<isize, usize>,
    addresses: BTreeSet<usize>,
}

static VALUES: Mutex<Values> = Mutex::new(Values { variables: BTreeMap::new(), addresses: BTreeSet::new() });

fn with<R>(act: impl FnOnce(&mut Values) -> R) -> R {
    act(&mut VALUES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The pointer that C has for an integer of Fortran's.
pub(crate) fn to_c(value: isize) -> *mut c_void {
    let variable = with(|Values { variables, addresses }| {
        *variables.entry(value).or_insert_with(|| {
            let made = std::ptr::from_mut(Box::leak(Box::new(value))).expose_provenance();
            addresses.insert(made);
            made
        })
    });
    std::ptr::with_exposed_provenance_mut(variable)
}

/// The integer that Fortran has for a pointer of C's.
pub(crate) fn to_fortran(found: *mut c_void) -> isize {
    if with(|values| values.addresses.contains(&found.addr())) {
        // SAFETY: one of the variables above, which live as long as the process.
        return unsafe { found.cast::<isize>().read() };
    }
    found.addr() as isize
}

/// The value of a key's attribute that an MPI function has found, as Fortran has it.
///
/// # Safety
///
/// C gets a pointer to the value of a predefined attribute (MPI 5.0, section 7.7), which `found` must be.
pub(crate) unsafe fn of_key(keyval: c_int, found: *mut c_void) -> isize {
    match keyval {
        MPI_TAG_UB
        | MPI_IO
        | MPI_HOST
        | MPI_WTIME_IS_GLOBAL
        | MPI_APPNUM
        | MPI_LASTUSEDCODE
        | MPI_UNIVERSE_SIZE
        | MPI_WIN_DISP_UNIT
        | MPI_WIN_CREATE_FLAVOR
        | MPI_WIN_MODEL => {
            // SAFETY: such a value is an int.
            unsafe { found.cast::<c_int>().read() as isize }
        }
        // SAFETY: this one is an MPI_Aint.
        MPI_WIN_SIZE => unsafe { found.cast::<isize>().read() },
        _ => to_fortran(found),
    }
}
