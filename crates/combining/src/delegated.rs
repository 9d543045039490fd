//! A value whose operations are left to the thread inside: a thread that can leave its operation never waits.
//!
//! **What it gives.** A caller that finds no thread at the value runs its operation itself, for two atomic
//! instructions. A caller that finds one there posts the operation and goes away ([`post`](Delegated::post)):
//! the thread inside runs it before leaving. So a thread that is stopped at the value blocks only threads
//! that need a result ([`run`](Delegated::run)).
//!
//! **Source.** Delegation as in LockQ (A. Amer et al., *Software combining to mitigate multithreaded MPI
//! contention*, ICS 2019), over one word as in an actor's mailbox. In [`LockQueue`](crate::LockQueue) posters
//! wait when too much is posted, so that no thread works for the others for ever. Here no thread waits: a
//! thread that has run `limit` operations of others leaves the rest behind and says so ([`Rest::Left`]). The
//! next thread that posts goes on with it, and the user sees to it that a thread checks
//! ([`serve_left`](Delegated::serve_left)).
//!
//! The word `state` is the address of the newest posted operation, each of which leads to the one before it
//! (as in [`chain`](heddle_sync::queues::chain)), and three bits:
//!
//! | `state` | meaning |
//! |---|---|
//! | `FREE`: no address, no bit | no thread is at the value, and nothing is posted |
//! | `HELD` | a thread is inside |
//! | `HELD`, an address | a thread is inside, and will run what is posted before it leaves |
//! | `LEFT`, perhaps an address | no thread is inside, and operations were left behind |
//! | `HELD` … and `ASLEEP` | a thread sleeps until the value is free |
//!
//! ```text
//!   post:   FREE -> HELD: run it, leave      otherwise put it in front, with HELD: HELD before? go away
//!   leave:  HELD -> FREE                     otherwise take what is posted, run it, leave again
//! ```
//!
//! A poster fetches the word's cache line twice: when it attempts to enter, and when it posts. With a list
//! beside the word it would fetch a line four times: the word's, the list's to read and then to write, and
//! the word's again. Where 44 threads post, each fetch waits for those of the others.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread that set `HELD` accesses `guarded`, until it clears it.
//! 2. *Nothing is forgotten*: the change that posts an operation sets `HELD` or finds it set. `HELD` is
//!    cleared by a compare-and-swap that finds nothing posted, or sets `LEFT`; a thread that clears `LEFT`
//!    sets `HELD`. So between the end of a call of `post` and the operation's run, one of the two is set.
//! 3. *Order*: posted operations run in the order in which they were posted. An operation that was not
//!    posted runs if the state was `FREE`, so that all operations whose `post` had returned have run
//!    (invariant 2), or after all that were found posted.
//! 4. *No lost wake-up*: a sleeper reads `wakings`, then sets `ASLEEP`, and sleeps while `wakings` is what it
//!    has read. A thread that clears `ASLEEP` changes `wakings` and wakes one sleeper; and a thread that has
//!    slept sets `ASLEEP` when it enters, since others may sleep.
//!
//! **Orderings.** Every change of `state` is a read-modify-write, so each stays in the release
//! sequence of the earlier ones. Clearing `HELD` releases, setting it acquires; posting releases, taking what
//! is posted acquires. Setting `ASLEEP` releases and clearing it acquires, for what was read of `wakings`.
//!
//! **Fairness**: posted operations are first come, first served; an operation that waits for its result may
//! be overtaken. **Cost**: without contention that of an uncontended lock; a post is a node from the thread's
//! cache, and two compare-and-swaps on one word.

use crate::posted::{Posted, run_unattended};
use crate::request::Request;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform, Scope};
use heddle_sync::queues::chain::{Linked, NODE_ALIGN, oldest_first};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, WaitPolicy};
use std::fmt;
use std::mem;
use std::ptr::{self, NonNull};

const HELD: usize = 1;
const LEFT: usize = 2;
const ASLEEP: usize = 4;
/// The bits of an address that are free.
const BITS: usize = NODE_ALIGN - 1;

/// The word without an address, with these bits.
const fn only<N>(bits: usize) -> *mut N {
    ptr::without_provenance_mut(bits)
}

/// Returns true if the word has one of these bits.
fn has<N>(word: *mut N, bits: usize) -> bool {
    word.addr() & bits != 0
}

/// The newest posted operation, or null.
fn newest<N>(word: *mut N) -> *mut N {
    word.map_addr(|bits| bits & !BITS)
}

/// The word with `HELD`, for a thread that enters.
fn entered<N>(word: *mut N) -> *mut N {
    word.map_addr(|bits| bits & !LEFT | HELD)
}

/// A result of a compare-and-swap of the word.
type Swapped<N> = Result<*mut N, *mut N>;

/// What a thread left behind when it left the value.
#[must_use = "what is left behind runs only when another thread comes"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: all posted operations have run, or another thread is inside.
    Nothing,
    /// Operations that do not run until a thread calls again.
    Left,
}

/// The value; see the [module](self).
pub struct Delegated<T: 'static, P: Platform = Native> {
    state: CachePadded<P::AtomicPtr<Request<P, T>>>,
    /// How many times a sleeper was woken: the word on which sleepers sleep.
    wakings: P::AtomicU32,
    guarded: CachePadded<P::Cell<Guarded<T, P>>>,
    limit: u32,
    policy: WaitPolicy,
}

struct Guarded<T: 'static, P: Platform> {
    value: T,
    /// The operations that were taken from `state` and have not run yet, oldest first.
    pending: *mut Request<P, T>,
}

// SAFETY: one thread at a time accesses the value (invariant 1), so it moves between threads but is never
// shared; posted operations are Send.
unsafe impl<T: Send + 'static, P: Platform> Sync for Delegated<T, P> {}
// SAFETY: the owner of `self` owns the value and the posted operations.
unsafe impl<T: Send + 'static, P: Platform> Send for Delegated<T, P> {}

impl<T: 'static, P: Platform> fmt::Debug for Delegated<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delegated").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<T: 'static, P: Platform> Delegated<T, P> {
    /// Wraps `value`. A thread runs at most `limit` operations of others (at least 1) before it leaves.
    /// Waiters wait by `policy`. Operations that are left when it is dropped do not run.
    #[must_use]
    pub fn new(value: T, limit: u32, policy: WaitPolicy) -> Self {
        let guarded = Guarded { value, pending: ptr::null_mut() };
        Self {
            state: CachePadded::new(AtomicPointer::new(only(0))),
            wakings: AtomicInteger::new(0),
            guarded: CachePadded::new(MemoryCell::new(guarded)),
            limit: limit.max(1),
            policy,
        }
    }

    /// Runs `operation` if no thread is at the value and nothing is left behind; never waits.
    ///
    /// # Errors
    ///
    /// Gives the operation back, not run.
    #[inline]
    pub fn try_run<R, F: FnOnce(&mut T) -> R>(&self, operation: F) -> Result<(R, Rest), F> {
        if self.try_enter().is_ok() { Ok(self.run_inside(operation)) } else { Err(operation) }
    }

    /// Runs `operation` after the posted operations; for that it waits until the value is free. An
    /// operation must not call it.
    #[inline]
    pub fn run<R>(&self, operation: impl FnOnce(&mut T) -> R) -> (R, Rest) {
        if self.try_enter().is_err() {
            self.enter_waiting();
        }
        self.run_inside(operation)
    }

    /// Runs `operation`, or leaves it to the thread inside; never waits. An operation may call it.
    #[inline]
    pub fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) -> Rest {
        match self.try_enter() {
            Ok(_) => {
                self.guarded(|guarded| run_unattended(operation, &mut guarded.value));
                self.leave()
            }
            Err(seen) => self.leave_behind(seen, operation),
        }
    }

    /// Runs `operation`, or leaves the operation that `later` makes to the thread inside; never waits. Only
    /// one of the two is called, with `given`; `later` also says what is to be returned.
    #[inline]
    pub fn run_or_post<C, R, L: FnOnce(&mut T) + Send + 'static>(
        &self,
        given: C,
        operation: impl FnOnce(&mut T, C) -> R,
        later: impl FnOnce(C) -> (L, R),
    ) -> (R, Rest) {
        match self.try_enter() {
            Ok(_) => self.run_inside(|value| operation(value, given)),
            Err(seen) => {
                let (operation, result) = later(given);
                (result, self.leave_behind(seen, operation))
            }
        }
    }

    /// Posts an operation, because a thread is inside or something is left behind: the state was `seen`.
    #[inline(never)]
    fn leave_behind(
        &self,
        mut seen: *mut Request<P, T>,
        operation: impl FnOnce(&mut T) + Send + 'static,
    ) -> Rest {
        let request = Posted::<P, T, _>::new(operation).request();
        debug_assert!(!has(request.as_ptr(), BITS), "the node's low address bits are in use");
        // SAFETY: it is new, and alive until it has run.
        let older = unsafe { request.as_ref() }.next();
        let posted = loop {
            older.store(newest(seen), Ordering::Relaxed);
            let posted = entered(request.as_ptr().map_addr(|bits| bits | seen.addr() & ASLEEP));
            // Release: pairs with the Acquire in take(), for the posted operation. Acquire: pairs with
            // the Release of the thread that was inside before, since the caller may be inside now.
            match self.state.compare_exchange(seen, posted, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break posted,
                Err(now) => seen = now,
            }
        };
        if has(seen, HELD) { Rest::Nothing } else { self.leave_called(posted) }
    }

    /// Returns true if something was left behind while no thread is inside; it may be outdated at once.
    #[inline]
    #[must_use]
    pub fn is_left(&self) -> bool {
        has(self.state.load(Ordering::Relaxed), LEFT)
    }

    /// Goes on with the operations left behind, if no other thread does; `None` if there is nothing to do.
    pub fn serve_left(&self) -> Option<Rest> {
        let seen = self.state.load(Ordering::Relaxed);
        (has(seen, LEFT) && self.enter(seen, 0).is_ok()).then(|| self.leave_called(entered(seen)))
    }

    /// Returns true if no thread is inside and nothing is posted; it may be outdated at once.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state.load(Ordering::Relaxed).is_null()
    }

    #[inline(always)]
    fn try_enter(&self) -> Swapped<Request<P, T>> {
        // Acquire: pairs with the Release of the thread that was inside before.
        self.state.compare_exchange(only(0), only(HELD), Ordering::Acquire, Ordering::Relaxed)
    }

    /// Enters, if the state is still `seen`, in which no thread is inside. Sets `more`, too.
    fn enter(&self, seen: *mut Request<P, T>, more: usize) -> Swapped<Request<P, T>> {
        let entered = entered(seen).map_addr(|bits| bits | more);
        // Acquire: pairs with the Release of the thread that was inside before.
        self.state.compare_exchange(seen, entered, Ordering::Acquire, Ordering::Relaxed)
    }

    /// Waits until the value is free, enters, and runs what is posted by then.
    #[cold]
    fn enter_waiting(&self) {
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        let mut slept = 0;
        loop {
            // Before ASLEEP is set (invariant 4).
            let wakings = self.wakings.load(Ordering::Relaxed);
            let seen = self.state.load(Ordering::Relaxed);
            if !has(seen, HELD) {
                if self.enter(seen, slept).is_ok() {
                    break;
                }
            } else if waiter.pause() == Next::Park {
                let asleep = seen.map_addr(|bits| bits | ASLEEP);
                // Release: pairs with the Acquire of the thread that clears ASLEEP.
                let noted = self.state.compare_exchange(seen, asleep, Ordering::Release, Ordering::Relaxed);
                if noted.is_err() {
                    continue;
                }
                P::wait(&self.wakings, wakings, None, Scope::Process);
                slept = ASLEEP;
                waiter.reset();
            }
        }
        self.serve_found();
    }

    /// Runs everything that is posted now. It may ignore later posts, since this thread has only just come.
    fn serve_found(&self) {
        let posted = self.take(&mut self.state.load(Ordering::Relaxed));
        self.guarded(|guarded| {
            for taken in [mem::replace(&mut guarded.pending, ptr::null_mut()), posted] {
                let mut next = taken;
                while let Some(request) = NonNull::new(next) {
                    // SAFETY: this thread, or one inside before it, took it, in order and each once.
                    next = unsafe { Request::serve(request, &mut guarded.value) };
                }
            }
        });
    }

    /// Inside: takes what is posted, and returns the oldest operation, from which `next` leads to younger
    /// ones, or null. `seen` is what the state was, and then is.
    fn take(&self, seen: &mut *mut Request<P, T>) -> *mut Request<P, T> {
        while !newest(*seen).is_null() {
            let taken = only(seen.addr() & BITS);
            // Acquire: pairs with the Release in leave_behind().
            match self.state.compare_exchange(*seen, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(posted) => {
                    *seen = taken;
                    // SAFETY: this thread has just taken the chain.
                    return unsafe { oldest_first::<P, _>(newest(posted)) };
                }
                Err(now) => *seen = now,
            }
        }
        ptr::null_mut()
    }

    /// Inside: runs `operation` and leaves, also if that panics.
    #[inline(always)]
    fn run_inside<R>(&self, operation: impl FnOnce(&mut T) -> R) -> (R, Rest) {
        let inside = Inside(self);
        let result = self.guarded(|guarded| operation(&mut guarded.value));
        mem::forget(inside);
        (result, self.leave())
    }

    /// Inside: leaves, having run what is posted.
    #[inline(always)]
    fn leave(&self) -> Rest {
        // Release: pairs with the Acquire of the thread that enters next.
        match self.state.compare_exchange(only(HELD), only(0), Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Rest::Nothing,
            Err(seen) => self.leave_called(seen),
        }
    }

    /// Inside: leaves while something is posted or was left behind, or a thread sleeps. The state was `seen`.
    #[inline(never)]
    fn leave_called(&self, mut seen: *mut Request<P, T>) -> Rest {
        let mut left = self.limit;
        loop {
            if !self.serve(&mut seen, &mut left) {
                return self.leave_rest(seen);
            }
            // Release: pairs with the Acquire of the thread that enters next.
            match self.state.compare_exchange(only(HELD), only(0), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Rest::Nothing,
                Err(now) => seen = now,
            }
            if newest(seen).is_null() {
                // Acquire: pairs with the Release that set ASLEEP. Release: as above.
                match self.state.compare_exchange(seen, only(0), Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => {
                        self.wake_one(seen);
                        return Rest::Nothing;
                    }
                    Err(now) => seen = now,
                }
            }
        }
    }

    /// Inside: leaves, and leaves operations behind. The state was `seen`.
    #[cold]
    fn leave_rest(&self, mut seen: *mut Request<P, T>) -> Rest {
        loop {
            let rest = newest(seen).map_addr(|bits| bits | LEFT);
            // Acquire: pairs with the Release that set ASLEEP. Release: pairs with the Acquire of the
            // thread that enters next.
            match self.state.compare_exchange(seen, rest, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    self.wake_one(seen);
                    return Rest::Left;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Inside: runs the operations that were left behind, and those that are posted, `left` at most; returns
    /// whether that was all. `seen` is what the state was, and then is.
    fn serve(&self, seen: &mut *mut Request<P, T>, left: &mut u32) -> bool {
        self.guarded(|guarded| {
            let mut is_taken = false;
            loop {
                let Some(request) = NonNull::new(guarded.pending) else {
                    if mem::replace(&mut is_taken, true) {
                        return true;
                    }
                    guarded.pending = self.take(seen);
                    continue;
                };
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                // SAFETY: this thread, or one inside before it, took it, in order and each once.
                guarded.pending = unsafe { Request::serve(request, &mut guarded.value) };
            }
        })
    }

    /// Wakes one sleeper, if the state before the change says that there is one.
    fn wake_one(&self, before: *mut Request<P, T>) {
        if has(before, ASLEEP) {
            self.wakings.fetch_add(1, Ordering::Relaxed);
            P::wake(&self.wakings, 1, Scope::Process);
        }
    }

    /// Gives `use_it` the guarded data. The caller is inside.
    #[inline(always)]
    fn guarded<R>(&self, use_it: impl FnOnce(&mut Guarded<T, P>) -> R) -> R {
        let access = self.guarded.access();
        // SAFETY: the caller is inside (invariant 1), and no operation that `use_it` runs
        // gets here without entering.
        use_it(unsafe { access.deref() })
    }
}

/// A thread inside, whose operation may panic.
struct Inside<'a, T: 'static, P: Platform>(&'a Delegated<T, P>);

impl<T: 'static, P: Platform> Drop for Inside<'_, T, P> {
    /// Leaves. After a panic no caller would learn that something is left, so nothing is left behind.
    fn drop(&mut self) {
        let mut rest = self.0.leave();
        while rest == Rest::Left {
            rest = self.0.serve_left().unwrap_or(Rest::Nothing);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};
    use std::thread;

    fn log(limit: u32) -> Arc<Delegated<Vec<u32>>> {
        Arc::new(Delegated::new(Vec::new(), limit, WaitPolicy::DEFAULT))
    }

    #[test]
    fn posting_threads_do_not_wait_for_a_stopped_thread_inside() {
        let (value, gate) = (log(2), Arc::new(Barrier::new(2)));
        let stopped = thread::spawn({
            let (value, gate) = (Arc::clone(&value), Arc::clone(&gate));
            move || {
                value.run(|_| {
                    gate.wait();
                    gate.wait();
                })
            }
        });
        gate.wait();
        let poster = thread::spawn({
            let value = Arc::clone(&value);
            move || (0..5).for_each(|n| assert_eq!(value.post(move |log| log.push(n)), Rest::Nothing))
        });
        poster.join().expect("it did not wait");
        assert!(value.try_run(|_| ()).is_err());
        assert!(!value.is_left() && value.serve_left().is_none());
        gate.wait();
        assert_eq!(stopped.join().expect("goes on").1, Rest::Left);
        assert!(value.is_left() && value.try_run(|_| ()).is_err());
        assert_eq!(value.serve_left(), Some(Rest::Left));
        // A thread that comes with its own operation goes on with the rest up to the limit; one that
        // needs a result runs all.
        assert_eq!(value.post(|log| log.push(5)), Rest::Nothing);
        assert_eq!(value.run(|log| log.clone()), ((0..6).collect(), Rest::Nothing));
        assert!(value.is_idle());
    }

    #[test]
    fn a_thread_that_sleeps_until_it_is_free_is_woken() {
        let value = Arc::new(Delegated::<u32>::new(0, 8, WaitPolicy::PARK_AT_ONCE));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let value = Arc::clone(&value);
                thread::spawn(move || {
                    for _ in 0..2_000 {
                        let _ = value.run(|count| *count += 1);
                        let _ = value.post(|count| *count += 1);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("ends"));
        assert_eq!(value.run(|count| *count).0, 32_000);
    }

    #[test]
    fn a_panic_leaves_it_usable_and_loses_nothing() {
        let value = log(1);
        let inner = Arc::clone(&value);
        let panicking = thread::spawn(move || {
            inner.run(|_| {
                for n in 0..3 {
                    let _ = inner.post(move |log| log.push(n));
                }
                panic!("an operation panics on purpose");
            })
        });
        assert!(panicking.join().is_err());
        assert!(value.is_idle());
        assert_eq!(value.run(|log| log.clone()).0, [0, 1, 2]);
    }
}
