//! Critical sections in which a thread leaves its operation to the thread inside instead of waiting:
//! granularity `lock-free`.
//!
//! Objects that are found by a key (the matching shards) are [`Delegated`]: a thread that finds one taken
//! leaves its operation there and goes on; the thread inside runs it before it leaves. Only a caller that
//! needs an answer waits: a probe, a cancellation. Objects that no small message needs have locks as under
//! [`Parted`](crate::Parted): the rings that are read, where a polling thread only tries; rendezvous; the
//! backlog of messages that wait for room in a ring. The ring to a peer itself has no critical section: the
//! transport lets many threads send through it at once.
//!
//! The common stores of requests and of queue nodes have locks as well. A thread exchanges a batch of 128
//! with them, so it takes these locks once in 128 operations.
//!
//! A thread runs a limited number of operations for others (the combining limit) and leaves the rest behind.
//! It tells `heddle-message`, which wakes sleeping threads; each poll for progress goes on with the rest
//! ([`Sectioning::run_left_behind`]).

use super::object::{GuardedObject, SectionOf, Sectioning};
use super::order::Entered;
use super::parted::{Locked, SHARDS, shard_of};
use crate::counters::{Row, Tracked};
use crate::path::Path;
use crate::section::Sections;
use heddle_combining::Delegated;
use heddle_combining::delegated::Rest;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::thread;
use heddle_sync::WaitPolicy;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Each object has a critical section, and no thread waits for one on the path of a small message.
#[derive(Debug)]
pub enum LockFree {}

/// An object whose operations are left to the thread inside its critical section.
pub struct LeftTo<T: 'static> {
    object: Delegated<Tracked<T>>,
    row: Row,
    left: Arc<Left>,
}

/// All objects of a kind that are found by a key.
pub struct LeftToAll<T: 'static> {
    objects: Box<[LeftTo<T>]>,
    left: Arc<Left>,
}

/// Notes and reports that operations were left behind.
struct Left {
    /// Not 0 if some object may have operations that were left behind.
    some: AtomicUsize,
    tell: Box<dyn Fn() + Send + Sync>,
}

impl<T: GuardedObject> Debug for LeftTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(T::SECTION.name()).field("object", &self.object).finish_non_exhaustive()
    }
}

impl<T: GuardedObject> Debug for LeftToAll<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.objects).finish()
    }
}

impl<T: GuardedObject> LeftTo<T> {
    /// Counts an entry after the thread has left the critical section, and reports
    /// operations that it left there.
    #[inline(always)]
    fn left_section<R>(&self, path: Path, entered: Entered, (result, rest): (R, Rest)) -> R {
        self.row.entered(path);
        drop(entered);
        self.report(rest);
        result
    }

    #[inline(always)]
    fn report(&self, rest: Rest) {
        if rest == Rest::Left {
            self.report_left();
        }
    }

    #[cold]
    fn report_left(&self) {
        // Release: pairs with the swap in `run_all_left_behind`, which either reads this or
        // lets the next poll read it.
        self.left.some.store(1, Ordering::Release);
        (self.left.tell)();
    }
}

impl<T: GuardedObject> SectionOf<T> for LeftTo<T> {
    #[inline]
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let entered = Entered::new::<T>();
        let done = match self.object.try_run(|object| object.run(operation)) {
            Ok(done) => done,
            Err(operation) => self.row.timed(path, || self.object.run(operation)),
        };
        self.left_section(path, entered, done)
    }

    fn count_poll(&self) {
        self.row.only_polled();
    }

    #[inline]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let entered = Entered::new::<T>();
        let done = self.object.try_run(|object| object.run(operation)).ok()?;
        Some(self.left_section(path, entered, done))
    }

    #[inline]
    fn with_or_leave<C, R, L: FnOnce(&mut T) + Send + 'static>(
        &self,
        path: Path,
        with: C,
        operation: impl FnOnce(&mut T, C) -> R,
        later: impl FnOnce(C) -> (L, R),
    ) -> R {
        let entered = Entered::new::<T>();
        let inside = |object: &mut Tracked<T>, with| object.run(|object| operation(object, with));
        let done = self.object.run_or_post(with, inside, |with| {
            let (operation, result) = later(with);
            let (row, caller) = (self.row, thread::current_id());
            let counted = move |object: &mut Tracked<T>| {
                if thread::current_id() != caller {
                    row.ran_for_another();
                }
                object.run(operation);
            };
            (counted, result)
        });
        self.left_section(path, entered, done)
    }
}

impl Sectioning for LockFree {
    const PARTED: bool = true;

    type Section<T: GuardedObject> = Locked<T>;
    type Channel<T: GuardedObject> = Locked<T>;
    type Shard<T: GuardedObject> = LeftTo<T>;
    type Shards<T: GuardedObject> = LeftToAll<T>;

    fn guard<T: GuardedObject>(sections: &Sections, object: T) -> Locked<T> {
        Locked::new(sections, object)
    }

    fn guard_channel<T: GuardedObject>(sections: &Sections, channel: T) -> Locked<T> {
        Locked::new(sections, channel)
    }

    fn shards<T: GuardedObject>(
        sections: &Sections,
        mut make: impl FnMut() -> T,
        left: impl Fn() + Send + Sync + 'static,
    ) -> LeftToAll<T> {
        let left = Arc::new(Left { some: AtomicUsize::new(0), tell: Box::new(left) });
        let objects = (0..SHARDS).map(|_| LeftTo {
            object: Delegated::new(
                Tracked::new(make(), Row::of(T::SECTION)),
                sections.combining_limit(),
                WaitPolicy::DEFAULT,
            ),
            row: Row::of(T::SECTION),
            left: left.clone(),
        });
        LeftToAll { objects: objects.collect(), left }
    }

    #[inline]
    fn shard<T: GuardedObject>(shards: &LeftToAll<T>, key: u64) -> &LeftTo<T> {
        &shards.objects[shard_of(key)]
    }

    fn each<T: GuardedObject>(shards: &LeftToAll<T>) -> impl Iterator<Item = &LeftTo<T>> {
        shards.objects.iter()
    }

    #[inline(always)]
    fn run_left_behind<T: GuardedObject>(shards: &LeftToAll<T>) -> bool {
        if shards.left.some.load(Ordering::Relaxed) == 0 { false } else { run_all_left_behind(shards) }
    }

    #[inline]
    fn change(number: &AtomicUsize, by: isize) {
        // Wraps for a negative change. Release: a thread that reads 0 comes after the last waiting operation.
        number.fetch_add(by as usize, Ordering::Release);
    }
}

/// Runs the operations that were left behind.
#[cold]
fn run_all_left_behind<T: GuardedObject>(shards: &LeftToAll<T>) -> bool {
    // The flag is cleared first: a thread that leaves an operation from now on sets it again. AcqRel: pairs
    // with the store in `report_left`.
    shards.left.some.swap(0, Ordering::AcqRel);
    let mut ran = false;
    for section in &shards.objects {
        let entered = Entered::new::<T>();
        let rest = section.object.serve_left();
        drop(entered);
        if let Some(rest) = rest {
            section.report(rest);
            ran = true;
        }
    }
    ran
}
