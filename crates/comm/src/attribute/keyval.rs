//! Keyvals.

use crate::error::{Error, Result};
use crate::program::ProgramFunction;
use heddle_spec::constants as mpi;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The kinds of objects that carry attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeCarrier {
    /// Communicators.
    Comm,
    /// Datatypes.
    Type,
    /// Windows.
    Win,
}

/// The C type of a copy callback: old object, keyval, extra state, value, address for the
/// copy, address for the flag.
pub type CopyFunction =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;

/// The C type of a delete callback: object, keyval, value, extra state.
pub type DeleteFunction = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// The action on a value when its object is duplicated.
#[derive(Debug, Clone, Copy)]
pub enum Copy {
    /// It is not copied (`MPI_COMM_NULL_COPY_FN`).
    Never,
    /// The copy has the same value (`MPI_COMM_DUP_FN`).
    Always,
    /// The program decides.
    Call(ProgramFunction<CopyFunction>),
}

/// The action when a value is deleted.
#[derive(Debug, Clone, Copy)]
pub enum Delete {
    /// Nothing (`MPI_COMM_NULL_DELETE_FN`).
    Nothing,
    /// The program is told.
    Call(ProgramFunction<DeleteFunction>),
}

/// A keyval.
#[derive(Debug)]
pub struct Keyval {
    pub(super) number: i32,
    target: AttributeCarrier,
    copy: Copy,
    delete: Delete,
    /// The program's extra state, an address.
    state: usize,
}

struct Keyvals {
    live: BTreeMap<i32, Arc<Keyval>>,
    /// The freed ones that values still use, and some that none uses any more.
    freed: BTreeMap<i32, Weak<Keyval>>,
    next: i32,
}

/// Numbers below this one are the standard's.
const FIRST: i32 = 1 << 10;

static KEYVALS: Mutex<Keyvals> =
    Mutex::new(Keyvals { live: BTreeMap::new(), freed: BTreeMap::new(), next: FIRST });

fn keyvals() -> MutexGuard<'static, Keyvals> {
    KEYVALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a keyval; returns its number.
///
/// # Errors
/// `MPI_ERR_OTHER` after two billion keyvals.
pub fn create(target: AttributeCarrier, copy: Copy, delete: Delete, state: usize) -> Result<i32> {
    let mut keyvals = keyvals();
    let number = keyvals.next;
    let Some(next) = number.checked_add(1) else {
        return Err(Error::new(mpi::MPI_ERR_OTHER, "all numbers of keyvals have been used"));
    };
    keyvals.next = next;
    keyvals.live.insert(number, Arc::new(Keyval { number, target, copy, delete, state }));
    Ok(number)
}

/// Frees a keyval and sets the number to `MPI_KEYVAL_INVALID`. Values that use it keep it alive; as long as
/// there are any, it may be freed again, by another copy of its number, as in other libraries.
///
/// # Errors
/// `MPI_ERR_KEYVAL` if there is no such keyval for objects of this kind, or if it is one of the standard's.
pub fn free(target: AttributeCarrier, number: &mut i32) -> Result<()> {
    let mut keyvals = keyvals();
    match keyvals.live.get(number) {
        Some(keyval) if keyval.target == target => {
            let freed = Arc::downgrade(keyval);
            keyvals.live.remove(number);
            keyvals.freed.retain(|_, keyval| keyval.strong_count() > 0);
            if freed.strong_count() > 0 {
                keyvals.freed.insert(*number, freed);
            }
        }
        Some(_) => return Err(unknown(target, *number)),
        None => {
            let used = keyvals.freed.get(number).and_then(Weak::upgrade);
            if used.is_none_or(|keyval| keyval.target != target) {
                return Err(unknown(target, *number));
            }
        }
    }
    *number = mpi::MPI_KEYVAL_INVALID;
    Ok(())
}

/// The live keyval with a number.
pub(super) fn find(target: AttributeCarrier, number: i32) -> Result<Arc<Keyval>> {
    match keyvals().live.get(&number) {
        Some(keyval) if keyval.target == target => Ok(keyval.clone()),
        _ => Err(unknown(target, number)),
    }
}

#[cold]
fn unknown(target: AttributeCarrier, number: i32) -> Error {
    let objects = match target {
        AttributeCarrier::Comm => "communicators",
        AttributeCarrier::Type => "datatypes",
        AttributeCarrier::Win => "windows",
    };
    let known = mpi::KEYVALS.iter().find(|(_, known)| *known == number).map(|(name, _)| *name);
    let message = match known {
        Some("MPI_KEYVAL_INVALID") => "MPI_KEYVAL_INVALID is not a keyval to work with".to_owned(),
        Some(name) => format!("{name} belongs to the library: the program cannot set, delete or free it"),
        None => format!("{number} is not a keyval of {objects}: never made for them, or freed already"),
    };
    Error::new(mpi::MPI_ERR_KEYVAL, message)
}

impl Keyval {
    pub(super) fn is(&self, target: AttributeCarrier, number: i32) -> bool {
        self.number == number && self.target == target
    }

    fn failed(&self, which: &str, code: i32) -> Error {
        Error::new(
            code,
            format!("the {which} callback of keyval {} returned {code}, not MPI_SUCCESS", self.number),
        )
    }

    /// The value for a duplicate of the object with this handle, if the copy callback gives one.
    pub(super) fn copy(&self, handle: usize, value: usize) -> Result<Option<usize>> {
        let callback = match self.copy {
            Copy::Never => return Ok(None),
            Copy::Always => return Ok(Some(value)),
            Copy::Call(callback) => callback,
        };
        let (mut copied, mut flag) = (std::ptr::null_mut::<c_void>(), 0);
        let (copy, flag_at) = ((&raw mut copied).cast(), &raw mut flag);
        let value = std::ptr::with_exposed_provenance_mut(value);
        let state = std::ptr::with_exposed_provenance_mut(self.state);
        // SAFETY: the program promised a copy function when it made the keyval; the
        // pointers are to our variables.
        let call = |function: CopyFunction| unsafe {
            function((callback.abi().handle)(handle), self.number, state, value, copy, flag_at)
        };
        match (callback.abi().error_of)(callback.call(call)) {
            mpi::MPI_SUCCESS => Ok((flag != 0).then(|| copied.expose_provenance())),
            code => Err(self.failed("copy", code)),
        }
    }

    /// Tells the program that a value of the object with this handle is deleted.
    pub(super) fn delete(&self, handle: usize, value: usize) -> Result<()> {
        let Delete::Call(callback) = self.delete else { return Ok(()) };
        let value = std::ptr::with_exposed_provenance_mut(value);
        let state = std::ptr::with_exposed_provenance_mut(self.state);
        // SAFETY: the program promised a delete function when it made the keyval.
        let call = |function: DeleteFunction| unsafe {
            function((callback.abi().handle)(handle), self.number, value, state)
        };
        match (callback.abi().error_of)(callback.call(call)) {
            mpi::MPI_SUCCESS => Ok(()),
            code => Err(self.failed("delete", code)),
        }
    }
}
