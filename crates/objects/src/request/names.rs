//! The words by which a request names its communicator and its datatype, and by which others know whether it lives.

use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::ptr::null_mut;

/// These words of a slot.
#[derive(Debug)]
pub struct Names<'a, D> {
    /// Odd while a handle is valid.
    pub generation: &'a AtomicU32,
    /// The handle of the communicator.
    pub comm: &'a AtomicUsize,
    /// The address of the datatype, or null.
    pub datatype: &'a AtomicPtr<D>,
}

impl<D> Names<'_, D> {
    /// The slot is taken for a request on a communicator, which is not alive yet.
    #[inline(always)]
    pub fn take(&self, comm: usize) {
        self.comm.store(comm, Ordering::Relaxed);
        self.datatype.store(null_mut(), Ordering::Relaxed);
    }

    /// The request's buffer has this datatype.
    #[inline(always)]
    pub fn set_datatype(&self, datatype: *mut D) {
        // Relaxed: who collects reads it after what the caller does next with Release.
        self.datatype.store(datatype, Ordering::Relaxed);
    }

    /// The request lives.
    #[inline(always)]
    pub fn begin(&self) {
        self.set_generation(|last| (last + 1) | 1);
    }

    /// The request is over, and uses nothing any more.
    #[inline(always)]
    pub fn end(&self) {
        self.set_generation(|last| (last + 1) & !1);
    }

    #[inline(always)]
    fn set_generation(&self, next: impl FnOnce(u32) -> u32) {
        let generation = self.generation.load(Ordering::Relaxed);
        // Release: pairs with the Acquire in `roots`.
        let order =
            if planted(Fault::RequestRelaxedGeneration) { Ordering::Relaxed } else { Ordering::Release };
        self.generation.store(next(generation) & 0x00ff_ffff, order);
    }

    /// Hands the words to `root`, if the request lives. Of one that another thread begins or ends meanwhile, or not.
    #[inline]
    pub fn roots(&self, root: &mut dyn FnMut(usize)) {
        // Acquire: pairs with the Release in `set_generation`: what was done with the objects before is seen.
        if self.generation.load(Ordering::Acquire) & 1 == 1 {
            root(self.comm.load(Ordering::Relaxed));
            root(self.datatype.load(Ordering::Relaxed).addr());
        }
    }
}
