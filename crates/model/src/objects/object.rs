//! The description of an object, and the traits through which it is reached.

use crate::counters::Section;
use crate::path::Path;
use crate::section::Sections;
use heddle_platform::atomic::AtomicUsize;
use std::fmt::Debug;

/// State that a critical section guards.
pub trait Object: Send + 'static {
    /// The name of the object's critical section, under which it is counted.
    const SECTION: Section;
    /// Its place in the order in which critical sections are entered.
    const LEVEL: u32;
}

/// A critical section, with the state that it guards.
pub trait SectionOf<T> {
    /// Runs `operation` inside.
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R;

    /// Runs `operation` inside, on the main path, if it creates, completes and frees nothing.
    fn look<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        self.with(Path::Main, operation)
    }

    /// Runs `operation` inside if no other thread is; never waits.
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R>;

    /// Runs `operation` inside. If the critical section is one without waiting and another thread is inside, it instead
    /// leaves to that thread the operation that `later` makes, which runs inside soon. Only one of the two is called, with
    /// `given`; `later` also says what is to be returned.
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

/// How the parts of a VNI are guarded.
pub trait Sectioning: Debug + 'static {
    /// Whether several threads can be in a VNI at once.
    const PARTED: bool;

    /// The section of one object.
    type Section<T: Object>: SectionOf<T> + Debug;
    /// The critical section of an object that is found by a key.
    type Shard<T: Object>: SectionOf<T> + Debug;
    /// The critical sections of all objects of such a kind.
    type Shards<T: Object>: Debug;

    /// Puts an object behind its critical section.
    fn guard<T: Object>(sections: &Sections, object: T) -> Self::Section<T>;

    /// Makes all objects of a kind. It calls `left` when operations were left behind: they do not run until a thread enters
    /// that critical section or [serves](Self::serve_left) them.
    fn shards<T: Object>(
        sections: &Sections,
        make: impl FnMut() -> T,
        left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T>;

    /// The object for a key, always the same one.
    fn shard<T: Object>(shards: &Self::Shards<T>, key: u64) -> &Self::Shard<T>;

    /// Runs the operations that were left behind; returns whether there were any.
    #[inline(always)]
    fn serve_left<T: Object>(_shards: &Self::Shards<T>) -> bool {
        false
    }

    /// Changes a number that threads in several sections write, and any thread reads.
    fn change(number: &AtomicUsize, by: isize);
}
