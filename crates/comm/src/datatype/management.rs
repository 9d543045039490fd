//! Making, copying and freeing datatypes.

use super::annotations::of_type;
use super::object::{DERIVED, TypeObject, bad_handle, to_build_on};
use crate::attribute::Attributes;
use crate::error::{Error, Result};
use crate::lifetime;
use heddle_datatype::{Datatype, TypeError};
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex};

/// A constructor's complaint as an error of MPI.
#[cold]
#[must_use]
pub fn not_made(error: TypeError) -> Error {
    let class = match error {
        TypeError::Negative { what: "count", .. } => mpi::MPI_ERR_COUNT,
        TypeError::NoDimensions => mpi::MPI_ERR_DIMS,
        TypeError::Rank { .. } => mpi::MPI_ERR_RANK,
        TypeError::NoMemory(_) => mpi::MPI_ERR_NO_MEM,
        _ => mpi::MPI_ERR_ARG,
    };
    Error::new(class, error.to_string())
}

/// Puts a new derived datatype into the table; returns its handle.
pub fn insert(datatype: Arc<Datatype>) -> usize {
    insert_object(TypeObject { datatype, name: Mutex::default(), attributes: Attributes::default() })
}

fn insert_object(object: TypeObject) -> usize {
    lifetime::before_creation();
    let name = Arc::as_ptr(&object.datatype).addr();
    DERIVED.insert_named(object, name)
}

/// Makes a copy of a datatype under a new handle, with the attributes whose copy callbacks ask for it.
///
/// # Errors
/// `MPI_ERR_TYPE`, `MPI_ERR_NO_MEM`; the error of an attribute's copy callback.
pub fn dup(handle: usize) -> Result<usize> {
    let copy = Datatype::dup(&to_build_on(handle)?).map_err(not_made)?;
    let new = TypeObject { datatype: copy, name: Mutex::default(), attributes: Attributes::default() };
    of_type(handle)?.copy_all(handle, &new.attributes)?;
    Ok(insert_object(new))
}

/// Frees a derived datatype. Datatypes made from it and operations in flight keep its layout.
///
/// # Errors
/// `MPI_ERR_TYPE`, also for predefined datatypes; the error of a delete callback of an attribute, and then
/// the datatype is not freed.
pub fn free(handle: usize) -> Result<()> {
    if heddle_datatype::predefined(handle).is_some() {
        return Err(Error::new(mpi::MPI_ERR_TYPE, "a predefined datatype cannot be freed"));
    }
    let object = DERIVED.get(handle).ok_or_else(|| bad_handle(handle))?;
    if object.datatype.marked_bound().is_some() {
        return Err(Error::new(mpi::MPI_ERR_TYPE, "MPI_LB and MPI_UB are predefined and cannot be freed"));
    }
    if object.datatype.is_unnamed() {
        return Err(Error::new(
            mpi::MPI_ERR_TYPE,
            "a datatype of MPI_Type_create_f90_... is predefined and cannot be freed",
        ));
    }
    object.attributes.delete_all(handle)?;
    let freed = DERIVED.remove(handle).ok_or_else(|| bad_handle(handle))?;
    lifetime::user_released(handle, freed);
    Ok(())
}
