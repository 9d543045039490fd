//! Datatypes as the engine holds them: the layouts of `heddle-datatype` behind handles.

use crate::attribute::{self, Attributes};
use crate::error::{Error, Result};
use crate::object_table::{Kind, Table};
use heddle_datatype::Datatype;
pub use heddle_datatype::TypeRef;
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex};

/// A derived datatype with what MPI attaches to it.
#[derive(Debug)]
pub struct TypeObject {
    /// The layout.
    pub datatype: Arc<Datatype>,
    /// Set by `MPI_Type_set_name`.
    pub name: Mutex<String>,
    /// Cached attributes.
    pub attributes: Attributes,
}

/// All derived datatypes.
pub static DERIVED: Table<TypeObject> = Table::new(Kind::Datatype);

/// The datatype of a handle, committed or not.
///
/// # Errors
/// `MPI_ERR_TYPE` for anything that is not a live datatype's handle.
#[inline(always)]
pub fn from_handle(handle: usize) -> Result<TypeRef> {
    if let Some(datatype) = heddle_datatype::predefined(handle) {
        return Ok(TypeRef::Predefined(datatype));
    }
    derived(handle)
}

fn derived(handle: usize) -> Result<TypeRef> {
    match DERIVED.get(handle) {
        Some(object) => Ok(TypeRef::Derived(object.datatype.clone())),
        None => Err(bad_handle(handle)),
    }
}

/// The datatype of a handle, for use in communication: it must be committed.
///
/// # Errors
/// `MPI_ERR_TYPE`.
#[inline(always)]
pub fn for_communication(handle: usize) -> Result<TypeRef> {
    let found = from_handle(handle)?;
    match &found {
        TypeRef::Derived(datatype) if !datatype.is_committed() => {
            let message =
                "the datatype is not committed: call MPI_Type_commit before using it in communication";
            Err(Error::new(mpi::MPI_ERR_TYPE, message))
        }
        _ => Ok(found),
    }
}

/// Puts a new derived datatype into the table; returns its handle.
pub fn insert(datatype: Arc<Datatype>) -> usize {
    DERIVED.insert(TypeObject { datatype, name: Mutex::default(), attributes: Attributes::default() })
}

/// Makes a copy of a datatype under a new handle, with those of its attributes that want to be copied.
///
/// # Errors
/// `MPI_ERR_TYPE`; what a copy callback of an attribute says.
pub fn dup(handle: usize) -> Result<usize> {
    let copy = Datatype::dup(&from_handle(handle)?)
        .map_err(|error| Error::new(mpi::MPI_ERR_TYPE, error.to_string()))?;
    let new = TypeObject { datatype: copy, name: Mutex::default(), attributes: Attributes::default() };
    attribute::of_type(handle)?.copy_all(handle, &new.attributes)?;
    Ok(DERIVED.insert(new))
}

/// Frees a derived datatype. What is made from it, and communication under way, keeps its layout.
///
/// # Errors
/// `MPI_ERR_TYPE`, also for predefined datatypes; what a delete callback of an attribute says, and then the datatype
/// is not freed.
pub fn free(handle: usize) -> Result<()> {
    if heddle_datatype::predefined(handle).is_some() {
        return Err(Error::new(mpi::MPI_ERR_TYPE, "a predefined datatype cannot be freed"));
    }
    let object = DERIVED.get(handle).ok_or_else(|| bad_handle(handle))?;
    object.attributes.delete_all(handle)?;
    DERIVED.remove(handle).map(drop).ok_or_else(|| bad_handle(handle))
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_DATATYPE_NULL {
        "MPI_DATATYPE_NULL is not a datatype to work with".to_owned()
    } else {
        format!("{handle:#x} is not a datatype: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_TYPE, what)
}
