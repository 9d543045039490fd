//! Offload: one thread runs everything, the others tell it what.
//!
//! **What it gives.** The value belongs to one thread, whose caches keep it. Callers post operations to a lock-free
//! queue and leave, or wait on their own stack's line for the result. There is no lock at all. The thread serves what
//! is posted, does its idle work (polling a network, say) when nothing is, and sleeps when that is fruitless too; then
//! a caller wakes it, which costs a load while it is awake.
//!
//! **Source.** "Lockless offloading" in A. Amer et al., *Software combining to mitigate multithreaded MPI contention*,
//! ICS 2019, after S. Kumar et al., *PAMI*, IPDPS 2012, and K. Vaidyanathan et al., *Improving concurrency and asynchrony
//! in multithreaded MPI applications using software offloading*, SC 2015, doi:10.1145/2807591.2807602.
//!
//! ```text
//!   callers --push, ring--> chain --take all--> the serving thread: run, tell, next
//!                                                nothing there: idle work; spin, yield; sleep on the bell
//! ```
//!
//! **Invariants.**
//!
//! 1. The value is accessed by the one thread that has `serving`.
//! 2. *No lost wake-up*: a caller rings after its push; the serving thread looks at the chain between announcing its
//!    sleep and sleeping ([`Bell`], invariant 2). Closing rings too.
//! 3. *Nothing is lost*: after the closing no push succeeds ([`chain`](crate::queue)), so a thread that first sees the
//!    closing and then an empty chain has served everything.
//!
//! **Cost.** A call is a compare-and-swap, a load, and for [`run`](Combining::run) a round trip between two cores, even
//! without contention. **Fairness**: first come, first served. **Needs** a core; on a machine with fewer cores than
//! threads every `run` is two context switches. **Choose it** to keep a core at the value anyway: asynchronous progress.
//!
//! **Liveness.** A caller that does not run for 50 ms delays nobody, wherever it stops. The serving thread delays all who
//! wait, and, when [`MOST_POSTED`] operations are there, who post.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores): a `run` takes one cache-line trip there and back, 110 ns while
//! the cores are near and 440 ns while the machine has them far apart; FIFO queue 5.5 million operations a second with
//! 1 to 64 threads (far: 1.4). Posting without waiting takes 150 to 350 ns, mostly memory that comes back from the other
//! core. A value that threads could reach themselves is faster under [`LockQueue`](super::LockQueue).

use super::Combining;
use super::patience::{OnlyWait, Wait};
use super::posted::{Posted, run_unattended};
use super::request::{Frame, Request, Verdict};
use crate::bell::Bell;
use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::queue::chain::{Chain, Closed};
use crate::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform, Scope};
use std::fmt;
use std::ptr::NonNull;

/// How many operations may be posted before posters wait.
pub const MOST_POSTED: usize = 56;
const _: () = assert!(MOST_POSTED < crate::queue::chain::MOST_DEPTH);

/// How long the serving thread lets posts gather, in spin hints, when nobody waits for one: a fraction of a microsecond.
const HINTS_BETWEEN_POSTS: u32 = if cfg!(loom) { 1 } else { 16 };

const CLOSED_MESSAGE: &str = "an operation for an offload that was closed: close it after the last call";

/// A value served by one thread; see the [module](self). Some thread has to call [`serve`](Self::serve);
/// `OffloadThread` brings its own.
pub struct Offload<T: 'static, P: Platform = Native> {
    posted: CachePadded<Chain<P, Request<P, T>>>,
    bell: CachePadded<Bell<P>>,
    value: CachePadded<P::Cell<T>>,
    /// The thread that serves, or 0.
    serving: P::AtomicU64,
    policy: WaitPolicy,
}

// SAFETY: the value is accessed by the serving thread only (invariant 1), one after the other (`serving`'s Release and
// Acquire), and operations are Send.
unsafe impl<T: Send + 'static, P: Platform> Sync for Offload<T, P> {}
// SAFETY: whoever owns it owns the value and what is posted.
unsafe impl<T: Send + 'static, P: Platform> Send for Offload<T, P> {}

impl<T: 'static, P: Platform> fmt::Debug for Offload<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offload").finish_non_exhaustive()
    }
}

impl<T: 'static, P: Platform> Offload<T, P> {
    /// A value that nobody serves yet; what is posted waits. All wait by `policy`.
    #[must_use]
    pub fn new(value: T, policy: WaitPolicy) -> Self {
        Self {
            posted: CachePadded::new(Chain::new()),
            bell: CachePadded::new(Bell::default()),
            value: CachePadded::new(MemoryCell::new(value)),
            serving: AtomicInteger::new(0),
            policy,
        }
    }

    /// Runs what is posted until [`close`](Self::close) was called and nothing is left. `idle` is called whenever
    /// nothing is posted, and says whether it found something to do; it is also called once more before every sleep,
    /// so whatever gives it something to do then calls [`wake`](Self::wake). Returns false at once if another thread
    /// serves.
    pub fn serve(&self, mut idle: impl FnMut(&mut T) -> bool) -> bool {
        // Acquire: pairs with the Release in Serving::drop, for the value.
        let claim = self.serving.compare_exchange(0, P::thread_id(), Ordering::Acquire, Ordering::Relaxed);
        if claim.is_err() {
            return false;
        }
        let serving = Serving(self);
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        loop {
            // In this order (invariant 3).
            let closed = self.posted.is_closed();
            if closed && injected(Fault::OffloadLeavesWork) {
                return true;
            }
            let served = serving.serve_posted();
            if served == Served::Posts {
                // Every look takes the queue's line from posters; so if nobody waits, let more gather.
                (0..HINTS_BETWEEN_POSTS).for_each(|_| P::spin_hint());
            }
            if served != Served::Nothing || serving.with_value(&mut idle) {
                waiter.reset();
            } else if closed {
                return true;
            } else if waiter.pause() == Next::Park {
                serving.sleep(&mut idle);
                waiter.reset();
            }
        }
    }

    /// Takes no operations any more; what is posted will be run. Whoever calls for another panics.
    pub fn close(&self) {
        self.posted.close();
        self.bell.ring(Scope::Process);
    }

    /// Makes the serving thread do its idle work.
    pub fn wake(&self) {
        self.bell.ring(Scope::Process);
    }

    #[inline]
    fn announce(&self, request: NonNull<Request<P, T>>) -> Result<(), Closed> {
        // SAFETY: aligned as a frame; the owner keeps it where it is until it was run, and posts it once.
        unsafe { self.posted.push(request) }?;
        if !injected(Fault::OffloadWithoutRing) {
            self.bell.ring(Scope::Process);
        }
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
enum Served {
    Nothing,
    /// Only operations that nobody waits for.
    Posts,
    /// One at least that somebody waits for.
    Attended,
}

/// The serving thread's place.
struct Serving<'a, T: 'static, P: Platform>(&'a Offload<T, P>);

impl<T: 'static, P: Platform> Serving<'_, T, P> {
    fn with_value<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let access = self.0.value.access();
        // SAFETY: this thread serves (invariant 1), and nothing that `use_it` runs gets here.
        use_it(unsafe { access.deref() })
    }

    fn serve_posted(&self) -> Served {
        self.with_value(|value| self.0.serve_posted(value))
    }

    #[cold]
    fn sleep(&self, idle: &mut impl FnMut(&mut T) -> bool) {
        let mut ticket = self.0.bell.prepare(Scope::Process);
        let something = !injected(Fault::OffloadWithoutSecondLook)
            && (!self.0.posted.is_empty() || self.0.posted.is_closed() || self.with_value(idle));
        if !something {
            ticket.park(None);
        }
    }
}

impl<T: 'static, P: Platform> Drop for Serving<'_, T, P> {
    fn drop(&mut self) {
        self.0.serving.store(0, Ordering::Release);
    }
}

impl<T: Send + 'static, P: Platform> Combining<T> for Offload<T, P> {
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

    /// Leaves at once, unless [`MOST_POSTED`] operations are there. From inside an operation it may be called.
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

impl<T: 'static, P: Platform> Drop for Offload<T, P> {
    /// Runs what is still posted.
    fn drop(&mut self) {
        let access = self.value.access();
        // SAFETY: the owner's, who is alone.
        let value = unsafe { access.deref() };
        while self.serve_posted(value) != Served::Nothing {}
    }
}
