//! Objects of a [`Whole`](super::Whole) VNI that may have a critical section of their own: its channels.

use super::object::{GuardedObject, SectionOf};
use super::order::Entered;
use crate::path::Path;
use crate::section::{Guarded, Sections};
use heddle_sync::CachePadded;
use std::fmt::{self, Debug};

/// An object that has a critical section of its own under granularity `per-channel`, and below
/// `MPI_THREAD_MULTIPLE` needs none. Elsewhere that of the VNI encloses it. No other object shares its cache
/// lines.
pub struct Apart<T: GuardedObject>(CachePadded<Guarded<T>>);

impl<T: GuardedObject> Apart<T> {
    pub(super) fn new(sections: &Sections, object: T) -> Apart<T> {
        Apart(CachePadded::new(sections.guard_channel(T::SECTION, object)))
    }

    /// The object's critical section, for a thread that is not in the VNI's: only if
    /// [`Sections::parts_channels`].
    #[inline(always)]
    pub fn section(&self) -> &Guarded<T> {
        &self.0
    }
}

impl<T: GuardedObject> Debug for Apart<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(T::SECTION.name()).field(&*self.0).finish()
    }
}

impl<T: GuardedObject> SectionOf<T> for Apart<T> {
    #[inline(always)]
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _order = Entered::new::<T>();
        self.0.with_lock(path, operation)
    }

    #[inline]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _order = Entered::new::<T>();
        self.0.try_with_lock(path, operation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::Sectioning;
    use super::super::whole::Whole;
    use super::*;
    use crate::Model;
    use crate::counters::Section;

    struct Channel;

    impl GuardedObject for Channel {
        const SECTION: Section = Section::Channel;
        const LEVEL: u32 = 3;
    }

    /// Returns true if a channel lets a second thread in while one is inside.
    fn lets_two_in(model: &str, threads: bool) -> bool {
        let sections = Model::named(model).expect("its name").sections(threads);
        let channel = Whole::guard_channel(&sections, Channel);
        let second = || channel.try_with(Path::Main, |_| ()).is_some();
        channel.with(Path::Main, |_| {
            std::thread::scope(|scope| scope.spawn(second).join().expect("it does not wait"))
        })
    }

    #[test]
    fn a_channel_keeps_threads_out_where_the_critical_section_of_its_vni_does_not() {
        assert!(!lets_two_in("auto", true));
        assert!(lets_two_in("per-vni-mutex", true), "the VNI's critical section encloses it");
        assert!(lets_two_in("auto", false), "the program keeps other threads out");
    }
}
