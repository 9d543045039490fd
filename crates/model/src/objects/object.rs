//! What the engine says of an object, and what it is reached through.

use crate::counters::Section;
use crate::path::Path;
use crate::section::Sections;
use heddle_platform::atomic::AtomicUsize;
use std::fmt::Debug;

/// State that a section guards.
pub trait Object: Send + 'static {
    /// What it is called, and where it is counted.
    const SECTION: Section;
    /// Its place in the order in which sections are entered.
    const LEVEL: u32;
}

/// A section, with what it guards.
pub trait SectionOf<T> {
    /// Runs `operation` inside.
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R;

    /// As [`with`](Self::with) on the main path, for an operation that creates, completes and frees nothing.
    fn look<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        self.with(Path::Main, operation)
    }

    /// Runs `operation` inside if nobody else is; never waits.
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R>;

    /// As [`with`](Self::with); or, where the section is one that nobody waits for and somebody is inside,
    /// leaves to that thread what `later` makes, which runs inside soon. Only one of the two is called, with
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
    /// The section of an object that is found by a key.
    type Shard<T: Object>: SectionOf<T> + Debug;
    /// The sections of all objects of such a kind.
    type Shards<T: Object>: Debug;

    /// Puts an object behind its section.
    fn guard<T: Object>(sections: &Sections, object: T) -> Self::Section<T>;

    /// Makes all objects of a kind. `left` is called when some operations were left that nobody
    /// runs, until somebody enters that section or [serves](Self::serve_left) them.
    fn shards<T: Object>(
        sections: &Sections,
        make: impl FnMut() -> T,
        left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T>;

    /// The object of a key, always the same one.
    fn shard<T: Object>(shards: &Self::Shards<T>, key: u64) -> &Self::Shard<T>;

    /// Runs the operations that were left; whether there were any.
    #[inline(always)]
    fn serve_left<T: Object>(_shards: &Self::Shards<T>) -> bool {
        false
    }

    /// Changes a number that threads in several sections write, and any thread reads.
    fn change(number: &AtomicUsize, by: isize);
}
