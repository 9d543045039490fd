//! The check of the order of critical sections, in debug builds.

use super::object::GuardedObject;
#[cfg(debug_assertions)]
use std::cell::Cell;

#[cfg(debug_assertions)]
thread_local! {
    /// A bit for the level of each critical section that this thread is in.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Says that this thread is in a critical section, until it is dropped.
pub(crate) struct Entered {
    #[cfg(debug_assertions)]
    before: u32,
}

impl Entered {
    #[cfg(debug_assertions)]
    pub(crate) fn new<T: GuardedObject>() -> Entered {
        let before = INSIDE.get();
        assert!(
            before >> T::LEVEL == 0,
            "the critical section \"{}\" (level {}) is entered inside of the levels {before:#b}",
            T::SECTION.name(),
            T::LEVEL
        );
        INSIDE.set(before | 1 << T::LEVEL);
        Entered { before }
    }

    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(crate) fn new<T: GuardedObject>() -> Entered {
        Entered {}
    }
}

#[cfg(debug_assertions)]
impl Drop for Entered {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}
