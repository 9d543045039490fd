//! The words by which a request names its communicator and its datatype, and the generation that says whether
//! it lives.

use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::ptr::null_mut;

/// These words of a request's slot.
#[derive(Debug)]
pub struct RequestNames<'a, D> {
    /// Odd while a handle is valid.
    pub generation: &'a AtomicU32,
    /// The handle of the communicator.
    pub comm: &'a AtomicUsize,
    /// The address of the datatype, or null.
    pub datatype: &'a AtomicPtr<D>,
}

impl<D> RequestNames<'_, D> {
    /// Names the communicator of a new request, which does not live yet.
    #[inline(always)]
    pub fn take(&self, comm: usize) {
        self.comm.store(comm, Ordering::Relaxed);
        self.datatype.store(null_mut(), Ordering::Relaxed);
    }

    /// Names the datatype of the request's buffer.
    #[inline(always)]
    pub fn set_datatype(&self, datatype: *mut D) {
        // Relaxed: the caller's next Release orders it before the collector's read.
        self.datatype.store(datatype, Ordering::Relaxed);
    }

    /// Makes the request live; returns its generation.
    #[inline(always)]
    pub fn begin(&self) -> u32 {
        self.set_generation(|last| (last + 1) | 1)
    }

    /// Ends the request: it uses no object any more.
    #[inline(always)]
    pub fn end(&self) {
        let _ = self.set_generation(|last| (last + 1) & !1);
    }

    #[inline(always)]
    /// Gives a live request another generation, so that its handle names nothing from now on. It stays live
    /// for a collection.
    pub fn rename(&self) {
        let _ = self.set_generation(|last| last + 2);
    }

    fn set_generation(&self, next: impl FnOnce(u32) -> u32) -> u32 {
        let generation = next(self.generation.load(Ordering::Relaxed)) & 0x00ff_ffff;
        // Release: pairs with the Acquire in `roots`.
        self.generation.store(generation, Ordering::Release);
        generation
    }

    /// Hands the words to `root` if the request lives. If another thread begins or ends it at the same time,
    /// either may happen.
    #[inline]
    pub fn roots(&self, root: &mut dyn FnMut(usize)) {
        // Acquire: pairs with the Release in `set_generation`, so the caller sees all earlier uses of the
        // objects.
        if self.generation.load(Ordering::Acquire) & 1 == 1 {
            root(self.comm.load(Ordering::Relaxed));
            root(self.datatype.load(Ordering::Relaxed).addr());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::table::{HandleParts, ObjectKind, decode, encode};

    #[test]
    fn requests_live_and_end_where_the_generations_wrap() {
        const LAST: u32 = 0x00ff_ffff;
        for before in [LAST - 5, LAST - 3, LAST - 1, 0] {
            let generation = AtomicU32::new(before);
            let (comm, datatype) = (AtomicUsize::new(0), AtomicPtr::<u8>::new(null_mut()));
            let names = RequestNames { generation: &generation, comm: &comm, datatype: &datatype };
            let roots = || {
                let mut roots = Vec::new();
                names.roots(&mut |word| roots.push(word));
                roots
            };
            let mut earlier = vec![before];
            for round in 1..=4 {
                names.take(round);
                assert!(roots().is_empty(), "it does not live yet");
                let begun = names.begin();
                assert!(begun & 1 == 1 && !earlier.contains(&begun), "{begun:#x} after {earlier:x?}");
                assert_eq!((generation.load(Ordering::Relaxed), roots()), (begun, vec![round, 0]));
                let parts = HandleParts { index: 7, generation: begun };
                assert_eq!(decode(ObjectKind::Request, encode(ObjectKind::Request, parts)), Some(parts));
                names.rename();
                let renamed = generation.load(Ordering::Relaxed);
                assert!(renamed & 1 == 1 && renamed <= LAST && renamed != begun, "{renamed:#x}");
                assert_eq!(roots(), vec![round, 0]);
                names.end();
                let ended = generation.load(Ordering::Relaxed);
                assert!(ended & 1 == 0 && ended <= LAST, "{ended:#x} after {begun:#x}");
                assert!(!earlier.contains(&ended) && roots().is_empty());
                earlier.extend([begun, renamed, ended]);
            }
        }
    }
}
