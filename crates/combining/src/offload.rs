//! Offload: one thread runs all operations, the others post them.
//!
//! **What it gives.** The value belongs to one thread, whose caches keep it. Callers post operations to a
//! lock-free queue and leave, or wait on their stack's cache line for the result. There is no lock at all.
//! The thread serves posted operations. When there are none, it does its idle work (polling a network, say),
//! and sleeps when that is fruitless too; then a caller wakes it, which costs a load while it is awake.
//!
//! **Source.** "Lockless offloading" in A. Amer et al., *Software combining to mitigate multithreaded MPI
//! contention*, ICS 2019, after S. Kumar et al., *PAMI*, IPDPS 2012, and K. Vaidyanathan et al., *Improving
//! concurrency and asynchrony in multithreaded MPI applications using software offloading*, SC 2015,
//! doi:10.1145/2807591.2807602.
//!
//! ```text
//!   callers --push, ring--> chain --take all--> the serving thread: run, tell, next
//!                                                nothing there: idle work; spin, yield; sleep on the doorbell
//! ```
//!
//! **Invariants.**
//!
//! 1. Only the thread that has `serving` accesses the value.
//! 2. *No lost wake-up*: a caller rings after its push; the serving thread checks the chain between
//!    announcing its sleep and sleeping ([`Doorbell`], invariant 2). Closing rings too.
//! 3. *Nothing is lost*: after the closing no push succeeds ([`chain`](heddle_sync::queues::chain)), so a
//!    thread that first sees the closing and then an empty chain has served everything.
//!
//! Threads that serve several values do it in [turns](Offload::take_turn) and sleep on a
//! [`Roster`](heddle_sync::Roster); their [`Waker`] wakes them there. If no thread has a turn while a
//! caller spins ([`WaitPolicy::spin_ns`]), they have no core now: then the caller takes a turn itself.
//!
//! **Cost.** A call is a compare-and-swap, a load, and for [`run`](Combining::run) a round trip between two
//! cores, even without contention. **Fairness**: first come, first served. It **needs** a core; on a machine
//! with fewer cores than threads every `run` is two context switches, unless the value is served in turns.
//! **Choose it** to keep a core at the value anyway: asynchronous progress.
//!
//! **Liveness.** A caller that does not run for 50 ms delays no other thread, wherever it stops outside of
//! a turn. The serving thread delays all waiting threads, and, once there are [`MOST_POSTED`] operations,
//! all posting threads.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores): a `run` takes one cache-line trip there and back,
//! 110 ns while the cores are near and 440 ns while the machine has them far apart; FIFO queue 5.5 million
//! operations a second with 1 to 64 threads (far: 1.4). Posting without waiting takes 150 to 350 ns, mostly
//! memory that comes back from the other core. A value that threads could reach themselves is faster under
//! [`LockQueue`](crate::LockQueue).

use crate::Combining;
use crate::patience::{Meanwhile, Wait};
use crate::posted::{Posted, run_unattended};
use crate::request::{Frame, Request, Verdict};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform, Scope};
use heddle_sync::doorbell::Doorbell;
use heddle_sync::queues::chain::{Chain, Closed, MOST_DEPTH};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, WaitPolicy};
use std::fmt;
use std::ptr::NonNull;

/// The number of operations that may be posted before posters wait.
pub const MOST_POSTED: usize = 56;
const _: () = assert!(MOST_POSTED < MOST_DEPTH);

/// How long the serving thread lets posts gather, in spin hints, when no thread waits for one: a
/// fraction of a microsecond.
const HINTS_BETWEEN_POSTS: u32 = if cfg!(loom) { 1 } else { 16 };

const CLOSED_MESSAGE: &str = "an operation for an offload that was closed: close it after the last call";

/// Wakes the threads that serve a value.
pub trait Waker: fmt::Debug + Send + Sync {
    /// Wakes a serving thread that sleeps, because something was posted before this call. Costs
    /// little while none sleeps.
    fn wake(&self);
}

/// The doorbell of an offload whose thread serves nothing else.
impl<P: Platform> Waker for CachePadded<Doorbell<P>> {
    #[inline(always)]
    fn wake(&self) {
        Doorbell::ring(self, Scope::Process);
    }
}

/// A value served by one thread at a time; see the [module](self). Some thread has to call
/// [`serve`](Self::serve), or several take [turns](Self::take_turn); `OffloadThread` starts a thread for it.
pub struct Offload<T: 'static, P: Platform = Native, W: Waker = CachePadded<Doorbell<P>>> {
    posted: CachePadded<Chain<P, Request<P, T>>>,
    waker: W,
    value: CachePadded<P::Cell<T>>,
    /// The identity of the serving thread, or 0.
    serving: P::AtomicU64,
    /// The number of turns so far; the thread that has the turn writes it.
    turns: CachePadded<P::AtomicU32>,
    /// True if callers may take turns.
    by_callers: bool,
    policy: WaitPolicy,
}

// SAFETY: only the serving thread accesses the value (invariant 1), one after the other (`serving`'s Release
// and Acquire), and operations are Send.
unsafe impl<T: Send + 'static, P: Platform, W: Waker> Sync for Offload<T, P, W> {}
// SAFETY: the owner of `self` owns the value and the posted operations.
unsafe impl<T: Send + 'static, P: Platform, W: Waker> Send for Offload<T, P, W> {}

impl<T: 'static, P: Platform, W: Waker> fmt::Debug for Offload<T, P, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offload").finish_non_exhaustive()
    }
}

impl<T: 'static, P: Platform> Offload<T, P> {
    /// A value that no thread serves yet; posted operations wait. All threads wait by `policy`.
    #[must_use]
    pub fn new(value: T, policy: WaitPolicy) -> Self {
        let mut offload = Self::with_waker(value, CachePadded::new(Doorbell::default()), policy);
        // The thread that serves has one turn for good, and must not find it taken.
        offload.by_callers = false;
        offload
    }

    /// Runs posted operations until [`close`](Self::close) was called and nothing is left. It calls `idle`
    /// whenever nothing is posted; `idle` says whether it found something to do. It also calls `idle` once
    /// more before every sleep, so code that gives `idle` something to do afterwards calls
    /// [`wake`](Self::wake). Returns false at once if another thread serves.
    pub fn serve(&self, mut idle: impl FnMut(&mut T) -> bool) -> bool {
        let Some(mut turn) = self.take_turn() else { return false };
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        loop {
            // In this order (invariant 3).
            let closed = self.is_closed();
            let served = turn.serve_posted();
            if served == Served::Posts {
                // Every check takes the queue's line from posters; so if no thread
                // waits, let more posts gather.
                (0..HINTS_BETWEEN_POSTS).for_each(|_| P::spin_hint());
            }
            if served != Served::Nothing || turn.with(&mut idle) {
                waiter.reset();
            } else if closed {
                return true;
            } else if waiter.pause() == Next::Park {
                self.sleep(&mut turn, &mut idle);
                waiter.reset();
            }
        }
    }

    #[cold]
    fn sleep(&self, turn: &mut Turn<'_, T, P>, idle: &mut impl FnMut(&mut T) -> bool) {
        let ticket = self.waker.prepare(Scope::Process);
        let something = !self.posted.is_empty() || self.is_closed() || turn.with(idle);
        if !something {
            ticket.park(None);
        }
    }
}

impl<T: 'static, P: Platform, W: Waker> Offload<T, P, W> {
    /// Makes an offload for threads that serve in [turns](Self::take_turn). A post calls `waker`.
    #[must_use]
    pub fn with_waker(value: T, waker: W, policy: WaitPolicy) -> Self {
        Self {
            posted: CachePadded::new(Chain::new()),
            waker,
            value: CachePadded::new(MemoryCell::new(value)),
            serving: AtomicInteger::new(0),
            turns: CachePadded::new(AtomicInteger::new(0)),
            by_callers: true,
            policy,
        }
    }

    /// Serves until the turn is dropped. `None` if another thread serves.
    #[inline]
    pub fn take_turn(&self) -> Option<Turn<'_, T, P, W>> {
        // Acquire: pairs with the Release in Turn::drop, for the value.
        let claim = self.serving.compare_exchange(0, P::thread_id(), Ordering::Acquire, Ordering::Relaxed);
        // Made only after the claim succeeded: dropping a turn without a claim would
        // end another thread's turn.
        claim.is_ok().then(|| {
            self.turns.store(self.turns().wrapping_add(1), Ordering::Relaxed);
            Turn(self)
        })
    }

    /// The number of turns so far, which may be outdated at once.
    #[inline]
    pub fn turns(&self) -> u32 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Takes a turn if no thread has had one since there were `seen` turns; otherwise updates `seen`. The
    /// caller has waited meanwhile for longer than a round of a serving thread takes.
    #[inline]
    pub fn take_idle_turn(&self, seen: &mut u32) -> Option<Turn<'_, T, P, W>> {
        let turns = self.turns();
        if turns != std::mem::replace(seen, turns) {
            return None;
        }
        let turn = self.take_turn()?;
        *seen = self.turns();
        Some(turn)
    }

    /// Closes the queue; posted operations will run. A later call for an operation panics.
    pub fn close(&self) {
        self.posted.close();
        self.waker.wake();
    }

    /// Returns true if it was closed. A thread that learns this first and then finds nothing to
    /// serve has served everything.
    pub fn is_closed(&self) -> bool {
        self.posted.is_closed()
    }

    /// Makes the serving thread do its idle work.
    pub fn wake(&self) {
        self.waker.wake();
    }

    #[inline]
    fn announce(&self, request: NonNull<Request<P, T>>) -> Result<(), Closed> {
        // SAFETY: aligned as a frame; the owner keeps it in place until it has run, and posts it once.
        unsafe { self.posted.push(request) }?;
        self.waker.wake();
        Ok(())
    }

    /// Runs posted operations. The caller alone has the value.
    fn serve_posted(&self, value: &mut T) -> Served {
        let mut oldest = self.posted.take();
        let mut served = Served::Nothing;
        while let Some(request) = NonNull::new(oldest) {
            // SAFETY: taken just now and not run yet.
            let attended = unsafe { request.as_ref() }.is_attended();
            served = if attended || served == Served::Attended { Served::Attended } else { Served::Posts };
            // SAFETY: taken just now, in order and each once; only the serving thread tells the owner.
            oldest = unsafe { Request::serve(request, value) };
        }
        served
    }
}

/// What the owner of an operation does while it waits: it takes a turn if the serving threads have no core.
struct OwnTurns<'a, T: 'static, P: Platform, W: Waker> {
    offload: &'a Offload<T, P, W>,
    /// The number of turns at the time `since`, in ticks.
    seen: u32,
    since: u64,
}

impl<T: 'static, P: Platform, W: Waker> Meanwhile for OwnTurns<'_, T, P, W> {
    fn attempt(&mut self) {
        let (offload, now) = (self.offload, P::ticks());
        if !offload.by_callers || now.wrapping_sub(self.since) < P::ns_to_ticks(offload.policy.spin_ns) {
            return;
        }
        self.since = now;
        if let Some(mut turn) = offload.take_idle_turn(&mut self.seen) {
            turn.serve_posted();
        }
    }

    fn call(&mut self) {}
}

/// The outcome of a check of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Nothing was posted.
    Nothing,
    /// Only operations without waiting threads.
    Posts,
    /// At least one operation for which a thread waits.
    Attended,
}

/// The right to the value, which the calling thread has until this is dropped.
#[derive(Debug)]
pub struct Turn<'a, T: 'static, P: Platform = Native, W: Waker = CachePadded<Doorbell<P>>>(
    &'a Offload<T, P, W>,
);

impl<T: 'static, P: Platform, W: Waker> Turn<'_, T, P, W> {
    /// Runs posted operations.
    #[inline]
    pub fn serve_posted(&mut self) -> Served {
        let offload = self.0;
        self.with(|value| offload.serve_posted(value))
    }

    /// Uses the value. `use_it` must neither serve nor run an operation on it through
    /// the offload; it may post.
    #[inline]
    pub fn with<R>(&mut self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let access = self.0.value.access();
        // SAFETY: this thread serves (invariant 1), and the turn is borrowed exclusively.
        use_it(unsafe { access.deref() })
    }
}

impl<T: 'static, P: Platform, W: Waker> Drop for Turn<'_, T, P, W> {
    fn drop(&mut self) {
        self.0.serving.store(0, Ordering::Release);
    }
}

impl<T: Send + 'static, P: Platform, W: Waker> Combining<T> for Offload<T, P, W> {
    /// # Panics
    ///
    /// If the offload was closed.
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let frame = Frame::<P, T, _, R>::new(operation);
        let request = frame.request();
        let mut own_turns = OwnTurns { offload: self, seen: self.turns(), since: P::ticks() };
        self.announce(request).expect(CLOSED_MESSAGE);
        let wait = Wait { policy: &self.policy, crowd: 1, stands_back: false };
        // SAFETY: the frame stays here until this function returns.
        let verdict = unsafe { request.as_ref() }.await_verdict(wait, &mut own_turns);
        debug_assert_eq!(verdict, Verdict::Done, "no owner leads here");
        frame.into_result()
    }

    /// Leaves at once, unless there are [`MOST_POSTED`] operations. An operation may call it.
    ///
    /// # Panics
    ///
    /// If the offload was closed.
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        // If the serving thread waited inside an operation, it would wait for itself.
        let full = self.posted.depth() >= MOST_POSTED;
        if full && self.serving.load(Ordering::Relaxed) != P::thread_id() {
            return self.run(|value| run_unattended(operation, value));
        }
        let posted = Posted::<P, T, _>::new(operation);
        if self.announce(posted.request()).is_err() {
            drop(posted.into_operation());
            panic!("{CLOSED_MESSAGE}");
        }
    }

    /// Always gives the operation back: the serving thread is always at the value.
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        Err(operation)
    }
}

impl<T: 'static, P: Platform, W: Waker> Drop for Offload<T, P, W> {
    /// Runs the operations that are still posted.
    fn drop(&mut self) {
        let access = self.value.access();
        // SAFETY: the owner drops it, so no other thread uses it.
        let value = unsafe { access.deref() };
        while self.serve_posted(value) != Served::Nothing {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_lasts_until_it_is_dropped() {
        let offload = Offload::<u32>::new(0, WaitPolicy::DEFAULT);
        let turn = offload.take_turn().expect("no thread serves");
        assert!(offload.take_turn().is_none());
        assert!(offload.take_turn().is_none(), "a failed claim has ended the turn");
        assert!(!offload.serve(|_| false));
        drop(turn);
        assert!(offload.take_turn().is_some());
    }
}
