//! Datatypes with handles: the layouts of `heddle-datatype`, and what a handle needs besides.

use crate::attribute::Attributes;
use crate::error::{Error, Result};
use heddle_datatype::Datatype;
use heddle_objects::lifetime::hazard::{KeptSlot, Protection};
use heddle_objects::table::{ObjectKind, Protected, Ref, Table};
use heddle_spec::constants as mpi;
use std::ops::Deref;
use std::ptr::NonNull;
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
// SAFETY: the only table of this kind.
pub static DERIVED: Table<TypeObject> = unsafe { Table::collected(ObjectKind::Datatype) };

/// A datatype in use by a call, in the call's thread: predefined, or kept by a `Protection`.
#[derive(Debug)]
pub struct TypeInUse {
    datatype: NonNull<Datatype>,
    protection: Protection,
}

// SAFETY: a datatype is `Sync`; the call's thread protects it while other threads use it, and it never moves.
unsafe impl Sync for TypeInUse {}

impl Deref for TypeInUse {
    type Target = Datatype;

    #[inline(always)]
    fn deref(&self) -> &Datatype {
        // SAFETY: predefined datatypes are never freed, and the protection keeps others.
        unsafe { self.datatype.as_ref() }
    }
}

impl AsRef<Datatype> for TypeInUse {
    fn as_ref(&self) -> &Datatype {
        self
    }
}

impl Drop for TypeInUse {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.protection.release() {
            // SAFETY: `derived_anew` made this reference from an `Arc`.
            unsafe { Arc::decrement_strong_count(self.as_ptr()) };
        }
    }
}

impl TypeInUse {
    /// A predefined datatype.
    pub const fn predefined(datatype: &'static Datatype) -> TypeInUse {
        TypeInUse { datatype: NonNull::from_ref(datatype), protection: Protection::NONE }
    }

    /// Its address, by which requests name it; for derived datatypes the address in their `Arc`.
    #[inline(always)]
    fn as_ptr(&self) -> *const Datatype {
        self.datatype.as_ptr()
    }
}

/// A derived datatype that outlives the call.
#[derive(Debug)]
pub struct KeptType(Arc<Datatype>);

impl KeptType {
    /// Keeps the datatype at an address by which buffers and requests name it. `None` for a null pointer and
    /// for a predefined datatype, which lives as long as MPI.
    ///
    /// # Safety
    /// The pointer is null, or leads to a predefined datatype, or to one in an `Arc` that the caller holds.
    pub unsafe fn new(datatype: *const Datatype) -> Option<KeptType> {
        // SAFETY: the caller's promise.
        if unsafe { datatype.as_ref() }?.is_predefined() {
            return None;
        }
        // SAFETY: the caller holds the `Arc` that the pointer leads to.
        unsafe { Arc::increment_strong_count(datatype) };
        // SAFETY: this takes over the reference that was just counted.
        Some(KeptType(unsafe { Arc::from_raw(datatype) }))
    }

    /// Its address.
    #[must_use]
    pub fn as_ptr(&self) -> *const Datatype {
        Arc::as_ptr(&self.0)
    }
}

/// The datatype of a handle, committed or not.
///
/// # Errors
/// `MPI_ERR_TYPE` for anything that is not a live datatype's handle.
#[inline(always)]
pub fn from_handle(handle: usize) -> Result<TypeInUse> {
    match heddle_datatype::predefined(handle) {
        Some(datatype) => Ok(TypeInUse::predefined(datatype)),
        None => derived(handle),
    }
}

#[inline(always)]
fn derived(handle: usize) -> Result<TypeInUse> {
    match DERIVED.protected_before(handle, KeptSlot::Datatype) {
        Some(held) => Ok(held_type(held)),
        None => derived_anew(handle),
    }
}

#[inline(always)]
fn held_type(held: Protected<TypeObject>) -> TypeInUse {
    // SAFETY: the protection keeps the object.
    let object = unsafe { held.value.as_ref() };
    // SAFETY: an `Arc` never leads to the null address.
    let datatype = unsafe { NonNull::new_unchecked(Arc::as_ptr(&object.datatype).cast_mut()) };
    TypeInUse { datatype, protection: held.protection }
}

#[inline(never)]
fn derived_anew(handle: usize) -> Result<TypeInUse> {
    let held = DERIVED.protect_anew(handle, KeptSlot::Datatype).ok_or_else(|| bad_handle(handle))?;
    let counted = held.protection.is_counted();
    let datatype = held_type(held);
    if counted {
        // The table has counted a reference to the object. The call gets a reference to the layout instead.
        // SAFETY: the object holds a reference to the layout, and exists until the next statement.
        unsafe { Arc::increment_strong_count(datatype.as_ptr()) };
        // SAFETY: this gives up the reference that the table counted.
        drop(unsafe { Ref::from_index(&DERIVED, handle as u32) });
    }
    Ok(datatype)
}

/// The datatype of a handle, to build another one on it.
///
/// # Errors
/// The same as for [`from_handle`].
pub fn to_build_on(handle: usize) -> Result<heddle_datatype::TypeRef> {
    if let Some(datatype) = heddle_datatype::predefined(handle) {
        return Ok(datatype.into());
    }
    match DERIVED.get(handle) {
        Some(object) => Ok(object.datatype.clone().into()),
        None => Err(bad_handle(handle)),
    }
}

/// The datatype of a handle, for use in communication: it must be committed.
///
/// # Errors
/// `MPI_ERR_TYPE`.
#[inline(always)]
pub fn for_communication(handle: usize) -> Result<TypeInUse> {
    match heddle_datatype::predefined(handle) {
        Some(datatype) => Ok(TypeInUse::predefined(datatype)),
        None => {
            let found = derived(handle)?;
            if found.is_committed() { Ok(found) } else { Err(not_committed()) }
        }
    }
}

#[cold]
fn not_committed() -> Error {
    let message = "the datatype is not committed: call MPI_Type_commit before using it in communication";
    Error::new(mpi::MPI_ERR_TYPE, message)
}

#[cold]
pub(super) fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_DATATYPE_NULL {
        "MPI_DATATYPE_NULL is not a datatype to work with".to_owned()
    } else {
        format!("{handle:#x} is not a datatype: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_TYPE, what)
}
