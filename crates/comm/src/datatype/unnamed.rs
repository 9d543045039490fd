//! The unnamed predefined datatypes of Fortran's kinds of numbers (MPI 5.0, section 19.1.10), and those that
//! mark bounds, as other ABIs have them. The same arguments give the same handle, which is never freed.

use super::annotations::{set_type_name, type_name};
use super::management::{insert, not_made};
use crate::error::Result;
use heddle_datatype::{Bound, Combiner, Constructed, Datatype};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// By the constructor and its arguments.
static HANDLES: Mutex<BTreeMap<(Combiner, i32, i32), usize>> = Mutex::new(BTreeMap::new());

fn handle(of: (Combiner, i32, i32), make: impl FnOnce() -> Constructed) -> Result<usize> {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&handle) = handles.get(&of) {
        return Ok(handle);
    }
    let handle = insert(make().map_err(not_made)?);
    handles.insert(of, handle);
    Ok(handle)
}

/// The datatype of `selected_real_kind(p, r)`.
///
/// # Errors
/// `MPI_ERR_ARG`: there is no such kind. The same holds for the other two.
pub fn f90_real(p: i32, r: i32) -> Result<usize> {
    handle((Combiner::F90Real, p, r), || Datatype::f90_real(p, r))
}

/// The datatype of complex numbers of this kind.
///
/// # Errors
/// See [`f90_real`].
pub fn f90_complex(p: i32, r: i32) -> Result<usize> {
    handle((Combiner::F90Complex, p, r), || Datatype::f90_complex(p, r))
}

/// The datatype of `selected_int_kind(r)`.
///
/// # Errors
/// See [`f90_real`].
pub fn f90_integer(r: i32) -> Result<usize> {
    handle((Combiner::F90Integer, 0, r), || Datatype::f90_integer(r))
}

/// The datatype that marks a bound: `MPI_LB` and `MPI_UB` of MPI 2.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub fn bound_mark(bound: Bound) -> Result<usize> {
    let (which, name) = match bound {
        Bound::Lower => (0, "MPI_LB"),
        Bound::Upper => (1, "MPI_UB"),
    };
    let handle = handle((Combiner::Named, 0, which), || Datatype::bound_mark(bound))?;
    if type_name(handle)?.is_empty() {
        set_type_name(handle, name)?;
    }
    Ok(handle)
}

/// The handle of an unnamed predefined datatype; `None` for other datatypes.
pub fn handle_of_unnamed(datatype: &Datatype) -> Option<usize> {
    if let Some(bound) = datatype.marked_bound() {
        return bound_mark(bound).ok();
    }
    let contents = datatype.contents();
    let arguments: Vec<i32> = contents.integers.iter().filter_map(|&of| of.try_into().ok()).collect();
    match (contents.combiner, &arguments[..]) {
        (Combiner::F90Real, &[p, r]) => f90_real(p, r).ok(),
        (Combiner::F90Complex, &[p, r]) => f90_complex(p, r).ok(),
        (Combiner::F90Integer, &[r]) => f90_integer(r).ok(),
        _ => None,
    }
}
