//! DSM-Synch: the queue of an MCS lock whose nodes carry the operations of their owners, behind a door that
//! the running thread may take again.
//!
//! **What it gives.** A thread that finds the door free enters, runs its operation and leaves, at the price
//! of a mutex, and may come again. A thread that finds it taken appends its request to the queue and waits on
//! its node, as in an MCS lock. A thread that has waited there for long calls. The next thread that leaves
//! the door becomes the *combiner*: it enters once more, runs the operations of the queue, up to `limit`, and
//! then stands back, so that another may come again and again. If the head of the queue finds the door free,
//! it is the combiner itself.
//!
//! **Source.** P. Fatourou, N. D. Kallimanis, *Revisiting the combining synchronization technique*, PPoPP
//! 2012, doi:10.1145/2145816.2145849 (DSM-Synch); "CSync" in A. Amer et al., *Software combining to mitigate
//! multithreaded MPI contention*, ICS 2019. We depart in four points. First, the door: without it every
//! operation of two threads in contention is handed to the other core or back, some ten times as slow.
//! Second, the paper's threads own two nodes each, since a combiner reads a node after it told its owner;
//! ours tells the owner when it is done with the node, so the node lies on the owner's stack. Third, the
//! paper's combiner stops at the last but one request; ours runs the last as well. Fourth, waiters sleep.
//! [`DsmSynch::always_queued`] makes the form without the first departure: no thread passes the door but the
//! head of the queue, so every operation goes through the queue, and strictly in its order.
//!
//! ```text
//!   head --+                                  tail -----------+     door: FREE | HELD | RESERVED, called
//!          v                                                  v
//!       WAITING --next--> WAITING --next--> WAITING ... --> WAITING --next--> null
//!    (tries the door, seldom)
//! ```
//!
//! | door | meaning | left by |
//! |---|---|---|
//! | `FREE` | any thread may enter | compare-and-swap to `HELD` |
//! | `HELD` | a thread is inside | its store of `FREE` or, after it was called to serve, `RESERVED` |
//! | `RESERVED` | the head of the queue may enter, and, after a spin and a yield, the thread that reserved it | compare-and-swap to `HELD` |
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made the door `HELD` is inside, until it stores
//!    another state; the value is accessed, and the queue served, from inside only.
//! 2. There is a head exactly while the queue is not empty: the thread whose swap of `tail` returned null, or
//!    which the last combiner told `Lead`. It publishes itself in `head` once, before it can be served; the
//!    thread that serves it first takes it from there. So a node is served once: by the thread that took it
//!    from `head`, or by its owner, from inside, if it has not been told.
//! 3. A node's owner is told `Done` only after the combiner has read the node's `next`, or after its
//!    compare-and-swap showed that there is none. So the node may be on a stack.
//! 4. *Nothing is lost*: a combiner stops only when `tail` is its current request (none follows) or by
//!    telling the owner of the following request.
//! 5. *No thread sleeps for ever*: the head calls, passes `heavy`, and tries the door once more before it
//!    sleeps; a thread that leaves stores the door's state, passes `light`, and checks for a call. So either
//!    the head gets in, or a thread is inside that will see the call. The others do the same, in case the
//!    head does not run, and serve from the head on; then they sleep until they are told.
//!
//! **Orderings.** The door's compare-and-swap (Acquire) pairs with the store of the leaving thread (Release),
//! for the value. `tail`'s swap is Release for the node's initial fields and Acquire for those of the node
//! before. `next` and `head` are Release/Acquire for the request, a verdict for the result.
//!
//! **Cost.** Alone, and for a thread that comes again: a compare-and-swap and a plain store. In the queue: a
//! swap, a store, a wait on a separate line; a combiner pays about two cache-line transfers a request.
//! **Fairness**: the queue is first come, first served. It is served at the latest `forced_yield_ns` after a
//! running thread in it has begun to wait; then up to `limit` operations are run. Operations of threads that
//! come again overtake those in the queue within that time, so throughput may be shared unevenly for some
//! milliseconds, while no single wait is long. It **needs** nothing per thread. **Choose it** when every
//! operation's result is wanted at once.
//!
//! **More threads than cores.** Waiters spin about a cache-line round trip, then yield, then sleep. A running
//! thread goes on at full speed until it is called; then it serves all waiters with one visit.
//!
//! **Liveness.** A *waiter* that does not run for 50 ms delays no other thread (its operation is run for it),
//! unless it has just been told to lead, or is stopped between its swap and its link: then those behind it
//! wait for that time. The thread inside delays all. A combiner's call takes the time of `limit` operations.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, FIFO queue, millions of operations a second): alone
//! 2.2 ns, the same as [`Mutex`](heddle_sync::Mutex). 2 threads 270, 16 threads 273, 64 threads 172
//! (parking_lot 134, 144, 139). Short critical sections with 16 and 64 threads: Jain's index 0.98 and 0.93,
//! longest wait 0.3 and 1.9 ms (parking_lot 0.96 and 0.84, 0.4 and 2.7).

mod door;

use crate::Combining;
use crate::patience::{Meanwhile, Wait};
use crate::posted::run_unattended;
use crate::request::{Frame, Request, Verdict};
use door::Door;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicPointer, CellAccess, MemoryCell};
use heddle_platform::{Native, Platform};
use heddle_sync::queues::chain::Linked;
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, WaitPolicy};
use std::fmt;
use std::ptr::{self, NonNull};

/// The number of operations that a combiner runs before it hands the role on, if not set otherwise.
pub const DEFAULT_LIMIT: u32 = 64;

/// A value under DSM-Synch; see the [module](self).
///
/// A combining lock: the thread inside runs the operations of those that wait.
///
/// ```
/// use heddle_combining::{Combining, DsmSynch};
///
/// let total: DsmSynch<u64> = DsmSynch::default();
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             for _ in 0..100 {
///                 total.run(|total| *total += 1);
///             }
///         });
///     }
/// });
/// assert_eq!(total.into_inner(), 400);
/// ```
pub struct DsmSynch<T: 'static, P: Platform = Native> {
    door: CachePadded<Door<P>>,
    ends: CachePadded<Ends<P, Request<P, T>>>,
    value: CachePadded<P::Cell<T>>,
    limit: u32,
    /// True if every operation goes through the queue.
    always_queued: bool,
    policy: WaitPolicy,
}

/// The queue's ends.
struct Ends<P: Platform, N: 'static> {
    tail: P::AtomicPtr<N>,
    /// The first request: from when its owner knows that it is the first until a thread
    /// inside begins to serve it.
    head: P::AtomicPtr<N>,
}

// SAFETY: only the thread inside accesses the value, one at a time, each after the last (invariant 1), so it
// moves between threads but is never shared: Send is enough.
unsafe impl<T: Send + 'static, P: Platform> Sync for DsmSynch<T, P> {}
// SAFETY: the owner of `self` owns the value; no request exists then, since their owners borrow it.
unsafe impl<T: Send + 'static, P: Platform> Send for DsmSynch<T, P> {}

impl<T: 'static, P: Platform> fmt::Debug for DsmSynch<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DsmSynch").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<T: Default + 'static, P: Platform> Default for DsmSynch<T, P> {
    fn default() -> Self {
        Self::new(T::default(), DEFAULT_LIMIT, WaitPolicy::DEFAULT)
    }
}

impl<T: 'static, P: Platform> DsmSynch<T, P> {
    /// Puts `value` under combining. A combiner runs at most `limit` operations of the queue (at least 1) a
    /// turn; waiters wait by `policy`.
    #[must_use]
    pub fn new(value: T, limit: u32, policy: WaitPolicy) -> Self {
        Self {
            door: CachePadded::new(Door::new()),
            ends: CachePadded::new(Ends {
                tail: AtomicPointer::new(ptr::null_mut()),
                head: AtomicPointer::new(ptr::null_mut()),
            }),
            value: CachePadded::new(MemoryCell::new(value)),
            limit: limit.max(1),
            always_queued: false,
            policy,
        }
    }

    /// Does the same as [`new`](Self::new), but no running thread comes again past the queue: the order is
    /// strict, and under contention nearly every operation is run by another thread.
    #[must_use]
    pub fn always_queued(value: T, limit: u32, policy: WaitPolicy) -> Self {
        Self { always_queued: true, ..Self::new(value, limit, policy) }
    }

    /// Ends the lock and returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner().into_inner()
    }

    /// Runs an operation; the caller is inside.
    #[inline(always)]
    fn inside<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        let _inside = Inside(self);
        let value = self.value.access();
        // SAFETY: the caller is inside (invariant 1).
        operation(unsafe { value.deref() })
    }

    /// Handles a door that is not free. If the caller is the thread that shall let others be first, it lets
    /// them, and the result says whether it is inside now.
    #[cold]
    fn enter_late(&self) -> bool {
        if !self.door.stands_back() {
            return false;
        }
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        while waiter.pause() == Next::Poll && !waiter.has_yielded() && self.door.stands_back() {}
        self.door.enter_any()
    }

    /// Puts an operation into the queue and waits for its result.
    #[inline(never)]
    fn run_queued<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        let frame = Frame::<P, T, _, R>::new(operation);
        let request = frame.request();
        // Release: for the frame's fields, to which the next thread writes. Acquire: for
        // those of the thread before.
        let before = self.ends.tail.swap(request.as_ptr(), Ordering::AcqRel);
        let verdict = NonNull::new(before).map_or(Verdict::Lead, |before| self.follow(before, request));
        if verdict == Verdict::Lead {
            self.compete(request);
        }
        frame.into_result()
    }

    /// Links the caller behind `before` and waits.
    fn follow(&self, before: NonNull<Request<P, T>>, request: NonNull<Request<P, T>>) -> Verdict {
        // SAFETY: the owner of `before` has not been told, nor can it be before this link (invariant 3).
        let link = unsafe { before.as_ref() }.next();
        // Release: pairs with the Acquire in successor(), for the operation.
        link.store(request.as_ptr(), Ordering::Release);
        let wait = Wait { policy: &self.policy, crowd: 2, stands_back: false };
        // SAFETY: the caller's frame.
        unsafe { request.as_ref() }.await_verdict(wait, &mut Follower { combining: self, called: false })
    }

    /// Waits as the head of the queue until the caller's operation has been run, by the caller or by
    /// a thread that was called.
    fn compete(&self, request: NonNull<Request<P, T>>) {
        // SAFETY: the caller's frame.
        let mine = unsafe { request.as_ref() };
        mine.wait_again();
        // Release: pairs with the Acquire in take_head(), for the operation.
        self.ends.head.store(request.as_ptr(), Ordering::Release);
        let wait = Wait { policy: &self.policy, crowd: 1, stands_back: false };
        let mut head = Head { combining: self, request };
        if self.always_queued {
            // No thread has tried the door for this operation yet.
            head.attempt();
        }
        let verdict = mine.await_verdict(wait, &mut head);
        debug_assert_eq!(verdict, Verdict::Done, "the head is told to lead once");
    }

    /// Runs the queue's operations from its head on, up to the limit; the caller is inside.
    #[inline(never)]
    fn serve(&self, mut current: NonNull<Request<P, T>>) {
        let value = self.value.access();
        // SAFETY: the caller is inside (invariant 1).
        let value = unsafe { value.deref() };
        for _ in 0..self.limit {
            // SAFETY: the head, or found by the Acquire in successor(); each request is executed once.
            unsafe { Request::execute(current, value) };
            let next = self.successor(current);
            // SAFETY: run, and its `next` has been read (invariant 3).
            unsafe { Request::tell(current, Verdict::Done) };
            let Some(next) = next else { return };
            current = next;
        }
        // SAFETY: its owner waits, and it has not run; the caller goes no further in the queue.
        unsafe { Request::tell(current, Verdict::Lead) };
    }

    /// The request after `current`. If there is none, the queue is empty now.
    #[inline]
    fn successor(&self, current: NonNull<Request<P, T>>) -> Option<NonNull<Request<P, T>>> {
        // SAFETY: the combiner's current request, whose owner has not been told (invariant 3).
        let link = unsafe { current.as_ref() }.next();
        // Acquire: pairs with the Release in follow().
        let next = NonNull::new(link.load(Ordering::Acquire));
        if next.is_some() {
            return next;
        }
        // Release: keeps the next thread's frame apart from this one's (its swap is Acquire).
        let gone = self.ends.tail.compare_exchange(
            current.as_ptr(),
            ptr::null_mut(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if gone.is_ok() {
            return None;
        }
        Some(self.await_link(link))
    }

    /// Waits for the link of a thread that has swapped `tail`.
    #[cold]
    fn await_link(&self, link: &P::AtomicPtr<Request<P, T>>) -> NonNull<Request<P, T>> {
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        loop {
            if let Some(next) = NonNull::new(link.load(Ordering::Acquire)) {
                return next;
            }
            // These are two steps of a running thread: too short a wait to sleep.
            if waiter.pause() == Next::Park {
                P::yield_now();
            }
        }
    }

    /// Takes the head of the queue, which no other thread finds from now on; the caller is inside.
    fn take_head(&self) -> Option<NonNull<Request<P, T>>> {
        // Acquire: pairs with the Release in compete().
        let head = NonNull::new(self.ends.head.load(Ordering::Acquire))?;
        self.ends.head.store(ptr::null_mut(), Ordering::Relaxed);
        Some(head)
    }

    /// Serves the queue if a thread there has called and the door is free. Called after leaving, or
    /// when no thread is inside.
    #[cold]
    fn answer(&self) {
        while self.door.enter_any() {
            let called = self.door.take_call();
            if called && let Some(head) = self.take_head() {
                self.serve(head);
                self.door.leave_reserved();
            } else {
                self.door.leave();
            }
            if !self.door.is_called() {
                return;
            }
        }
    }
}

/// The actions of the head of the queue while it waits.
struct Head<'a, T: 'static, P: Platform> {
    combining: &'a DsmSynch<T, P>,
    request: NonNull<Request<P, T>>,
}

impl<T: 'static, P: Platform> Meanwhile for Head<'_, T, P> {
    fn attempt(&mut self) {
        let combining = self.combining;
        if combining.door.enter_any() {
            let _inside = Inside(combining);
            // SAFETY: the caller's frame.
            let waits = unsafe { self.request.as_ref() }.verdict().is_none();
            // A thread that was called may have run it since the last check.
            if waits {
                combining.door.take_call();
                combining.take_head();
                combining.serve(self.request);
            }
        }
    }

    fn call(&mut self) {
        self.combining.door.call();
    }
}

/// The actions of the other threads in the queue while they wait.
struct Follower<'a, T: 'static, P: Platform> {
    combining: &'a DsmSynch<T, P>,
    called: bool,
}

impl<T: 'static, P: Platform> Meanwhile for Follower<'_, T, P> {
    fn attempt(&mut self) {
        // No thread is inside to see the call: the head, whose turn it is, does not run.
        if self.called && self.combining.door.is_open() {
            self.combining.door.call();
            self.combining.answer();
        }
    }

    fn call(&mut self) {
        self.called = true;
        self.combining.door.call();
    }
}

/// A thread inside. Dropping this leaves.
struct Inside<'a, T: 'static, P: Platform>(&'a DsmSynch<T, P>);

impl<T: 'static, P: Platform> Drop for Inside<'_, T, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.door.leave();
        if self.0.door.is_called() {
            self.0.answer();
        }
    }
}

impl<T: Send + 'static, P: Platform> Combining<T> for DsmSynch<T, P> {
    #[inline]
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        if !self.always_queued && (self.door.enter() || self.enter_late()) {
            self.inside(operation)
        } else {
            self.run_queued(operation)
        }
    }

    /// Does the same as [`run`](Combining::run): a request in this queue may have to lead,
    /// so its owner has to stay.
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        self.run(|value| run_unattended(operation, value));
    }

    #[inline]
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        if self.door.enter_any() { Ok(self.inside(operation)) } else { Err(operation) }
    }
}
