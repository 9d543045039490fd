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
//! | `state` | meaning |
//! |---|---|
//! | none | no thread is at the value, and nothing is posted |
//! | `HELD` | a thread is inside |
//! | `HELD`, `POSTED` | a thread is inside, and will run what is posted before it leaves |
//! | `POSTED` | no thread is inside, and operations were left behind |
//! | … and `ASLEEP` | a thread sleeps until the value is free |
//!
//! ```text
//!   post:   none -> HELD: run it, leave        otherwise chain it; set HELD, POSTED: HELD before? go away
//!   leave:  HELD -> none                       otherwise take POSTED away, run what is chained, leave again
//! ```
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread that set `HELD` accesses `guarded`, until it clears it.
//! 2. *Nothing is forgotten*: an operation is chained before `POSTED` is set. `HELD` is cleared while
//!    `POSTED` is not set, by a compare-and-swap, or leaves `POSTED` behind; and `POSTED` is cleared
//!    before the chain is taken. So between the end of a call of `post` and the operation's run,
//!    `HELD` or `POSTED` is set.
//! 3. *Order*: chained operations run in the order in which they were chained. An operation that was not
//!    chained runs if the state was none, so that all operations whose `post` had returned have run
//!    (invariant 2), or after all that were found chained.
//! 4. *No lost wake-up*: a sleeper has set `ASLEEP` in the word on which it sleeps. A thread that clears it
//!    wakes one sleeper, and a thread that has slept sets it when it enters, since others may sleep.
//!
//! **Orderings.** Every change of `state` is a read-modify-write, so each stays in the release
//! sequence of the earlier ones. Clearing `HELD` releases, setting it acquires; setting `POSTED`
//! releases, clearing it acquires.
//!
//! **Fairness**: posted operations are first come, first served; an operation that waits for its result may
//! be overtaken. **Cost**: without contention that of an uncontended lock; a post is a node from the thread's
//! cache, a compare-and-swap and an atomic or.

use crate::posted::{Posted, run_unattended};
use crate::request::Request;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform, Scope};
use heddle_sync::queues::chain::Chain;
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, WaitPolicy};
use std::fmt;
use std::mem;
use std::ptr::{self, NonNull};

const FREE: u32 = 0;
const HELD: u32 = 1;
const POSTED: u32 = 2;
const ASLEEP: u32 = 4;

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
    state: CachePadded<P::AtomicU32>,
    posted: CachePadded<Chain<P, Request<P, T>>>,
    guarded: CachePadded<P::Cell<Guarded<T, P>>>,
    limit: u32,
    policy: WaitPolicy,
}

struct Guarded<T: 'static, P: Platform> {
    value: T,
    /// The operations that were taken from `posted` and have not run yet, oldest first.
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
            state: CachePadded::new(AtomicInteger::new(FREE)),
            posted: CachePadded::new(Chain::new()),
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
        if self.try_enter() { Ok(self.run_inside(operation)) } else { Err(operation) }
    }

    /// Runs `operation` after the posted operations; for that it waits until the value is free. An
    /// operation must not call it.
    #[inline]
    pub fn run<R>(&self, operation: impl FnOnce(&mut T) -> R) -> (R, Rest) {
        if !self.try_enter() {
            self.enter_waiting();
        }
        self.run_inside(operation)
    }

    /// Runs `operation`, or leaves it to the thread inside; never waits. An operation may call it.
    #[inline]
    pub fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) -> Rest {
        if self.try_enter() {
            self.guarded(|guarded| run_unattended(operation, &mut guarded.value));
            return self.leave();
        }
        self.leave_behind(operation)
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
        if self.try_enter() {
            return self.run_inside(|value| operation(value, given));
        }
        let (operation, result) = later(given);
        (result, self.leave_behind(operation))
    }

    /// Posts an operation, because a thread is inside or something is left behind.
    #[inline(never)]
    fn leave_behind(&self, operation: impl FnOnce(&mut T) + Send + 'static) -> Rest {
        let request = Posted::<P, T, _>::new(operation).request();
        // SAFETY: alive until it has run, aligned as a frame, and new.
        let chained = unsafe { self.posted.push(request) };
        debug_assert!(chained.is_ok(), "the chain is never closed");
        // Release: pairs with the Acquire in leave_called(), for the chained operation. Acquire: the
        // caller may be inside now.
        let before = self.state.fetch_or(HELD | POSTED, Ordering::AcqRel);
        if before & HELD != 0 { Rest::Nothing } else { self.leave_called() }
    }

    /// Returns true if something was left behind while no thread is inside; it may be outdated at once.
    #[inline]
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (HELD | POSTED) == POSTED
    }

    /// Goes on with the operations left behind, if no other thread does; `None` if there is nothing to do.
    pub fn serve_left(&self) -> Option<Rest> {
        let seen = self.state.load(Ordering::Relaxed);
        let left = seen & (HELD | POSTED) == POSTED;
        // Acquire: pairs with the Release of the thread that left it.
        let enter = || self.state.compare_exchange(seen, seen | HELD, Ordering::Acquire, Ordering::Relaxed);
        (left && enter().is_ok()).then(|| self.leave_called())
    }

    /// Returns true if no thread is inside and nothing is posted; it may be outdated at once.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE && self.posted.is_empty()
    }

    #[inline(always)]
    fn try_enter(&self) -> bool {
        // Acquire: pairs with the Release of the thread that was inside before.
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits until the value is free, enters, and runs what is posted by then.
    #[cold]
    fn enter_waiting(&self) {
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        let mut slept = 0;
        loop {
            let seen = self.state.load(Ordering::Relaxed);
            if seen & HELD == 0 {
                let entered = seen | HELD | slept;
                // Acquire: pairs with the Release of the thread that was inside before.
                if self.state.compare_exchange(seen, entered, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    break;
                }
            } else if waiter.pause() == Next::Park {
                let asleep = seen | ASLEEP;
                let noted = self.state.compare_exchange(seen, asleep, Ordering::Relaxed, Ordering::Relaxed);
                if noted.is_err() {
                    continue;
                }
                P::wait(&self.state, asleep, None, Scope::Process);
                slept = ASLEEP;
                waiter.reset();
            }
        }
        self.serve_found();
    }

    /// Runs everything that is posted now. It may ignore later posts, since this thread has only just come.
    fn serve_found(&self) {
        self.guarded(|guarded| {
            for chained in [mem::replace(&mut guarded.pending, ptr::null_mut()), self.posted.take()] {
                let mut next = chained;
                while let Some(request) = NonNull::new(next) {
                    // SAFETY: this thread, or one inside before it, took it, in order and each once.
                    next = unsafe { Request::serve(request, &mut guarded.value) };
                }
            }
        });
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
        match self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Rest::Nothing,
            Err(_) => self.leave_called(),
        }
    }

    /// Inside: leaves while something is posted, or a thread sleeps.
    #[inline(never)]
    fn leave_called(&self) -> Rest {
        let mut left = self.limit;
        loop {
            // Acquire: pairs with the Release in leave_behind(). Before the chain is taken (invariant 2).
            self.state.fetch_and(!POSTED, Ordering::Acquire);
            let all = self.serve(&mut left);
            if !all {
                // Release: pairs with the Acquire of the thread that enters next.
                let before = self.state.swap(POSTED, Ordering::Release);
                self.wake_one(before);
                return Rest::Left;
            }
            let Err(seen) = self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed)
            else {
                return Rest::Nothing;
            };
            // Release: pairs with the Acquire of the thread that enters next.
            let leave = || self.state.compare_exchange(seen, FREE, Ordering::Release, Ordering::Relaxed);
            if seen & POSTED == 0 && leave().is_ok() {
                self.wake_one(seen);
                return Rest::Nothing;
            }
        }
    }

    /// Inside: runs posted operations, `left` at most; returns whether that was all.
    fn serve(&self, left: &mut u32) -> bool {
        self.guarded(|guarded| {
            loop {
                if guarded.pending.is_null() {
                    guarded.pending = self.posted.take();
                }
                let Some(request) = NonNull::new(guarded.pending) else { return true };
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
    fn wake_one(&self, before: u32) {
        if before & ASLEEP != 0 {
            P::wake(&self.state, 1, Scope::Process);
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
