//! Instances of events: what a callback can read, as long as it runs.
//!
//! An instance lies on the stack of the thread that tells of it, and is known to that thread alone. Its
//! handle is its address; a word that is no instance of the calling thread is recognised, since it is
//! compared with those that are and never followed.

use super::event::EventType;
use super::lookup::{at, check, error};
use super::value::Type;
use heddle_message::error::Result;
use heddle_model::MOST_NUMBERS;
use heddle_spec::constants as mpi;
use std::cell::Cell;
use std::ptr;

/// An instance of an event.
#[derive(Debug, Clone, Copy)]
pub struct Instance {
    event: &'static EventType,
    time: i64,
    numbers: [u64; MOST_NUMBERS],
    /// The instance that the thread was telling of when this one happened, or null.
    outer: *const Instance,
    /// What callbacks must be able to do.
    pub(crate) safety: i32,
}

thread_local! {
    /// The instance that this thread tells of, or null.
    static CURRENT: Cell<*const Instance> = const { Cell::new(ptr::null()) };
}

impl Instance {
    /// Passes a new instance to `tell`. Numbers are in the order in which the tracepoint gives them: elements
    /// of eight bytes come first, which is the order of memory, too.
    pub(crate) fn with(
        event: &'static EventType,
        time: i64,
        safety: i32,
        given: &[u64],
        tell: impl FnOnce(&Instance),
    ) {
        let mut numbers = [0; MOST_NUMBERS];
        numbers[..given.len()].copy_from_slice(given);
        let instance = Instance { event, time, numbers, outer: CURRENT.get(), safety };
        CURRENT.set(&raw const instance);
        tell(&instance);
        CURRENT.set(instance.outer);
    }

    /// Its handle.
    pub(crate) fn handle(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// The calling thread's instance with that handle.
    ///
    /// # Errors
    /// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
    pub fn of(handle: usize) -> Result<Instance> {
        check()?;
        let mut next = CURRENT.get();
        // SAFETY: the instances of this thread are on its stack, in functions that have not returned.
        while let Some(instance) = unsafe { next.as_ref() } {
            if instance.handle() == handle {
                return Ok(*instance);
            }
            next = instance.outer;
        }
        Err(error(
            mpi::MPI_T_ERR_INVALID_HANDLE,
            format!("{handle:#x} is no event of which this thread is told now"),
        ))
    }

    /// When it happened.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The bytes of an element, as C sees it.
    ///
    /// # Errors
    /// `MPI_T_ERR_INVALID_INDEX`.
    pub fn element(&self, index: i32) -> Result<Vec<u8>> {
        let (_, kind) = at(self.event.elements, index)?;
        let number = self.numbers[index as usize];
        Ok(match kind {
            Type::Integer => (number as i32).to_ne_bytes().to_vec(),
            _ => number.to_ne_bytes().to_vec(),
        })
    }

    /// The bytes of all elements.
    ///
    /// # Errors
    /// None: all elements exist.
    pub fn elements(&self) -> Result<Vec<u8>> {
        let elements = (0..).take(self.event.elements.len()).map(|index| self.element(index));
        Ok(elements.collect::<Result<Vec<_>>>()?.concat())
    }
}

/// The safety that a callback needs if the calling thread calls it now.
pub(crate) fn safety_here() -> i32 {
    let current = CURRENT.get();
    // SAFETY: the instances of this thread are on its stack, in functions that have not returned.
    unsafe { current.as_ref() }.map_or(mpi::MPI_T_CB_REQUIRE_NONE, |instance| instance.safety)
}
