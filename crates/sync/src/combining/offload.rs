//! Offload: one thread runs everything, the others tell it what.
//!
//! **What it gives.** The value belongs to one thread, whose caches keep it. Callers post operations to a
//! lock-free queue and leave, or wait on their own stack's line for the result. There is no lock at all. The
//! thread serves what is posted, does its idle work (polling a network, say) when nothing is, and sleeps when
//! that is fruitless too; then a caller wakes it, which costs a load while it is awake.
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
//! 1. The value is accessed by the one thread that has `serving`.
//! 2. *No lost wake-up*: a caller rings after its push; the serving thread looks at the chain between
//!    announcing its sleep and sleeping ([`Doorbell`], invariant 2). Closing rings too.
//! 3. *Nothing is lost*: after the closing no push succeeds ([`chain`](crate::queues)), so a thread that
//!    first sees the closing and then an empty chain has served everything.
//!
//! Threads that serve several values do it in [turns](Offload::take_turn) and sleep elsewhere, on a
//! [`Roster`](crate::Roster): then their [`Waker`] is what wakes them.
//!
//! **Cost.** A call is a compare-and-swap, a load, and for [`run`](Combining::run) a round trip between two
//! cores, even without contention. **Fairness**: first come, first served. **Needs** a core; on a machine
//! with fewer cores than threads every `run` is two context switches. **Choose it** to keep a core at the
//! value anyway: asynchronous progress.
//!
//! **Liveness.** A caller that does not run for 50 ms delays nobody, wherever it stops. The serving thread
//! delays all who wait, and, when [`MOST_POSTED`] operations are there, who post.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores): a `run` takes one cache-line trip there and back,
//! 110 ns while the cores are near and 440 ns while the machine has them far apart; FIFO queue 5.5 million
//! operations a second with 1 to 64 threads (far: 1.4). Posting without waiting takes 150 to 350 ns, mostly
//! memory that comes back from the other core. A value that threads could reach themselves is faster under
//! [`LockQueue`](super::LockQueue).

use super::Combining;
use super::patience::{OnlyWait, Wait};
use super::posted::{Posted, run_unattended};
use super::request::{Frame, Request, Verdict};
use crate::memory::padded::CachePadded;
use crate::queues::chain::{Chain, Closed};
use crate::waiting::doorbell::Doorbell;
use crate::waiting::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform, Scope};
use std::fmt;
use std::ptr::NonNull;

/// How many operations may be posted before posters wait.
pub const MOST_POSTED: usize = 56;
const _: () = assert!(MOST_POSTED < crate::queues::chain::MOST_DEPTH);

/// How long the serving thread lets posts gather, in spin hints, when nobody waits for one: a fraction of a
/// microsecond.
const HINTS_BETWEEN_POSTS: u32 = if cfg!(loom) { 1 } else { 16 };

const CLOSED_MESSAGE: &str = "an operation for an offload that was closed: close it after the last call";

/// What wakes those who serve a value.
pub trait Waker: fmt::Debug + Send + Sync {
    /// Something was posted, before this call: whoever sleeps over it gets up. Costs little while nobody
    /// sleeps.
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
/// [`serve`](Self::serve), or several take [turns](Self::take_turn); `OffloadThread` brings its own.
pub struct Offload<T: 'static, P: Platform = Native, W: Waker = CachePadded<Doorbell<P>>> {
    posted: CachePadded<Chain<P, Request<P, T>>>,
    waker: W,
    value: CachePadded<P::Cell<T>>,
    /// The thread that serves, or 0.
    serving: P::AtomicU64,
    policy: WaitPolicy,
}

// SAFETY: the value is accessed by the serving thread only (invariant 1), one after the other (`serving`'s
// Release and Acquire), and operations are Send.
unsafe impl<T: Send + 'static, P: Platform, W: Waker> Sync for Offload<T, P, W> {}
// SAFETY: whoever owns it owns the value and what is posted.
unsafe impl<T: Send + 'static, P: Platform, W: Waker> Send for Offload<T, P, W> {}

impl<T: 'static, P: Platform, W: Waker> fmt::Debug for Offload<T, P, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offload").finish_non_exhaustive()
    }
}

impl<T: 'static, P: Platform> Offload<T, P> {
    /// A value that nobody serves yet; what is posted waits. All wait by `policy`.
    #[must_use]
    pub fn new(value: T, policy: WaitPolicy) -> Self {
        Self::with_waker(value, CachePadded::new(Doorbell::default()), policy)
    }

    /// Runs what is posted until [`close`](Self::close) was called and nothing is left. `idle` is called
    /// whenever nothing is posted, and says whether it found something to do; it is also called once more
    /// before every sleep, so whatever gives it something to do then calls [`wake`](Self::wake). Returns
    /// false at once if another thread serves.
    pub fn serve(&self, mut idle: impl FnMut(&mut T) -> bool) -> bool {
        let Some(mut turn) = self.take_turn() else { return false };
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        loop {
            // In this order (invariant 3).
            let closed = self.is_closed();
            let served = turn.serve_posted();
            if served == Served::Posts {
                // Every look takes the queue's line from posters; so if nobody waits, let more gather.
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
        let mut ticket = self.waker.prepare(Scope::Process);
        let something = !self.posted.is_empty() || self.is_closed() || turn.with(idle);
        if !something {
            ticket.park(None);
        }
    }
}

impl<T: 'static, P: Platform, W: Waker> Offload<T, P, W> {
    /// As [`new`](Offload::new), for threads that serve in [turns](Self::take_turn): who posts rings this
    /// doorbell.
    #[must_use]
    pub fn with_waker(value: T, waker: W, policy: WaitPolicy) -> Self {
        Self {
            posted: CachePadded::new(Chain::new()),
            waker,
            value: CachePadded::new(MemoryCell::new(value)),
            serving: AtomicInteger::new(0),
            policy,
        }
    }

    /// Serves for a while: until the turn is dropped. `None` if another thread serves.
    #[inline]
    pub fn take_turn(&self) -> Option<Turn<'_, T, P, W>> {
        // Acquire: pairs with the Release in Turn::drop, for the value.
        let claim = self.serving.compare_exchange(0, P::thread_id(), Ordering::Acquire, Ordering::Relaxed);
        // Not made before: the drop of one that has not the claim would end another thread's turn.
        claim.is_ok().then(|| Turn(self))
    }

    /// Takes no operations any more; what is posted will be run. A caller that asks for another panics.
    pub fn close(&self) {
        self.posted.close();
        self.waker.wake();
    }

    /// Whether it was closed. A thread that learns this first and then finds nothing to serve has served
    /// everything.
    pub fn is_closed(&self) -> bool {
        self.posted.is_closed()
    }

    /// Makes the serving thread do its idle work.
    pub fn wake(&self) {
        self.waker.wake();
    }

    #[inline]
    fn announce(&self, request: NonNull<Request<P, T>>) -> Result<(), Closed> {
        // SAFETY: aligned as a frame; the owner keeps it where it is until it was run, and posts it once.
        unsafe { self.posted.push(request) }?;
        self.waker.wake();
        Ok(())
    }

    /// Runs what is posted, with the value for oneself.
    fn serve_posted(&self, value: &mut T) -> Served {
        let mut oldest = self.posted.take();
        let mut served = Served::Nothing;
        while let Some(request) = NonNull::new(oldest) {
            // SAFETY: taken just now and not run.
            let attended = unsafe { request.as_ref() }.is_attended();
            served = if attended || served == Served::Attended { Served::Attended } else { Served::Posts };
            // SAFETY: taken just now, in order and each once; only the serving thread tells.
            oldest = unsafe { Request::serve(request, value) };
        }
        served
    }
}

/// What a look at the queue brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Nothing was posted.
    Nothing,
    /// Only operations that nobody waits for.
    Posts,
    /// One at least that somebody waits for.
    Attended,
}

/// The value is the calling thread's, until this is dropped.
#[derive(Debug)]
pub struct Turn<'a, T: 'static, P: Platform = Native, W: Waker = CachePadded<Doorbell<P>>>(
    &'a Offload<T, P, W>,
);

impl<T: 'static, P: Platform, W: Waker> Turn<'_, T, P, W> {
    /// Runs what is posted.
    #[inline]
    pub fn serve_posted(&mut self) -> Served {
        let offload = self.0;
        self.with(|value| offload.serve_posted(value))
    }

    /// Uses the value. `use_it` must neither serve nor run an operation on it by way of the offload; it may
    /// post.
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
        let own = frame.request();
        self.announce(own).expect(CLOSED_MESSAGE);
        let wait = Wait { policy: &self.policy, crowd: 1, stands_back: false };
        // SAFETY: the frame is here until this function returns.
        let verdict = unsafe { own.as_ref() }.await_verdict(wait, &mut OnlyWait);
        debug_assert_eq!(verdict, Verdict::Done, "nobody leads here");
        frame.into_result()
    }

    /// Leaves at once, unless [`MOST_POSTED`] operations are there. From inside an operation it may be
    /// called.
    ///
    /// # Panics
    ///
    /// If the offload was closed.
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        // The serving thread, inside an operation, would wait for itself.
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
    /// Runs what is still posted.
    fn drop(&mut self) {
        let access = self.value.access();
        // SAFETY: the owner's, who is alone.
        let value = unsafe { access.deref() };
        while self.serve_posted(value) != Served::Nothing {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_lasts_until_its_end_whoever_asks() {
        let offload = Offload::<u32>::new(0, WaitPolicy::DEFAULT);
        let turn = offload.take_turn().expect("nobody serves");
        assert!(offload.take_turn().is_none());
        assert!(offload.take_turn().is_none(), "who asked in vain has ended it");
        assert!(!offload.serve(|_| false));
        drop(turn);
        assert!(offload.take_turn().is_some());
    }
}
