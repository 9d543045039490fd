//! Datatypes as the engine holds them: predefined ones by address, derived ones by reference count.

use crate::attribute::Attributes;
use crate::error::{Error, Result};
use crate::object_table::{Kind, Ref, Table};
use heddle_datatype::Datatype;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_spec::constants as mpi;
use std::ops::Deref;
use std::sync::Mutex;

/// A derived datatype with what MPI attaches to it.
#[derive(Debug)]
pub struct TypeObject {
    /// The layout.
    pub datatype: Datatype,
    /// Whether `MPI_Type_commit` was called.
    pub committed: AtomicBool,
    /// Set by `MPI_Type_set_name`.
    pub name: Mutex<String>,
    /// Cached attributes.
    pub attributes: Attributes,
}

/// All derived datatypes.
pub static DERIVED: Table<TypeObject> = Table::new(Kind::Datatype);

/// A datatype in use. Predefined ones are not counted: they live for ever.
#[derive(Debug, Clone)]
pub enum TypeRef {
    /// One of the standard's.
    Predefined(&'static Datatype),
    /// One that the program made.
    Derived(Ref<TypeObject>),
}

impl Deref for TypeRef {
    type Target = Datatype;

    #[inline(always)]
    fn deref(&self) -> &Datatype {
        match self {
            TypeRef::Predefined(datatype) => datatype,
            TypeRef::Derived(object) => &object.datatype,
        }
    }
}

impl TypeRef {
    /// The datatype of a handle, committed or not.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` for anything that is not a live datatype handle.
    #[inline]
    pub fn from_handle(handle: usize) -> Result<TypeRef> {
        if let Some(datatype) = heddle_datatype::predefined(handle) {
            return Ok(TypeRef::Predefined(datatype));
        }
        DERIVED.get(handle).map(TypeRef::Derived).ok_or_else(|| bad_handle(handle))
    }

    /// The datatype of a handle, for use in communication: it must be committed.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE`.
    #[inline]
    pub fn for_communication(handle: usize) -> Result<TypeRef> {
        let found = TypeRef::from_handle(handle)?;
        match &found {
            TypeRef::Derived(object) if !object.committed.load(Ordering::Relaxed) => {
                let message = "the datatype is not committed: call MPI_Type_commit before using it in communication";
                Err(Error::new(mpi::MPI_ERR_TYPE, message))
            }
            _ => Ok(found),
        }
    }

    /// Puts a new derived datatype into the table, not committed; returns its handle.
    pub fn insert(datatype: Datatype) -> usize {
        DERIVED.insert(TypeObject {
            datatype,
            committed: AtomicBool::new(false),
            name: Mutex::default(),
            attributes: Attributes::default(),
        })
    }
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_DATATYPE_NULL {
        "MPI_DATATYPE_NULL is not a datatype to communicate with".to_owned()
    } else {
        format!("{handle:#x} is not a datatype: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_TYPE, what)
}
