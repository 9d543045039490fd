//! Cached attributes (MPI 5.0, chapter 7.7): values that programs and libraries attach to
//! communicators and datatypes.
//!
//! A **keyval** says what happens to a value when its object is duplicated or freed. Each value holds
//! a reference to its keyval, so a freed keyval works until its last value is gone. Numbers of
//! keyvals are never reused.
//!
//! Callbacks may call MPI, on the same object too, so no lock is held while they run. A value is removed from
//! the object *before* its delete callback runs, and put back if the callback fails. So if two threads delete
//! one value, only one runs the callback.
//!
//! | file | idea |
//! |---|---|
//! | `keyval.rs` | keyvals and their callbacks |
//! | `predefined.rs` | the attributes that the library itself gives to communicators |

mod keyval;
mod predefined;

pub use keyval::{AttributeCarrier, Copy, CopyFunction, Delete, DeleteFunction, Keyval, create, free};
pub use predefined::{Predefined, of_communicator};

use crate::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The attributes of one object, in the order in which they were set.
#[derive(Debug, Default)]
pub struct Attributes {
    values: Mutex<Vec<Attribute>>,
}

#[derive(Debug, Clone)]
struct Attribute {
    keyval: Arc<Keyval>,
    value: usize,
}

impl Attributes {
    fn lock(&self) -> MutexGuard<'_, Vec<Attribute>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, target: AttributeCarrier, number: i32) -> Option<Attribute> {
        let fits = |attribute: &&Attribute| attribute.keyval.is(target, number);
        self.lock().iter().find(fits).cloned()
    }

    /// Removes the value with a keyval; returns it with its position.
    fn take(&self, keyval: &Keyval) -> Option<(usize, Attribute)> {
        let mut values = self.lock();
        let position = values.iter().position(|attribute| attribute.keyval.number == keyval.number)?;
        Some((position, values.remove(position)))
    }

    fn put_back(&self, position: usize, attribute: Attribute) {
        let mut values = self.lock();
        let position = position.min(values.len());
        values.insert(position, attribute);
    }

    /// The value with a keyval.
    ///
    /// # Errors
    /// `MPI_ERR_KEYVAL` if there is no such keyval for objects of this kind.
    pub fn get(&self, target: AttributeCarrier, number: i32) -> Result<Option<usize>> {
        match self.find(target, number) {
            Some(attribute) => Ok(Some(attribute.value)),
            None => keyval::find(target, number).map(|_| None),
        }
    }

    /// Sets the value with a keyval of the object with this handle. An old value is deleted first.
    ///
    /// # Errors
    /// `MPI_ERR_KEYVAL`; the error of the delete callback of the old value, which then stays.
    pub fn set(&self, target: AttributeCarrier, handle: usize, number: i32, value: usize) -> Result<()> {
        let keyval = match self.find(target, number) {
            Some(old) => old.keyval,
            None => keyval::find(target, number)?,
        };
        while let Some((position, old)) = self.take(&keyval) {
            self.run_delete(handle, position, old)?;
        }
        self.lock().push(Attribute { keyval, value });
        Ok(())
    }

    /// Deletes the value with a keyval.
    ///
    /// # Errors
    /// `MPI_ERR_KEYVAL` if there is no such keyval, or no value with it; the error of the delete callback.
    pub fn delete(&self, target: AttributeCarrier, handle: usize, number: i32) -> Result<()> {
        let keyval = match self.find(target, number) {
            Some(attribute) => attribute.keyval,
            None => keyval::find(target, number)?,
        };
        match self.take(&keyval) {
            Some((position, attribute)) => self.run_delete(handle, position, attribute),
            None => {
                let message = format!("the object has no attribute with keyval {number}");
                Err(Error::new(mpi::MPI_ERR_KEYVAL, message))
            }
        }
    }

    /// Deletes all values, the last one first, before the object is freed.
    ///
    /// # Errors
    /// The error of the first delete callback that fails; its value and those set before it stay.
    pub fn delete_all(&self, handle: usize) -> Result<()> {
        loop {
            let Some(last) = self.lock().pop() else { return Ok(()) };
            self.run_delete(handle, usize::MAX, last)?;
        }
    }

    /// Copies to a new object the attributes whose copy callbacks ask for it, in the order of setting.
    /// `handle` is that of the old object.
    ///
    /// # Errors
    /// The error of the first copy callback that fails; the attributes copied before it stay.
    pub fn copy_all(&self, handle: usize, new: &Attributes) -> Result<()> {
        let old = self.lock().clone();
        for Attribute { keyval, value } in old {
            if let Some(value) = keyval.copy(handle, value)? {
                new.lock().push(Attribute { keyval, value });
            }
        }
        Ok(())
    }

    fn run_delete(&self, handle: usize, position: usize, attribute: Attribute) -> Result<()> {
        let result = attribute.keyval.delete(handle, attribute.value);
        if result.is_err() {
            self.put_back(position, attribute);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ProgramFunction;
    use std::ffi::{c_int, c_void};

    /// The calls of a test's callbacks, and whether the callbacks fail.
    #[derive(Default)]
    struct Log {
        deleted: Vec<usize>,
        refuse: bool,
    }

    extern "C" fn copy_next(
        _object: usize,
        _keyval: c_int,
        _state: *mut c_void,
        value: *mut c_void,
        out: *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        let next = value.wrapping_byte_add(1);
        // SAFETY: the caller passes room for an address.
        unsafe { out.cast::<*mut c_void>().write(next) };
        // SAFETY: the caller passes room for a flag.
        unsafe { flag.write(i32::from(next.addr() % 2 == 1)) };
        if value.addr() == 99 { 77 } else { 0 }
    }

    extern "C" fn log_delete(
        _object: usize,
        _keyval: c_int,
        value: *mut c_void,
        state: *mut c_void,
    ) -> c_int {
        // SAFETY: the tests pass a log as the keyval's state.
        let log = unsafe { &mut *state.cast::<Log>() };
        if log.refuse {
            return 55;
        }
        log.deleted.push(value.addr());
        0
    }

    fn keyval(copy: Copy, log: &mut Log) -> i32 {
        let state = std::ptr::from_mut(log).expose_provenance();
        create(AttributeCarrier::Comm, copy, Delete::Call(ProgramFunction::new(log_delete)), state)
            .expect("room")
    }

    #[test]
    fn values_are_set_copied_and_deleted_in_order() {
        let mut log = Log::default();
        let (next, never, always) = (
            keyval(Copy::Call(ProgramFunction::new(copy_next)), &mut log),
            keyval(Copy::Never, &mut log),
            keyval(Copy::Always, &mut log),
        );
        let (old, new) = (Attributes::default(), Attributes::default());
        for (key, value) in [(next, 10), (never, 20), (always, 30), (next, 40)] {
            old.set(AttributeCarrier::Comm, 1, key, value).expect("valid");
        }
        assert_eq!(log.deleted, [10], "setting again deletes");
        old.copy_all(1, &new).expect("no failure");
        assert_eq!(new.get(AttributeCarrier::Comm, next).expect("valid"), Some(41));
        assert_eq!(new.get(AttributeCarrier::Comm, never).expect("valid"), None);
        assert_eq!(new.get(AttributeCarrier::Comm, always).expect("valid"), Some(30));
        old.set(AttributeCarrier::Comm, 1, next, 41).expect("valid");
        old.delete_all(1).expect("no failure");
        assert_eq!(log.deleted, [10, 40, 41, 30, 20], "the last set first");
        let mut number = next;
        free(AttributeCarrier::Comm, &mut number).expect("live");
        assert_eq!(number, mpi::MPI_KEYVAL_INVALID);
        assert_eq!(new.get(AttributeCarrier::Comm, next).expect("still in use"), Some(41));
        assert_eq!(old.get(AttributeCarrier::Comm, next).expect_err("gone").code(), mpi::MPI_ERR_KEYVAL);
        new.delete_all(2).expect("no failure");
        assert_eq!(log.deleted[5..], [41, 30]);
    }

    #[test]
    fn failures_of_callbacks_are_those_of_the_call() {
        let mut log = Log { refuse: true, ..Log::default() };
        let key = keyval(Copy::Call(ProgramFunction::new(copy_next)), &mut log);
        let attributes = Attributes::default();
        attributes.set(AttributeCarrier::Comm, 1, key, 99).expect("valid");
        assert_eq!(attributes.delete(AttributeCarrier::Comm, 1, key).expect_err("refused").code(), 55);
        assert_eq!(attributes.set(AttributeCarrier::Comm, 1, key, 1).expect_err("refused").code(), 55);
        assert_eq!(attributes.delete_all(1).expect_err("refused").code(), 55);
        assert_eq!(attributes.get(AttributeCarrier::Comm, key).expect("valid"), Some(99), "nothing was lost");
        assert_eq!(attributes.copy_all(1, &Attributes::default()).expect_err("refused").code(), 77);
        log.refuse = false;
        attributes.delete(AttributeCarrier::Comm, 1, key).expect("no failure");
        assert_eq!(
            attributes.delete(AttributeCarrier::Comm, 1, key).expect_err("none").code(),
            mpi::MPI_ERR_KEYVAL
        );
    }

    #[test]
    fn keyvals_belong_to_one_kind_of_object() {
        let mut log = Log::default();
        let mut key = keyval(Copy::Never, &mut log);
        let attributes = Attributes::default();
        for (target, number) in [
            (AttributeCarrier::Type, key),
            (AttributeCarrier::Comm, mpi::MPI_KEYVAL_INVALID),
            (AttributeCarrier::Comm, mpi::MPI_TAG_UB),
            (AttributeCarrier::Comm, key + 1_000_000),
        ] {
            assert_eq!(attributes.get(target, number).expect_err("wrong").code(), mpi::MPI_ERR_KEYVAL);
            assert_eq!(attributes.set(target, 1, number, 1).expect_err("wrong").code(), mpi::MPI_ERR_KEYVAL);
        }
        assert_eq!(
            free(AttributeCarrier::Win, &mut key).expect_err("wrong kind").code(),
            mpi::MPI_ERR_KEYVAL
        );
        free(AttributeCarrier::Comm, &mut key).expect("live");
        assert_eq!(free(AttributeCarrier::Comm, &mut key).expect_err("invalid").code(), mpi::MPI_ERR_KEYVAL);
    }
}
