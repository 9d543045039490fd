//! Objects, and the critical sections that guard them.

use crate::counters::Section;
use crate::path::Path;
use crate::section::Sections;
use heddle_platform::atomic::AtomicUsize;
use std::fmt::Debug;

/// State that a critical section guards.
pub trait GuardedObject: Send + 'static {
    /// The name of the state's critical section, and the row in which its entries are counted.
    const SECTION: Section;
    /// The critical section's position in the order in which threads enter several.
    const LEVEL: u32;
}

/// A critical section, with the object that it guards.
pub trait SectionOf<T> {
    /// Runs `operation` inside.
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R;

    /// Does the same as [`with`](Self::with) on the main path, for an operation that creates,
    /// completes and frees nothing.
    fn poll<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        let result = self.with(Path::Main, operation);
        self.count_poll();
        result
    }

    /// Counts the calling thread's last entry as one that only polled, if entries are counted.
    fn count_poll(&self) {}

    /// Runs `operation` inside unless another thread is inside; never waits.
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R>;

    /// Runs `operation` inside. But if another thread is inside, and operations can be left to it, leaves it
    /// the operation that `later` makes; that thread runs it soon. `later` also makes the result for the
    /// caller. Either `operation` or `later` is called, with `given`.
    #[inline(always)]
    fn with_or_leave<C, R, L: FnOnce(&mut T) + Send + 'static>(
        &self,
        path: Path,
        given: C,
        operation: impl FnOnce(&mut T, C) -> R,
        later: impl FnOnce(C) -> (L, R),
    ) -> R {
        let _ = later;
        self.with(
            path,
            #[inline(always)]
            |object| operation(object, given),
        )
    }
}

/// A way to guard the parts of a VNI.
pub trait Sectioning: Debug + 'static {
    /// True if several threads can be in a VNI at once.
    const PARTED: bool;

    /// The critical section of one object.
    type Section<T: GuardedObject>: SectionOf<T> + Debug;
    /// The critical section of a channel to a peer.
    type Channel<T: GuardedObject>: SectionOf<T> + Debug;
    /// The critical section of an object that is found by a key.
    type Shard<T: GuardedObject>: SectionOf<T> + Debug;
    /// The critical sections of all objects of a kind that are found by a key.
    type Shards<T: GuardedObject>: Debug;

    /// Puts an object behind its critical section.
    fn guard<T: GuardedObject>(sections: &Sections, object: T) -> Self::Section<T>;

    /// Puts a channel behind its critical section.
    fn guard_channel<T: GuardedObject>(sections: &Sections, channel: T) -> Self::Channel<T>;

    /// Makes all objects of a kind. Calls `left` when a thread leaves operations behind; they wait until a
    /// thread enters that critical section or [runs](Self::run_left_behind) them.
    fn shards<T: GuardedObject>(
        sections: &Sections,
        make: impl FnMut() -> T,
        left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T>;

    /// Returns the object of a key, always the same one.
    fn shard<T: GuardedObject>(shards: &Self::Shards<T>, key: u64) -> &Self::Shard<T>;

    /// All objects of a kind.
    fn each<T: GuardedObject>(shards: &Self::Shards<T>) -> impl Iterator<Item = &Self::Shard<T>>;

    /// Runs the operations that were left behind. Returns true if there were any.
    #[inline(always)]
    fn run_left_behind<T: GuardedObject>(_shards: &Self::Shards<T>) -> bool {
        false
    }

    /// Adds `by` to a number that threads in several critical sections write, and any thread reads.
    fn change(number: &AtomicUsize, by: isize);
}
